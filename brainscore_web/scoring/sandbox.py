"""Sandbox options of submitted models, and the check whether this machine can run sandboxes."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Benchmark, Visibility
from brainscore_web.submissions.declared_files import files_home, files_of
from brainscore_web.submissions.models import Revision

__all__ = ["sandbox_options", "sandbox_problem", "scorer_options"]


def sandbox_options(revision: int | None, limit: int | None) -> dict[str, Any]:
    """Return the scorer's option ``cage``: a model can read its own folder and its declared files.

    Parameters
    ----------
    revision : int or None
        Primary key of the model's revision.
    limit : int or None
        Memory in bytes that it may use.
    """
    row = Revision.objects.filter(pk=revision).first()
    options: dict[str, Any] = {"files": [], "environment": {"BRAINIO_HOME": str(files_home())}}
    if row is not None:
        options["files"] = [str(path) for path in files_of(row)]
    if limit is not None:
        options["memory"] = limit
    return options


def scorer_options(revision: int | None, limit: int | None) -> dict[str, Any]:
    """Return a submitted model's scorer options: its sandbox, and the benchmarks after which its process must end.

    A process that has seen private stimuli could otherwise reveal them in later, public output.

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
    """Return why this machine cannot run sandboxes, with a remedy; None if it can."""
    from brainscore_core.isolation.sandbox import require_sandbox

    try:
        require_sandbox(control_group=not settings.SUBMISSIONS["without_control_group"])
    except UserError as error:
        return error
    return None
