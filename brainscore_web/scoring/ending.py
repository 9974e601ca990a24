"""What follows when jobs have ended: their submissions are told, once that is sure."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import transaction

from brainscore_web.scoring.models import Job

__all__ = ["tell_submissions"]


def tell_submissions(jobs: Collection[int]) -> None:
    """Let the pipeline know, after this transaction, that these jobs have ended."""
    found: set[Any] = set()
    keys = sorted(jobs)
    for start in range(0, len(keys), 500):
        links = Job.submissions.through.objects.filter(job__in=keys[start : start + 500])
        found |= set(links.values_list("submission", flat=True))
    for key in sorted(found):
        transaction.on_commit(partial(_tell, key), robust=True)  # the worker's sweep comes again


def _tell(key: Any) -> None:
    from brainscore_web.submissions import pipeline

    pipeline.scoring_ended(key)
