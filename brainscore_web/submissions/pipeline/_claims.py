"""Automatic steps are done by one process at a time, which says regularly that it is alive."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Case, F, Q, QuerySet, When
from django.utils import timezone

from brainscore_web.submissions.models import Step

__all__ = ["ATTEMPTS", "STALE", "Claim", "claim_next", "due", "stale"]

STALE = timedelta(minutes=2)
"""After this a process that said nothing is taken for dead."""
ATTEMPTS = 5
"""How often a step is begun before the site gives up."""
_HEARTBEAT = 10.0  # seconds
_AUTOMATIC = (Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH)
_LONG = Case(When(kind=Step.Kind.TEST, then=1), default=0)  # a test may take an hour, the others seconds
_log = logging.getLogger(__name__)


def due() -> QuerySet[Step]:
    """Automatic steps that wait and whose time has come: the quick ones first, then as they came."""
    waiting = Step.objects.filter(kind__in=_AUTOMATIC, state=Step.State.WAITING, claim="", due__lte=timezone.now())
    return waiting.order_by(_LONG, "due", "pk")


def stale() -> QuerySet[Step]:
    """Automatic steps whose process is silent for too long."""
    silent = Q(claimed=None) | Q(claimed__lt=timezone.now() - STALE)
    return Step.objects.filter(silent, kind__in=_AUTOMATIC, state=Step.State.RUNNING)


class Claim:
    """A step that this process does; whoever lost it writes nothing more.

    Attributes
    ----------
    step : Step
        As it was when it was claimed.
    """

    def __init__(self, step: Step, word: str) -> None:
        self.step = step
        self._word = word
        self._lost = threading.Event()

    def mine(self) -> QuerySet[Step]:
        """The step's row, if it is still this process's."""
        return Step.objects.filter(pk=self.step.pk, state=Step.State.RUNNING, claim=self._word)

    def lost(self) -> bool:
        """Whether somebody else has it, or it was cancelled, as far as was noticed."""
        return self._lost.is_set()

    def note(self, **values: Any) -> None:
        """Write attributes of the step while it runs, such as its log so far."""
        if not self.mine().update(claimed=timezone.now(), **values):
            self._lost.set()

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Say every few seconds that somebody works on it."""
        ended = threading.Event()

        def beat() -> None:
            try:
                while not ended.wait(_HEARTBEAT):
                    try:
                        self.note()
                    except DatabaseError as error:  # it may come back before the claim is stale
                        _log.warning("Step %s: no sign of life could be written: %s", self.step.pk, error)
                        connection.close()
            finally:
                connection.close()

        thread = threading.Thread(target=beat, name=f"step {self.step.pk}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def claim_next(only: int | None = None) -> Claim | None:
    """Claim the step that is next; None where none is due."""
    rows = due() if only is None else due().filter(pk=only)
    for key in rows.values_list("pk", flat=True)[:20]:
        word, now = uuid.uuid4().hex, timezone.now()
        taken = (
            Step.objects.filter(pk=key, state=Step.State.WAITING, claim="", due__lte=now)
            .update(
                state=Step.State.RUNNING, claim=word, claimed=now, started=now, ended=None, attempts=F("attempts") + 1
            )
        )  # fmt: skip
        if taken:
            return Claim(Step.objects.select_related("revision__submission").get(pk=key), word)
    return None
