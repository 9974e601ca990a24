"""What can be wrong with a plugin's requirements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from brainscore_core.errors import UserError

__all__ = ["RequirementsError"]


class RequirementsError(UserError):
    """Requirements that cannot be met.

    Parameters
    ----------
    message : str
        Which plugin, which lines, and why.
    remedy : str, optional
        What to do about it.
    plugin : str, optional
        Whose requirements they are.
    places : sequence of (path, int), optional
        Files and lines that ask for what cannot be had.
    resolver : str, optional
        What pip said, in short.

    Attributes
    ----------
    plugin : str
    places : tuple of (path, int)
    resolver : str
        As above.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        *,
        plugin: str = "",
        places: Sequence[tuple[Path, int]] = (),
        resolver: str = "",
    ) -> None:
        super().__init__(message, remedy)
        self.plugin = plugin
        self.places = tuple(places)
        self.resolver = resolver
