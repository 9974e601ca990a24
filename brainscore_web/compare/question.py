"""What a visitor compares: the query of the address, checked and in one fixed form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, urlencode

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.state import BoardState

__all__ = ["FEWEST", "MODES", "Question"]

MODES = {"benchmarks": "Two benchmarks", "models": "Two models", "matrix": "All benchmarks"}
"""What can be compared."""

FEWEST = 3
"""Models; of fewer no correlation is shown."""

_CHOICES = {
    "mode": tuple(MODES),
    "method": ("pearson", "spearman"),
    "level": ("means", "benchmarks", "all"),
    "colour": ("architecture", "family", "training", "none"),
}
_LONGEST = 300


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked for.

    Attributes
    ----------
    mode : str
        ``'benchmarks'``, ``'models'`` or ``'matrix'``.
    x, y : str
        Two benchmarks, or means of them; empty: the first two means.
    first, second : str
        Two models; empty: the two best.
    method : str
        ``'pearson'`` or ``'spearman'``, of the matrix.
    level : str
        Of the matrix: ``'means'``, ``'benchmarks'`` or ``'all'``.
    least : int
        Of the matrix: pairs of benchmarks with fewer models stay blank.
    colour : str
        What marks of models are told apart by.
    board : BoardState
        Filters of the leaderboard.
    """

    mode: Literal["benchmarks", "models", "matrix"] = "benchmarks"
    x: str = ""
    y: str = ""
    first: str = ""
    second: str = ""
    method: Literal["pearson", "spearman"] = "pearson"
    level: Literal["means", "benchmarks", "all"] = "means"
    least: int = 10
    colour: Literal["architecture", "family", "training", "none"] = "architecture"
    board: BoardState = field(default_factory=BoardState)

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                given = str(getattr(self, name))[:50]
                raise UserError(f"{name} is {given!r}", remedy=f"give one of: {', '.join(choices)}")
        if not FEWEST <= self.least <= 1_000_000:
            raise UserError(f"least is {self.least}", remedy=f"give a number of models from {FEWEST}")

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Question:
        """Read a query: a dict of lists, or Django's `QueryDict`.

        Raises
        ------
        UserError
            If a parameter is unknown, malformed, or occurs twice though it takes one value.

        Examples
        --------
        >>> Question.from_query({"mode": ["models"], "first": ["resnet50"], "values": ["raw"]}).query()
        'mode=models&first=resnet50&values=raw'
        """
        lists: dict[str, Any] = dict(query.lists()) if hasattr(query, "lists") else dict(query)
        own = [one.name for one in fields(cls) if one.name != "board"]
        state = BoardState.from_query(lists, ignoring=own)
        found: dict[str, Any] = {}
        for name in own:
            value = _single(name, lists.get(name, []))
            if value:
                found[name] = _count(value) if name == "least" else value
        return cls(**found, board=state.changed(open=None, sort="rank"))

    def query(self) -> str:
        """Only what differs from the default, in a fixed order, percent-encoded, without ``?``."""
        pairs = [
            (one.name, str(value))
            for one in fields(self)
            if one.name != "board" and (value := getattr(self, one.name)) != one.default
        ]
        return "&".join(filter(None, (urlencode(pairs, quote_via=quote, safe=""), self.board.query())))

    def pairs(self) -> list[tuple[str, str]]:
        """The query as names and values."""
        return parse_qsl(self.query())

    def changed(self, **changes: Any) -> Question:
        """Make a question that differs in these; a parameter of the board is changed there."""
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in _OWN}
        others = {name: value for name, value in changes.items() if name not in _OWN}
        if others:
            own["board"] = self.board.changed(**others)
        return replace(self, **own)


_OWN = frozenset(one.name for one in fields(Question))


def _single(name: str, given: Any) -> str:
    values = [given] if isinstance(given, str) else list(given)
    values = [value.strip() for value in values if value.strip()]
    if len(set(values)) > 1:
        raise UserError(f"{name} is given {len(values)} times", remedy="give it once")
    if not values:
        return ""
    if len(values[0]) > _LONGEST:
        raise UserError(f"{name} is {len(values[0])} signs long", remedy=f"at most {_LONGEST}")
    if not values[0].isprintable():
        raise UserError(f"{name} holds a control sign: {values[0][:50]!r}", remedy="leave it out")
    return values[0]


def _count(value: str) -> int:
    if not re.fullmatch(r"\d{1,6}", value, re.ASCII):
        raise UserError(f"least is {value[:50]!r}", remedy=f"give a number of models from {FEWEST}")
    return int(value)
