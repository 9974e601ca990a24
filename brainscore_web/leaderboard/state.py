"""The state of the leaderboard page: the query of its URL, validated and in a canonical form."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints
from urllib.parse import quote, urlencode

from brainscore_core.errors import UserError
from brainscore_core.results.board import COVERAGE
from brainscore_web.leaderboard import search

__all__ = ["COVERAGE", "DEFAULTS", "FACTS", "KINDS", "PARAMETERS", "BoardState", "Parameter", "parameters_of"]

FACTS = {"scored": "Scored", "parameters": "Parameters", "published": "Published"}
"""Optional columns about models, with their titles."""

SHOWN_FACTS = ("scored",)
"""Columns about models that are shown by default."""

_LONGEST = 300
_MOST = 500
_HIGHEST = 1e15
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}


class Parameter(NamedTuple):
    """What a parameter of the leaderboard is for, in words."""

    about: str  # the description in the API
    of: str  # ``'models'``, ``'benchmarks'``, ``'scores'`` or ``'means'`` that it limits, or ``'view'``
    label: str  # the name of an active filter
    phrase: str  # the name in a sentence


def _parameter(of: str, about: str, default: Any = (), label: str = "", phrase: str = "") -> Any:
    return field(default=default, metadata={"parameter": (about, of, label, phrase)})


_NUMBER = "such as 25000000, 25e6 or 25M"


@dataclass(frozen=True, kw_only=True)
class BoardState:
    """The requested leaderboard; states with the same meaning are equal. Empty values limit nothing."""

    q: str = _parameter(
        "models", "Search for models: words, with AND, OR, NOT and parentheses.", "", "search", "the search"
    )
    models: tuple[str, ...] = _parameter("models", "Only these models.", label="model", phrase="the choice of models")
    mine: bool = _parameter("models", "1: only models of the token's owner.", False, "my models", "“my models”")
    family: tuple[str, ...] = _parameter("models", "Models of this family.")
    architecture: tuple[str, ...] = _parameter("models", "Models of this architecture.")
    training: tuple[str, ...] = _parameter("models", "Models trained on this.", label="training data")
    parameters_min: float | None = _parameter(
        "models", f"Minimum number of parameters, {_NUMBER}.", None, "parameters from",
        "the minimum number of parameters",
    )  # fmt: skip
    parameters_max: float | None = _parameter(
        "models", f"Maximum number of parameters, {_NUMBER}.", None, "parameters to",
        "the maximum number of parameters",
    )  # fmt: skip
    size_min: float | None = _parameter(
        "models", "Minimum size of the weights in MB.", None, "size in MB from", "the minimum size"
    )
    size_max: float | None = _parameter(
        "models", "Maximum size of the weights in MB.", None, "size in MB to", "the maximum size"
    )
    runnable: bool = _parameter(
        "models", "1: only models that can be loaded from published code and weights.", False, phrase="“runnable”"
    )
    unscored: bool = _parameter(
        "means", "1: also models without a score on any of the benchmarks.", False, "with models without a score"
    )
    states: bool = _parameter(
        "means", "1: all states of models that were scored during their training.", False,
        "with all states of training",
    )  # fmt: skip
    include: tuple[str, ...] = _parameter(
        "benchmarks", "Benchmarks, or nodes for all benchmarks below.", label="only", phrase="“only”"
    )
    exclude: tuple[str, ...] = _parameter(
        "benchmarks", "Benchmarks, or nodes for all benchmarks below; takes precedence over include.",
        label="without", phrase="“without”",
    )  # fmt: skip
    region: tuple[str, ...] = _parameter("benchmarks", "Benchmarks of this region.")
    species: tuple[str, ...] = _parameter("benchmarks", "Benchmarks of this species.")
    task: tuple[str, ...] = _parameter("benchmarks", "Benchmarks with this task.")
    stimuli: tuple[str, ...] = _parameter("benchmarks", "Benchmarks with this kind of stimuli.")
    metric: tuple[str, ...] = _parameter("benchmarks", "Benchmarks with this metric.")
    stimuli_min: float | None = _parameter(
        "benchmarks", "Minimum number of stimuli.", None, "number of stimuli from", "the minimum number of stimuli"
    )
    stimuli_max: float | None = _parameter(
        "benchmarks", "Maximum number of stimuli.", None, "number of stimuli to", "the maximum number of stimuli"
    )
    ceiling_min: float | None = _parameter(
        "benchmarks", "Benchmarks with at least this ceiling.", None, "ceiling from", "the minimum ceiling"
    )
    # see :func:`~brainscore_web.leaderboard.filters.common_benchmarks`
    common: Literal["", "all", "most"] = _parameter(
        "means",
        "Benchmarks on which all of the models were scored, or those that the most complete ones share.",
        "", "benchmarks in common",
    )  # fmt: skip
    coverage: float = _parameter(
        "means",
        "Percentage of the benchmarks on which a model must have been scored to be ranked; default 50.",
        COVERAGE, "minimum coverage of ranked models in %",
    )  # fmt: skip
    access: Literal["", "public"] = _parameter(
        "benchmarks", "public: benchmarks whose stimuli and measurements are public.", "", "data", "“public data only”"
    )
    validity: Literal["", "assessed", "no-finding", "recovered"] = _parameter(
        "benchmarks",
        "Benchmarks that are assessed, whose audit has no finding, or whose recovery finds each candidate.", "",
    )  # fmt: skip
    exposure: Literal["", "clean", "not-trained", "known"] = _parameter(
        "scores",
        "Scores whose stimuli the model was not trained on (clean), or is not known to have been trained on "
        "(not-trained), or for which it is known (known). The others count in no mean.",
        "", "training on the stimuli", "“training on the stimuli”",
    )  # fmt: skip
    values: Literal["ceiled", "raw"] = _parameter(
        "means", "Scores relative to the ceiling (the default), or raw.", "ceiled"
    )
    over: Literal["all", "scored"] = _parameter(
        "means", "In means, missing scores count as 0 (all, the default) or are left out (scored).", "all", "means over"
    )
    at: date | None = _parameter(  # noqa: RUF009 # a field
        "means", "As of the end of this day (UTC), such as 2026-03-31.", None, "as of"
    )
    sort: str = _parameter(
        "view", "A node, rank (the default) or model; best, or A, first; a leading - reverses the order.", "rank"
    )
    # None: the default
    open: tuple[str, ...] | None = _parameter("view", "Nodes whose children the page shows.", None)
    show: tuple[str, ...] | None = _parameter(
        "view", "Columns about models that the page shows: scored, parameters, published.", None
    )
    empty: bool = _parameter(
        "view", "1: the page shows benchmarks without a score of the models, too; they count in means.", False
    )
    errors: bool = _parameter("view", "1: the page shows intervals in all cells.", False)
    page: int = _parameter("view", "Number of the page, from 1; ignored by the API.", 1)

    def __post_init__(self) -> None:
        for name, given in vars(self).copy().items():
            if isinstance(given, tuple | list):
                object.__setattr__(self, name, tuple(sorted(set(given))))
        object.__setattr__(self, "q", self.q.strip())
        search.parse(self.q)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise _invalid(name, getattr(self, name), f"one of: {', '.join(filter(None, choices))}")
        for name in ("parameters", "size", "stimuli"):
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
        parsed: dict[str, Any] = {}
        for name, given in lists.items():
            if name in ignoring:
                continue
            if name not in KINDS:
                near = difflib.get_close_matches(name, KINDS, 1)
                remedy = f"did you mean {near[0]!r}?" if near else f"known parameters: {', '.join(sorted(KINDS))}"
                raise UserError(f"unknown parameter {name[:50]!r}", remedy=remedy)
            values = [given] if isinstance(given, str) else list(given)
            _check_text(name, values)
            if KINDS[name] == tuple[str, ...] | None and values:
                parsed[name] = tuple(filter(None, values))
                continue
            values = [value for value in values if value.strip()]
            if not values:
                continue
            parsed[name] = tuple(values) if KINDS[name] == tuple[str, ...] else _single(name, values)
        return cls(**parsed)

    def query(self) -> str:
        """Return the query in a canonical form: only values that differ from the default, without ``?``."""
        return urlencode(self.texts, quote_via=quote, safe="", doseq=True)

    @property
    def texts(self) -> dict[str, str | tuple[str, ...]]:
        """The values that differ from the default, as text."""
        given = ((name, getattr(self, name)) for name, default in DEFAULTS.items() if getattr(self, name) != default)
        return {name: value or ("",) if isinstance(value, tuple) else _text(value) for name, value in given}

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


DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(BoardState)}
"""Values of a leaderboard without a query."""

KINDS: dict[str, Any] = get_type_hints(BoardState)
"""Types of the values."""

_CHOICES = {name: get_args(kind) for name, kind in KINDS.items() if get_origin(kind) is Literal}

PARAMETERS = {
    name: Parameter(about, of, label or name, phrase or f"the {label or name}")
    for name, (about, of, label, phrase) in ((each.name, each.metadata["parameter"]) for each in fields(BoardState))
}
"""What the parameters are for, by name."""


def parameters_of(subject: str) -> tuple[str, ...]:
    """Return the names of the parameters that limit models, benchmarks or scores."""
    return tuple(name for name, parameter in PARAMETERS.items() if parameter.of == subject)


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
    if KINDS[name] in (float, float | None):
        return _number(name, value)
    if KINDS[name] is bool:
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
