"""What reading many receipts gives."""

from collections.abc import Iterator
from dataclasses import dataclass

from brainscore_core.scoring._receipt import Receipt

__all__ = ["Listing", "Problem", "Scan"]


@dataclass(frozen=True)
class Problem:
    """A receipt that cannot be read.

    Attributes
    ----------
    path : str
        The file, or its address in a bucket.
    message : str
        What is wrong with it.
    remedy : str or None
        What to do about it.
    """

    path: str
    message: str
    remedy: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True)
class Listing:
    """Receipts, oldest first, and the files that could not be read."""

    receipts: tuple[Receipt, ...] = ()
    problems: tuple[Problem, ...] = ()

    def newest_of_each(self) -> tuple[Receipt, ...]:
        """Keep the newest receipt of each model and benchmark, ordered by benchmark and model."""
        newest = {(receipt.benchmark.identifier, receipt.model.identifier): receipt for receipt in self.receipts}
        return tuple(newest[pair] for pair in sorted(newest))


@dataclass(frozen=True)
class Scan:
    """Receipts of a store that somebody does not know yet.

    Attributes
    ----------
    known : int
        How many are known, and were not read.
    unread : int
        How many there are to read.
    found : iterator
        Reads one after the other, each once; the oldest of a pair first. A `Problem` stands for what is no receipt.
    """

    known: int
    unread: int
    found: Iterator[Receipt | Problem]
