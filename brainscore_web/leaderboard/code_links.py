"""Links to the code of plugins. The app that has the code registers a function, since it imports this app."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from brainscore_web.leaderboard.models import Visitor


class CodeLink(NamedTuple):
    """Where a version of a plugin's code can be read and downloaded, and its licence; empty if only files state it."""

    page: str
    archive: str
    licence: str


Finder = Callable[[str, str, Visitor, str, str], CodeLink | None]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Register a function with the arguments of `code_link`."""
    if finder not in _finders:
        _finders.append(finder)


def code_link(kind: str, name: str, visitor: Visitor, sha256: str = "", identifier: str = "") -> CodeLink | None:
    """Return where the code of a plugin is; None if it is not here or the visitor may not read it."""
    links = (finder(kind, name, visitor, sha256, identifier) for finder in _finders)
    return next((link for link in links if link is not None), None)
