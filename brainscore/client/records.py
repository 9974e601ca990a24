"""Records of the site's API as dataclasses; unknown values are None or empty strings."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

from brainscore_core.domain_names import FIRST
from brainscore_core.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model.

    Attributes
    ----------
    identifier, title : str
        The title may be empty.
    domain : str
        Such as ``'vision'`` or ``'language'``.
    visibility : str
        ``'public'``, or ``'private'``: only its owner sees it.
    architecture, family, training_data, source : str
        `source` is the address of its description.
    parameters : int or None
        How many.
    size_mb : float or None
        Of the weights.
    runnable : bool
        Whether it can be loaded from published files.
    created : datetime
        When it was added to the site.
    """

    identifier: str
    title: str
    visibility: str
    architecture: str
    family: str
    parameters: int | None
    size_mb: float | None
    training_data: str
    runnable: bool
    source: str
    created: datetime
    domain: str = FIRST  # of sites of earlier versions


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How well each layer of a model predicts a region, measured on `benchmark`."""

    region: str
    benchmark: str
    document: Mapping[str, Any]
    created: datetime


@dataclass(frozen=True, kw_only=True)
class ModelCard(Model):
    """A model with its layers for regions, folder of its code, references and profiles of layers."""

    regions: Mapping[str, Any]
    plugin: str
    bibtex: str
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, kw_only=True)
class Ceiling:
    """The ceiling: the score of a perfect model.

    Attributes
    ----------
    value, error, low, high : float or None
        The ceiling, its standard error, and the limits of its interval of confidence `level`.
    level : float or None
        Such as 0.95.
    meaning, estimates, reason : str
        What the ceiling is; what the interval estimates; why there is none.
    """

    value: float | None
    error: float | None
    low: float | None
    high: float | None
    level: float | None
    meaning: str
    estimates: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a benchmark; `counts` says whether its scores count, `since` when it was first seen."""

    version: str
    counts: bool
    since: datetime
    ceiling: Ceiling
    lower_bound: float | None
    changes: str


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark, or a mean of benchmarks.

    Attributes
    ----------
    identifier, title : str
        The title may be empty.
    domain : str
        Such as ``'vision'`` or ``'language'``.
    parent : str or None
        The mean above it.
    depth : int
        Number of means above it.
    is_mean : bool
        Whether its value is the mean of those below it.
    version : str
        The version whose scores count; empty: any.
    control, in_tree : bool
        Whether it is a control, which checks the method; whether it counts in means.
    access : str or None
        Access to the stimuli and measurements: ``'public'`` or ``'private'``; None of a mean.
    region, species, task, method, stimuli, metric : str
        Empty if unknown.
    """

    identifier: str
    title: str
    parent: str | None
    depth: int
    is_mean: bool
    version: str
    control: bool
    in_tree: bool
    access: str | None
    region: str
    species: str
    task: str
    method: str
    stimuli: str
    metric: str
    domain: str = FIRST  # of sites of earlier versions


@dataclass(frozen=True, kw_only=True)
class BenchmarkCard(Benchmark):
    """A benchmark with its description, data and versions, the newest first."""

    children: tuple[str, ...]
    description: str
    n_stimuli: int | None
    n_subjects: int | None
    n_neuroids: int | None
    credit: str
    source: str
    plugin: str
    bibtex: str
    versions: tuple[Version, ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """One model scored on one version of one benchmark.

    Attributes
    ----------
    receipt, model, benchmark, version : str
        Identifiers.
    domain : str
        Such as ``'vision'`` or ``'language'``.
    counts : bool
        Whether it is the newest of the model on the benchmark's version that counts.
    state, reason : str
        ``'scored'``, ``'undefined'``, ``'not applicable'``, ``'failed'`` or ``'not run'`` (the site lacked data,
        space or software); why there is no score.
    value, error, low, high, level : float or None
        The score, on `scale`, with standard error and limits of the interval of confidence `level`.
    estimates, error_reason, scale : str
        What the interval estimates; why there is no error; ``'ceiled'`` or ``'raw'``.
    undetermined : str
        Why the score relative to the ceiling says nothing, if so.
    unclamped : float or None
        The score before it was limited to its range.
    raw, raw_error, raw_low, raw_high : float or None
        The same before the ceiling is taken into account.
    ceiling : float or None
        At that time.
    seconds : float or None
        How long scoring took.
    created : datetime
        When the receipt was made.
    """

    receipt: str
    model: str
    benchmark: str
    version: str
    counts: bool
    state: str
    reason: str
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    level: float | None
    estimates: str
    error_reason: str
    scale: str
    unclamped: float | None
    raw: float | None
    raw_error: float | None
    raw_low: float | None
    raw_high: float | None
    ceiling: float | None
    seconds: float | None
    created: datetime
    domain: str = FIRST  # of sites of earlier versions
    undetermined: str = ""


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """One part of the assessment of a benchmark.

    Attributes
    ----------
    id : str
        Its identifier.
    created : datetime
        When it was computed.
    part : str
        ``'audit'``, ``'controls'``, ``'recovery'``; ``'question'``, ``'explanation'`` and ``'atlas'`` are answers to
        questions.
    benchmark, version : str
        The benchmark and its version; the version is empty if it is not known.
    models : tuple of str
        The model whose score is assessed; candidates of a recovery; models that a question is about.
    state : str
        ``'assessed'``, ``'not applicable'`` or ``'failed'``.
    outcome : str
        ``'no finding'`` or ``'findings'`` of an audit; ``'recovered'`` or ``'not recovered'`` of a recovery; otherwise
        empty.
    reason : str
        Why there is no result.
    code : str or None
        Hash of the platform's code.
    text : str
        The result as text; empty if the benchmark's data are withheld from you.
    result : dict or None
        Fields of the part's result; None if there is none.
    """

    id: str
    created: datetime
    part: str
    benchmark: str
    version: str
    models: tuple[str, ...]
    state: str
    outcome: str
    reason: str
    code: str | None
    text: str
    result: dict[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token without its secret; `prefix` is its beginning."""

    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None


@dataclass(frozen=True, kw_only=True)
class Me:
    """The account of a token."""

    name: str
    email: str
    kind: str
    token: Token | None
    may_post_receipts: bool


def read_record(kind: type[T], data: Any) -> T:
    """Make a dataclass from a response; fields that this version does not know are ignored.

    Raises UserError if a field without a default is missing.
    """
    hints, needed = _hints(kind)  # type: ignore[arg-type] # classes are hashable
    if not isinstance(data, Mapping) or not needed <= data.keys():
        missing = ", ".join(sorted(needed - set(data if isinstance(data, Mapping) else ())))
        raise UserError(
            f"the site's response lacks {missing}", remedy="the site and this package differ: update the older one"
        )
    return kind(**{name: _value(hint, data[name]) for name, hint in hints.items() if name in data})


@functools.cache
def _hints(kind: type) -> tuple[dict[str, Any], set[str]]:
    """Types of the fields, and names of those without a default."""
    hints = typing.get_type_hints(kind)
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    return {field.name: hints[field.name] for field in fields(kind)}, needed


def _value(hint: Any, value: Any) -> Any:
    if isinstance(hint, types.UnionType):
        hints = [alternative for alternative in typing.get_args(hint) if alternative is not types.NoneType]
        return None if value is None else _value(hints[0], value)
    if typing.get_origin(hint) is tuple:
        return tuple(_value(typing.get_args(hint)[0], item) for item in value)
    if hint is datetime:
        return datetime.fromisoformat(value)
    if hint is float:
        return float(value)
    return read_record(hint, value) if isinstance(hint, type) and is_dataclass(hint) else value
