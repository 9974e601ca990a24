"""What a run tells while it goes on, and in the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = [
    "ClusterReady",
    "Event",
    "PairFinished",
    "PairRetried",
    "PairSkipped",
    "PairStarted",
    "RunReport",
    "WorkerLost",
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of everything that a run tells."""


@dataclass(frozen=True, kw_only=True)
class ClusterReady(Event):
    """Workers are there.

    Attributes
    ----------
    workers : int
        How many at this moment; those of a batch system come later.
    memory : int or None
        Bytes that each may use, where that is known.
    """

    workers: int
    memory: int | None


@dataclass(frozen=True, kw_only=True)
class PairStarted(Event):
    """A worker scores a pair, for the first or for the second time (`attempt` 1 or 2)."""

    model: str
    benchmark: str
    worker: str
    attempt: int = 1


@dataclass(frozen=True, kw_only=True)
class PairFinished(Event):
    """A pair has its receipt.

    Attributes
    ----------
    receipt_id, state, score, reason
        As in the receipt; `score` is None where there is no number.
    seconds : float
        From the request to the answer.
    """

    model: str
    benchmark: str
    receipt_id: str
    state: str
    score: float | None
    seconds: float
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PairSkipped(Event):
    """A pair was left to somebody else, who works on it or has finished it since the plan was made."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairRetried(Event):
    """A pair will be scored a second time, because what scored it died."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class WorkerLost(Event):
    """A worker is gone that was not sent away; `pairs` are those (model, benchmark) that it was scoring."""

    worker: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What became of every pair of a plan.

    Attributes
    ----------
    id : str
        Of the run; its receipts say the same.
    finished, skipped : tuple
        Each pair is in one of the two, once.
    retried, lost : tuple
        What happened on the way.
    seconds : float
        By the wall clock, clusters' start included.

    Examples
    --------
    >>> done = PairFinished(model="pixels", benchmark="Some2026-pls", receipt_id="20260114T093012", state="failed",
    ...                     score=None, seconds=1.5, reason="ValueError: no data")
    >>> report = RunReport(id="a", finished=(done,), skipped=(), retried=(), lost=(), seconds=2.0)
    >>> report.states, len(report.failed)
    ({'failed': 1}, 1)
    """

    id: str
    finished: tuple[PairFinished, ...]
    skipped: tuple[PairSkipped, ...]
    retried: tuple[PairRetried, ...]
    lost: tuple[WorkerLost, ...]
    seconds: float

    @property
    def failed(self) -> tuple[PairFinished, ...]:
        """Pairs whose receipt says *failed*."""
        return tuple(event for event in self.finished if event.state == "failed")

    @property
    def states(self) -> dict[str, int]:
        """How many receipts of each state."""
        return dict(Counter(event.state for event in self.finished))
