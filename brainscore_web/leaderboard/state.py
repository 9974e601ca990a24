"""The state of the leaderboard page: the query of its URL, validated and in a canonical form."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any, Literal
from urllib.parse import quote, urlencode

from brainscore_core.errors import UserError
from brainscore_core.results.board import COVERAGE
from brainscore_web.leaderboard import search
from brainscore_web.leaderboard.exposure import CHOICES as EXPOSURE_CHOICES

__all__ = ["COVERAGE", "FACTS", "SHOWN_FACTS", "BoardState"]

_MANY = (
    "models", "family", "architecture", "training", "include", "exclude", "region", "species", "task", "stimuli",
    "metric",
)  # fmt: skip
_NUMBERS = (
    "parameters_min", "parameters_max", "size_min", "size_max", "stimuli_min", "stimuli_max", "ceiling_min", "coverage",
)  # fmt: skip
_LIMITS = ("parameters", "size", "stimuli")
_SWITCHES = ("runnable", "mine", "unscored", "states", "empty", "errors")
FACTS = {"scored": "Scored", "parameters": "Parameters", "published": "Published"}
"""Optional columns about models, with their titles."""

SHOWN_FACTS = ("scored",)
"""Columns about models that are shown by default."""

_CHOICES = {
    "values": ("ceiled", "raw"),
    "over": ("all", "scored"),
    "access": ("", "public"),
    "common": ("", "all", "most"),
    "validity": ("", "assessed", "no-finding", "recovered"),
    "exposure": tuple(EXPOSURE_CHOICES),
}
_LONGEST = 300
_MOST = 500
_HIGHEST = 1e15
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}


@dataclass(frozen=True, kw_only=True)
class BoardState:
    """The requested leaderboard; states with the same meaning are equal."""

    q: str = ""  # search for models (:mod:`~brainscore_web.leaderboard.search`)
    models: tuple[str, ...] = ()  # only these models; empty: any
    mine: bool = False  # only models of the visitor
    # family, architecture, training: models with one of these; empty: any
    family: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    training: tuple[str, ...] = ()
    # parameters_min, parameters_max, size_min, size_max: inclusive limits of the number of parameters and the size of
    # the weights in MB
    parameters_min: float | None = None
    parameters_max: float | None = None
    size_min: float | None = None
    size_max: float | None = None
    runnable: bool = False  # only models that can be loaded from published code and weights
    unscored: bool = False  # whether to list models without a score on any of the selected benchmarks
    # whether to list all states of models that were scored during their training, not only the last
    states: bool = False
    # include, exclude: benchmarks, or nodes for all benchmarks below them; `exclude` takes precedence
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    # region, species, task, stimuli, metric: benchmarks with one of these; empty: any
    region: tuple[str, ...] = ()
    species: tuple[str, ...] = ()
    task: tuple[str, ...] = ()
    stimuli: tuple[str, ...] = ()
    metric: tuple[str, ...] = ()
    # stimuli_min, stimuli_max: inclusive limits of the number of stimuli
    stimuli_min: float | None = None
    stimuli_max: float | None = None
    ceiling_min: float | None = None  # benchmarks with at least this ceiling
    # ``'all'``: only benchmarks on which all of these models were scored; ``'most'``: only the benchmarks that the most
    # complete models have in common (:func:`~brainscore_web.leaderboard.filters.common_benchmarks`)
    common: Literal["", "all", "most"] = ""
    # percentage of the selected benchmarks on which a model must have been scored to be ranked
    coverage: float = COVERAGE
    access: Literal["", "public"] = ""  # ``'public'``: only benchmarks whose stimuli and measurements are public
    # ``'assessed'``: only benchmarks with an audit or a recovery; ``'no-finding'``: whose audit has no finding;
    # ``'recovered'``: whose recovery finds each candidate
    validity: Literal["", "assessed", "no-finding", "recovered"] = ""
    # scores whose stimuli the model was not trained on (``'clean'``), or is not known to have been trained on
    # (``'not-trained'``), or for which it is known (``'known'``)
    exposure: Literal["", "clean", "not-trained", "known"] = ""
    values: Literal["ceiled", "raw"] = "ceiled"  # ``'ceiled'`` or ``'raw'``
    # ``'all'``: benchmarks without a score count as 0 in means; ``'scored'``: they are left out
    over: Literal["all", "scored"] = "all"
    at: date | None = None  # as of the end of this day (UTC)
    sort: str = "rank"  # a node, ``'rank'`` or ``'model'``; best, or A, first. A leading ``'-'`` reverses the order
    open: tuple[str, ...] | None = None  # nodes whose children are shown; None: the default
    show: tuple[str, ...] | None = None  # shown columns about models, of :data:`FACTS`; None: the default
    # whether benchmarks without a score of the models are columns, too; they count in means either way
    empty: bool = False
    errors: bool = False  # whether intervals are shown in all cells; those of the first mean always are
    page: int = 1  # page number from 1; used only without JavaScript

    def __post_init__(self) -> None:
        for name in (*_MANY, "open", "show"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, tuple(sorted(set(given))))
        object.__setattr__(self, "q", self.q.strip())
        search.parse(self.q)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise _invalid(name, getattr(self, name), f"one of: {', '.join(filter(None, choices))}")
        for name in _LIMITS:
            least, most = getattr(self, f"{name}_min"), getattr(self, f"{name}_max")
            if least is not None and most is not None and least > most:
                raise UserError(f"{name}_min is above {name}_max", remedy="swap them")
        if not 0 <= self.coverage <= 100:
            raise _invalid("coverage", f"{self.coverage:g}", "a percentage from 0 to 100")
        unknown = [name for name in self.show or () if name not in FACTS]
        if unknown:
            raise _invalid("show", unknown[0], f"one of: {', '.join(FACTS)}")
        if self.show == SHOWN_FACTS:
            object.__setattr__(self, "show", None)
        if self.page < 1:
            raise _invalid("page", self.page, "a number from 1")

    @classmethod
    def from_query(cls, query: Mapping[str, Any], *, ignoring: Iterable[str] = ()) -> BoardState:
        """Read a query: a dict of lists, or Django's `QueryDict`.

        Examples
        --------
        >>> state = BoardState.from_query({"region": ["V4", "IT"], "parameters_max": ["25M"], "q": [""]})
        >>> state.query()
        'parameters_max=25000000&region=IT&region=V4'
        """
        lists = dict(query.lists()) if hasattr(query, "lists") else dict(query)
        known = {field.name for field in fields(cls)}
        parsed: dict[str, Any] = {}
        for name, given in lists.items():
            if name in ignoring:
                continue
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                remedy = f"did you mean {near[0]!r}?" if near else f"known parameters: {', '.join(sorted(known))}"
                raise UserError(f"unknown parameter {name[:50]!r}", remedy=remedy)
            values = [given] if isinstance(given, str) else list(given)
            _check_text(name, values)
            if name in ("open", "show") and values:
                parsed[name] = tuple(filter(None, values))
                continue
            values = [value for value in values if value.strip()]
            if not values:
                continue
            parsed[name] = tuple(values) if name in _MANY else _single(name, values)
        return cls(**parsed)

    def query(self) -> str:
        """Return the query in a canonical form: only values that differ from the default, without ``?``."""
        pairs: list[tuple[str, str]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, tuple):
                pairs += [(field.name, text) for text in value or ("",)]
            else:
                pairs.append((field.name, _text(value)))
        return urlencode(pairs, quote_via=quote, safe="")

    @property
    def content(self) -> BoardState:
        """The part that the numbers depend on: without what is shown of them, and the page."""
        return replace(self, open=None, show=None, empty=False, errors=False, page=1)

    @property
    def facts(self) -> tuple[str, ...]:
        """The shown columns about models, in the order of :data:`FACTS`."""
        shown = SHOWN_FACTS if self.show is None else self.show
        return tuple(name for name in FACTS if name in shown)

    def changed(self, **changes: Any) -> BoardState:
        """Return a state with these changes, on its first page unless `page` is given."""
        return replace(self, **{"page": 1, **changes})


def _check_text(name: str, values: Sequence[str]) -> None:
    if len(values) > _MOST:
        raise UserError(f"{name} has {len(values)} values", remedy=f"give at most {_MOST}")
    for value in values:
        longest = search.LONGEST if name == "q" else _LONGEST
        if len(value) > longest:
            raise UserError(f"{name} is {len(value)} characters long", remedy=f"shorten it to {longest}")
        if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in value):
            raise UserError(f"{name} contains a control character: {value!r}", remedy="remove it")


def _single(name: str, values: Sequence[str]) -> Any:
    if len(set(values)) > 1:
        raise UserError(f"{name} has {len(values)} values", remedy="give one value")
    value = values[0].strip()
    if name in _NUMBERS:
        return _number(name, value)
    if name in _SWITCHES:
        if value not in ("0", "1"):
            raise _invalid(name, value, "1 or 0")
        return value == "1"
    if name == "at":
        try:
            if not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
                raise ValueError(value)
            return date.fromisoformat(value)
        except ValueError:
            raise _invalid(name, value, "a date such as 2026-03-31") from None
    if name == "page":
        if not re.fullmatch(r"\d{1,6}", value, re.ASCII):
            raise _invalid(name, value, "a number from 1")
        return int(value)
    return value


def _number(name: str, value: str) -> float:
    form = re.fullmatch(r"((?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,3})?)([kmgb]?)", value.lower(), re.ASCII)
    if form is None:
        raise _invalid(name, value, "a number such as 25000000, 25e6 or 25M; not negative")
    number = float(form[1]) * _UNITS[form[2]]
    if number > _HIGHEST:
        raise _invalid(name, value, "a smaller number")
    return number


def _text(value: Any) -> str:
    if value is True:
        return "1"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _invalid(name: str, value: Any, needed: str) -> UserError:
    return UserError(f"{name} is {str(value)[:50]!r}", remedy=f"give {needed}")
