"""What came of an ingestion."""

from __future__ import annotations

from dataclasses import dataclass, field

from brainscore_core.scoring import Problem
from brainscore_web.leaderboard.clean import json_value

__all__ = ["IngestReport", "Tally"]

_MOST = 1000


@dataclass(frozen=True)
class IngestReport:
    """What came of an ingestion.

    Attributes
    ----------
    added, known : int
        Receipts that are new, and those that had been read before.
    problems : tuple of Problem
        What could not be read, each with its place (`path`), what is wrong (`message`) and the `remedy`; of very many
        the first 1,000 and how many more.
    """

    added: int = 0
    known: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass
class Tally:
    """Counts while ingesting."""

    added: int = 0
    known: int = 0
    found: list[Problem] = field(default_factory=list)
    more: int = 0

    def wrong(self, where: str, message: str, remedy: str | None = None) -> None:
        """Add a problem; of very many the first are kept."""
        if len(self.found) < _MOST:
            self.found.append(Problem(json_value(where), json_value(message[:2000]), remedy))
        else:
            self.more += 1

    def report(self) -> IngestReport:
        """What there is so far."""
        problems = tuple(self.found)
        if self.more:
            problems += (Problem("further receipts", f"{self.more:,} more could not be read"),)
        return IngestReport(self.added, self.known, problems)
