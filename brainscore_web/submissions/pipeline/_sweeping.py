"""The sweep: whatever was left behind goes on."""

from __future__ import annotations

import logging
import threading
import time

from django.db import transaction
from django.utils import timezone

from brainscore_core.files import remove_abandoned_folders
from brainscore_core.scoring.subjects.cage import FOLDERS as CAGE_FOLDERS
from brainscore_web.submissions.models import Step, Submission
from brainscore_web.submissions.pipeline._claims import due, stale
from brainscore_web.submissions.pipeline._test import TEST_FOLDERS

__all__ = ["remove_leftovers", "sweep"]

_log = logging.getLogger(__name__)
_RARELY = 600.0  # seconds
_rare = threading.Lock()
_last_tidied = 0.0


def sweep() -> int:
    """Go on with what was left behind: to be called every few seconds, by any number of processes.

    Steps of processes that fell silent are due again, somebody is woken up for what is due, letters leave,
    submissions whose pairs have all ended are closed, and now and then what nobody needs any more is removed.

    Returns
    -------
    int
        How many steps and letters there were to do something about.
    """
    from brainscore_web.submissions.letters import send_due
    from brainscore_web.submissions.tasks import wake, wake_for_uploads
    from brainscore_web.uploads.checking import pending

    done = _free()
    waiting = due().count()
    if waiting:
        wake()
    if pending().exists():
        wake_for_uploads()
    _close_scored()
    _withdraw_of_who_left()
    done += send_due()
    _tidy()
    return done + waiting


def remove_leftovers() -> int:
    """Remove temporary folders of tests and cages whose process was killed; say how many there were."""
    return sum(remove_abandoned_folders(prefix) for prefix in (CAGE_FOLDERS, TEST_FOLDERS))


def _free() -> int:
    """Let steps of processes that fell silent be done again."""
    now, freed = timezone.now(), 0
    for key, word in stale().order_by("pk").values_list("pk", "claim"):
        # `stale` again: its process may have come back to life meanwhile
        freed += (
            stale()
            .filter(pk=key, claim=word)
            .update(
                state=Step.State.WAITING, claim="", claimed=None, due=now, internal="the worker that did it fell silent"
            )
        )
    return freed


def _close_scored() -> None:
    """Close what nobody closed, because its last worker was killed at the wrong moment."""
    from brainscore_web.submissions.pipeline._transitions import scoring_ended

    for key in Submission.objects.filter(state=Submission.State.SCORING).values_list("pk", flat=True):
        scoring_ended(key)


def _withdraw_of_who_left() -> None:
    """Of who has left the site, what is live stays, and nothing else becomes live."""
    from brainscore_web.submissions.pipeline._transitions import withdraw_left

    state = Submission.State
    unended = (state.QUEUED, state.CHANGES, state.REVIEW, state.PUBLISHING)
    for key in Submission.objects.filter(owner=None, state__in=unended).values_list("pk", flat=True):
        withdraw_left(key)


def _tidy() -> None:
    global _last_tidied
    from brainscore_web.submissions.publishing import remove_unused
    from brainscore_web.submissions.tasks import forget_old_tasks

    with _rare:
        if time.monotonic() - _last_tidied < _RARELY and _last_tidied:
            return
        _last_tidied = time.monotonic()
    with transaction.atomic():
        forget_old_tasks()
    try:
        remove_unused()
    except OSError as error:
        _log.warning("What is not needed any more could not be removed: %s", error)
