"""What an importer changed: which rows, columns and units were left out or renamed, and why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from brainscore_core.plurals import counted

IMPORT_REPORT = "import_report"
"""Attribute of an imported assembly that holds its report; it is not written to files."""


@dataclass(frozen=True)
class ImportChange:
    """A difference between a source and the assembly that was made from it.

    Attributes
    ----------
    action : str
        ``'dropped'``, ``'renamed'``, ``'converted'``, ``'added'`` or ``'noticed'``.
    what : str
        Kind of the things changed: ``'column'``, ``'row'``, ``'unit'``, ``'trial'``, …
    names : str
        Their names, the first few of many.
    count : int
        How many they are.
    reason : str
        Why.
    """

    action: str
    what: str
    names: str
    count: int
    reason: str

    def __str__(self) -> str:
        return f"{self.action} {counted(self.count, self.what)} ({self.names}): {self.reason}"


@dataclass(frozen=True)
class ImportReport:
    """What was read from a source, and what was changed.

    Attributes
    ----------
    source : str
        Name of the file or table.
    sizes : dict
        Kind of things → how many there were in the source, and how many are in the assembly.
    changes : tuple of ImportChange
        In the order in which they were made.

    Examples
    --------
    >>> change = ImportChange("dropped", "row", "17", 1, "the response is missing")
    >>> ImportReport("trials.csv", {"row": (240, 239)}, (change,))
    trials.csv: 239 of 240 rows imported
    - dropped 1 row (17): the response is missing
    """

    source: str
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    changes: tuple[ImportChange, ...] = ()

    @property
    def dropped(self) -> tuple[ImportChange, ...]:
        """The changes by which something was left out."""
        return tuple(change for change in self.changes if change.action == "dropped")

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per change, with the attributes of :class:`ImportChange` as columns."""
        columns = ["action", "what", "names", "count", "reason"]
        return pd.DataFrame([[getattr(change, name) for name in columns] for change in self.changes], columns=columns)

    def __str__(self) -> str:
        read = ", ".join(f"{imported:,} of {counted(total, noun)}" for noun, (total, imported) in self.sizes.items())
        return "\n".join([f"{self.source}: {read} imported", *(f"- {change}" for change in self.changes)])

    __repr__ = __str__


def first_names(names: Iterable[Any], *, limit: int = 5) -> str:
    """Return the first names, separated by commas.

    Examples
    --------
    >>> first_names(range(100))
    '0, 1, 2, 3, 4, …'
    """
    listed = [str(name) for name in names]
    return ", ".join([*listed[:limit], *(["…"] if len(listed) > limit else [])])
