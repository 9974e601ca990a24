"""What reading many receipts gives."""

from dataclasses import dataclass

from brainscore_core.scoring._receipt import Receipt

__all__ = ["Listing", "Problem"]


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
