"""The requested comparison: the query of the page's URL, validated."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.formatting import count_text
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.cards.formatting import estimate
from brainscore_web.leaderboard.snapshot import STATES, ModelRow, Snapshot
from brainscore_web.leaderboard.state import BoardState

Table: TypeAlias = tuple[list[str], Iterable[Sequence[object]]]
"""Names of columns, and rows."""


class Note(NamedTuple):
    """A sentence, optionally with a link that changes the comparison: its text and its query."""

    text: str
    remedy: str = ""
    query: str = ""


def model_href(identifier: str) -> str:
    """Return the URL of a model's card, relative to the page of a comparison."""
    return f"../model/{quote(identifier)}/"


def benchmark_href(identifier: str) -> str:
    """Return the URL of a benchmark's card, relative to the page of a comparison."""
    return f"../benchmark/{quote(identifier)}/"


@dataclass(frozen=True, eq=False)
class Column:
    """Values of the board's models on one benchmark or mean."""

    # identifier, title: the benchmark or mean
    identifier: str
    title: str
    is_mean: bool  # whether it is a mean
    # values, errors, low, high: NaN if not available
    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    states: NDArray[np.int8]  # indices into `STATES`
    incomplete: NDArray[np.bool_]  # whether some benchmarks of a mean have no score
    condition: str = ""  # for which few subjects or groups alone the values hold

    def cells(self, place: int) -> tuple[float, float, float, float, str]:
        """Return the value of a model, its error, the limits of its interval, and its state."""
        value, error, low, high = (float(part[place]) for part in (self.values, self.errors, self.low, self.high))
        return value, error, low, high, STATES[self.states[place]]

    def text(self, place: int) -> str:
        """Return the value of a model with its interval, or why there is none."""
        *numbers, state = self.cells(place)
        return estimate(*numbers) if np.isfinite(numbers[0]) else state if state != "scored" else "no raw score"


class _Sizes(Column):
    def text(self, place: int) -> str:
        return count_text(int(self.values[place])) if np.isfinite(self.values[place]) else "not known"


def sizes(models: Sequence[ModelRow]) -> Column:
    """Return the numbers of parameters of models."""
    unknown, no = np.full(len(models), np.nan), np.zeros(len(models), dtype=np.int8)
    values = np.array([float(model.parameters or np.nan) for model in models])
    return _Sizes("parameters", "number of parameters", False, values, unknown, unknown, unknown, no, no.astype(bool))


def node_names(snapshot: Snapshot) -> dict[str, str]:
    """Return the titles of all benchmarks and means by identifier."""
    names = {name: snapshot.tree[name].title or name for name in snapshot.tree}
    return {**names, **{row.identifier: row.title for row in snapshot.benchmarks}}


def pick(text: str, names: Mapping[str, str], what: str) -> str:
    """Return the identifier with this identifier or title, ignoring case.

    Examples
    --------
    >>> pick("Resnet50", {"resnet50": "ResNet-50", "vit": "ViT"}, "model")
    'resnet50'
    """
    if text in names:
        return text
    folded = text.casefold()
    same = [name for name, title in names.items() if folded in (name.casefold(), title.casefold())]
    if len(same) == 1:
        return same[0]
    near = {name.casefold(): name for name in names}
    similar = [near[name] for name in difflib.get_close_matches(folded, near, 3, 0.5)]
    similar += [name for name in names if folded in name.casefold() and name not in similar][: 5 - len(similar)]
    remedy = f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"choose a {what} from the list"
    raise UnknownIdentifier(f"there is no {what} {text!r}", remedy=remedy)


def column(board: Board, identifier: str) -> Column:
    """Return values on a benchmark, even if filters exclude it, or on a mean over the benchmarks that pass."""
    place = board.place(identifier)
    if place >= 0 and board.nodes[place].kind != "heading":
        node = board.nodes[place]
        return Column(
            identifier,
            node.title,
            node.kind == "mean",
            board.values[:, place],
            board.errors[:, place],
            board.low[:, place],
            board.high[:, place],
            board.states[:, place],
            board.n_scored[:, place] < board.n_all[:, place],
            board.condition(place),
        )
    snapshot = board.snapshot
    at = snapshot.benchmark_index.get(identifier)
    if at is None:
        raise UserError(
            f"the filters exclude all benchmarks of {identifier!r}", remedy="choose another one, or remove filters"
        )
    names = {"ceiled": ("value", "error", "low", "high"), "raw": ("raw", "raw_error", "raw_low", "raw_high")}
    values, errors, low, high = (getattr(snapshot, name)[board.rows, at] for name in names[board.state.values])
    return Column(
        identifier,
        identifier,
        False,
        values,
        errors,
        low,
        high,
        snapshot.state[board.rows, at],
        np.zeros(len(board.rows), dtype=bool),
        snapshot.benchmarks[at].condition,
    )


def model_row(snapshot: Snapshot, name: str) -> int:
    """Return the row of the model with this identifier or title in the snapshot."""
    names = {model.identifier: model.title for model in snapshot.models}
    return snapshot.model_index[pick(name, names, "model")]


