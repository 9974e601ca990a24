"""BibTeX of many things put together: each entry once, no key twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from brainscore_core.numerics.ranks import group_letters
from brainscore_core.plugins.bibtex import BibtexError, Entry, parse_bibtex

__all__ = ["Cited", "gathered"]


class Cited(NamedTuple):
    """What is cited: ``'model'`` or ``'benchmark'``, its identifier, its BibTeX."""

    kind: str
    identifier: str
    bibtex: str


def gathered(head: str, cited: Iterable[Cited]) -> str:
    """Put citations together.

    Parameters
    ----------
    head : str
        A line of comment at the start.
    cited : iterable of Cited
        In the order of their entries.

    Examples
    --------
    >>> one, other = "@misc{a, title = {One}}", "@misc{a, title = {Other}}"
    >>> print(gathered("Three", [Cited("model", "x", one), Cited("model", "y", other), Cited("benchmark", "z", one)]))
    % Three
    <BLANKLINE>
    % model x; benchmark z
    @misc{a,
      title = {One}
    }
    <BLANKLINE>
    % model y
    @misc{aa,
      title = {Other}
    }
    <BLANKLINE>
    """
    users: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    unread = []
    for one in cited:
        name = _comment(f"{one.kind} {one.identifier}")
        try:
            entries = [entry for entry in parse_bibtex(one.bibtex) if _is_sound(entry)]
        except BibtexError:
            entries = []
        if not entries:
            unread.append(name)
        for entry in entries:
            of_it = users.setdefault((entry.kind, entry.key, tuple(entry.fields.items())), [])
            if name not in of_it:
                of_it.append(name)
    taken: set[str] = set()
    parts = [f"% {_comment(head)}\n"]
    own = {key.casefold() for _, key, _ in users}
    for (kind, key, fields), names in users.items():
        unique, number = key, 0
        while unique.casefold() in taken or (number and unique.casefold() in own):
            unique, number = key + group_letters(number), number + 1
        taken.add(unique.casefold())
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
        parts.append(f"% {'; '.join(names)}\n@{kind}{{{unique},\n{body}\n}}\n")
    if unread:
        parts.append("".join(f"% {name}: its citation cannot be read\n" for name in unread))
    return "\n".join(parts)


def _is_sound(entry: Entry) -> bool:
    """Whether it can be written in braces again."""
    return bool(entry.key) and all(_is_balanced(value) for value in entry.fields.values())


def _is_balanced(text: str) -> bool:
    depth, escaped = 0, False
    for sign in text:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth < 0:
                return False
    return depth == 0 and not escaped


def _comment(text: str) -> str:
    """On one line, without the sign that begins an entry."""
    return " ".join(text.replace("@", "(at)").split())
