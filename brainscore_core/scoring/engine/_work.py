"""Tasks that are not done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainscore_core.scoring.plan import ModelTask

__all__ = ["Pair", "Work", "longest_first", "merged"]

Pair = tuple[str, str]
"""Model and benchmark."""


@dataclass
class Work:
    """A task that is not done."""

    model: str
    benchmarks: tuple[str, ...]
    memory: int | None
    gpu: int
    floor: int = 0  # bytes that were too few before
    due: float = 0.0
    losses: int = 0
    pairs: tuple[Pair, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = tuple((self.model, benchmark) for benchmark in self.benchmarks)


def longest_first(tasks: Iterable[ModelTask]) -> list[ModelTask]:
    """Those whose time is not known first: they may be the longest."""
    return sorted(tasks, key=lambda task: (task.seconds is not None, -(task.seconds or 0.0)))


def merged(works: Sequence[Work]) -> list[Work]:
    """One task a model."""
    found: dict[str, Work] = {}
    for work in works:
        before = found.get(work.model)
        if before is not None:
            work = Work(
                work.model,
                (*before.benchmarks, *work.benchmarks),
                max(before.memory or 0, work.memory or 0) or None,
                max(before.gpu, work.gpu),
                max(before.floor, work.floor),
            )
        found[work.model] = work
    return list(found.values())