def group_of(board: Board, place: int) -> str:
    """Return the group of a benchmark: its region, otherwise the mean one step below the root."""
    node = board.nodes[place]
    region = board.snapshot.benchmarks[node.column].region if node.column >= 0 else ""
    if region:
        return region
    above: Sequence[str] = ()
    while node.parent >= 0:
        node = board.nodes[node.parent]
        above = (*above, node.title)
    return above[-2] if len(above) > 1 else above[0] if above else node.title


MODES = {
    "benchmarks": "Two benchmarks",
    "models": "Models",
    "matrix": "All benchmarks",
    "size": "Score against size",
}
"""Modes with their titles."""

MOST_MODELS = 6
"""Maximum number of models that are compared at once."""

FEWEST = 3
"""Minimum number of models for a correlation."""

_CHOICES = {
    "mode": tuple(MODES),
    "method": ("pearson", "spearman"),
    "level": ("means", "benchmarks", "all"),
    "colour": ("architecture", "family", "training", "none"),
}
_LONGEST = 300


@dataclass(frozen=True, kw_only=True)
class Question:
    """The requested comparison."""

    # ``'benchmarks'``, ``'models'``, ``'matrix'`` or ``'size'``
    mode: Literal["benchmarks", "models", "matrix", "size"] = "benchmarks"
    # x, y: two benchmarks or means; empty: the first two means of which enough models have both. Scores that are drawn
    # against size are those of `y`
    x: str = ""
    y: str = ""
    # first, second: two models; empty: the best ones that have a benchmark in common
    first: str = ""
    second: str = ""
    method: Literal["pearson", "spearman"] = "pearson"  # coefficient of the matrix: ``'pearson'`` or ``'spearman'``
    # nodes of the matrix: ``'means'``, ``'benchmarks'`` or ``'all'``
    level: Literal["means", "benchmarks", "all"] = "means"
    least: int = 10  # minimum number of models; pairs with fewer stay blank in the matrix
    # property of models that determines the colour of marks
    colour: Literal["architecture", "family", "training", "none"] = "architecture"
    board: BoardState = field(default_factory=BoardState)  # filters of the leaderboard

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

        Examples
        --------
        >>> Question.from_query({"mode": ["models"], "first": ["resnet50"], "values": ["raw"]}).query()
        'mode=models&first=resnet50&values=raw'
        """
        lists: dict[str, Any] = dict(query.lists()) if hasattr(query, "lists") else dict(query)
        own = [field.name for field in fields(cls) if field.name != "board"]
        state = BoardState.from_query(lists, ignoring=own)
        parsed: dict[str, Any] = {}
        for name in own:
            value = _single(name, lists.get(name, []))
            if value:
                parsed[name] = _count(value) if name == "least" else value
        if parsed.get("mode") == "models" and state.models:  # the first two of those chosen on the leaderboard
            chosen = lists["models"]
            chosen = list(dict.fromkeys(filter(None, [chosen] if isinstance(chosen, str) else chosen)))
            parsed = {**dict(zip(("first", "second"), chosen, strict=False)), **parsed}
        return cls(**parsed, board=state.changed(open=None, sort="rank"))

    def query(self) -> str:
        """Return the query in a canonical form: only values that differ from the default, without ``?``."""
        pairs = [
            (field.name, str(value))
            for field in fields(self)
            if field.name != "board" and (value := getattr(self, field.name)) != field.default
        ]
        return "&".join(filter(None, (urlencode(pairs, quote_via=quote, safe=""), self.board.query())))

    @property
    def others(self) -> tuple[str, ...]:
        """Chosen models besides the first and the second."""
        return tuple(name for name in self.board.models if name not in (self.first, self.second))

    def pairs(self) -> list[tuple[str, str]]:
        """Return the query as names and values."""
        return parse_qsl(self.query())

    def without_gaps(self, text: str) -> Note:
        """Return a note with a link to the same comparison of means that leave out missing scores."""
        return Note(text, "Leave out missing scores", self.changed(over="scored").query())

    def changed(self, **changes: Any) -> Question:
        """Return a question with these changes, including those of its board."""
        own: dict[str, Any] = {name: value for name, value in changes.items() if name in _OWN}
        others = {name: value for name, value in changes.items() if name not in _OWN}
        if others:
            own["board"] = self.board.changed(**others)
        return replace(self, **own)


_OWN = frozenset(field.name for field in fields(Question))


def _single(name: str, given: Any) -> str:
    values = [given] if isinstance(given, str) else list(given)
    values = [value.strip() for value in values if value.strip()]
    if len(set(values)) > 1:
        raise UserError(f"{name} has {len(values)} values", remedy="give one value")
    if not values:
        return ""
    if len(values[0]) > _LONGEST:
        raise UserError(f"{name} is {len(values[0])} characters long", remedy=f"shorten it to {_LONGEST}")
    if not values[0].isprintable():
        raise UserError(f"{name} contains a control character: {values[0][:50]!r}", remedy="remove it")
    return values[0]


def _count(value: str) -> int:
    if not re.fullmatch(r"\d{1,6}", value, re.ASCII):
        raise UserError(f"least is {value[:50]!r}", remedy=f"give a number of models from {FEWEST}")
    return int(value)
