"""Sandbox options of submitted models, and whether this machine can run sandboxes."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Benchmark, Visibility
from brainscore_web.submissions.models import Revision

__all__ = ["sandbox_options", "sandbox_problem", "scorer_options"]


def sandbox_options(revision: int | None, limit: int | None) -> dict[str, Any]:
    """The option ``cage`` of the scorer: beside its own folder a model sees the files that it declares.

    Parameters
    ----------
    revision : int or None
        Primary key of the revision that the model is of.
    limit : int or None
        Bytes that it may use.
    """
    from brainscore_web.submissions import pipeline

    row = Revision.objects.filter(pk=revision).first()
    found: dict[str, Any] = {"files": [], "environment": {"BRAINIO_HOME": str(pipeline.files_home())}}
    if row is not None:
        found["files"] = [str(path) for path in pipeline.files_of(row)]
    if limit is not None:
        found["memory"] = limit
    return found


def scorer_options(revision: int | None, limit: int | None) -> dict[str, Any]:
    """Options of the scorer for a submitted model: its cage, and after which benchmarks nothing of it may live on.

    What has seen stimuli that are withheld could tell of them later, where what it says is shown.

    Parameters
    ----------
    revision, limit
        As for `sandbox_options`.
    """
    withheld = Benchmark.objects.filter(is_mean=False, access=Visibility.PRIVATE).order_by("identifier")
    return {
        "cage": sandbox_options(revision, limit),
        "forget_after": list(withheld.values_list("identifier", flat=True)),
    }


def sandbox_problem() -> UserError | None:
    """Why there can be no cages on this machine, and what to do about it; None where there can."""
    from brainscore_core.isolation.sandbox import require_sandbox

    try:
        require_sandbox(control_group=not settings.SUBMISSIONS["without_control_group"])
    except UserError as error:
        return error
    return None
