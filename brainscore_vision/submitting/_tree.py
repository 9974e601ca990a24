"""What a submission is read from, as far as the layout is concerned: names, and content on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from brainscore_core.errors import UserError
from brainscore_vision.submitting._limits import Limits

__all__ = ["Budget", "Tree"]


class Tree(Protocol):
    """Files of an archive, a folder or a commit."""

    @property
    def names(self) -> Sequence[str]:
        """Paths of the plain files, with ``/``."""

    @property
    def links(self) -> Sequence[str]:
        """Paths of links, and of other repositories."""

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        """Contents; of a file that is too large, no more than shows that it is."""

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        """Those of the paths whose content is not that of the file beside it."""


class Budget:
    """Counts what is read, whatever was announced."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._left = limits.size

    def take(self, size: int) -> None:
        """Count bytes.

        Raises
        ------
        UserError
            If there are too many.
        """
        self._left -= size
        if self._left < 0:
            raise UserError(
                f"the submission holds more than {self.limits.size / 1e6:,.0f} MB",
                remedy="send code alone: upload data and weights to the site, and load them from there",
            )
