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
    """A model; the title may be empty."""

    identifier: str
    title: str
    visibility: str  # 'public', or 'private': only its owner sees it
    architecture: str
    family: str
    parameters: int | None
    size_mb: float | None  # of the weights
    training_data: str
    runnable: bool  # whether it can be loaded from published files
    source: str  # address of its description
    created: datetime
    domain: str = FIRST  # such as 'vision'; sites of earlier versions do not send it


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
    """The ceiling, the score of a perfect model, with its standard error and the limits of its interval."""

    value: float | None
    error: float | None
    low: float | None
    high: float | None
    level: float | None  # of the interval, such as 0.95
    meaning: str  # what the ceiling is, such as a reliability
    estimates: str  # what the interval estimates
    reason: str  # why there is no interval


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
    """A benchmark, or a mean of benchmarks; what is not known is empty."""

    identifier: str
    title: str
    parent: str | None  # the mean above it
    depth: int  # number of means above it
    is_mean: bool
    version: str  # the version whose scores count; empty: any
    control: bool  # whether it checks the method
    in_tree: bool  # whether it counts in means
    access: str | None  # to stimuli and measurements: 'public' or 'private'; None of a mean
    region: str
    species: str
    task: str
    method: str
    stimuli: str
    metric: str
    domain: str = FIRST  # such as 'vision'; sites of earlier versions do not send it


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
    """One model scored on one version of one benchmark, with standard errors and limits of intervals."""

    receipt: str
    model: str
    benchmark: str
    version: str
    counts: bool  # whether it is the newest of the model on the benchmark's version that counts
    # 'scored', 'undefined', 'not applicable', 'failed' or 'not run' (the site lacked data, space or software)
    state: str
    reason: str  # why there is no score
    value: float | None
    error: float | None
    low: float | None
    high: float | None
    level: float | None  # of the interval
    estimates: str  # what the interval estimates
    error_reason: str  # why there is no error
    scale: str  # 'ceiled' or 'raw'
    unclamped: float | None  # before it was limited to its range
    raw: float | None  # before the ceiling is taken into account
    raw_error: float | None
    raw_low: float | None
    raw_high: float | None
    ceiling: float | None
    seconds: float | None  # how long scoring took
    created: datetime
    domain: str = FIRST  # such as 'vision'; sites of earlier versions do not send it
    undetermined: str = ""  # why the score relative to the ceiling says nothing, if so


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """One part of the assessment of a benchmark, or an answer to a question."""

    id: str
    created: datetime
    part: str  # 'audit', 'controls' or 'recovery'; 'question', 'explanation' or 'atlas' are answers to questions
    benchmark: str
    version: str
    models: tuple[str, ...]  # the assessed model, the candidates of a recovery, or the models that a question is about
    state: str  # 'assessed', 'not applicable' or 'failed'
    outcome: str  # of an audit 'no finding' or 'findings', of a recovery 'recovered' or 'not recovered'
    reason: str  # why there is no result
    code: str | None  # hash of the platform's code
    text: str  # the result as text; empty if the benchmark's data are withheld from you
    result: dict[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class AskedQuestion:
    """A question about the scores of a benchmark, and its state."""

    id: str
    benchmark: str
    part: str  # 'question', 'explanation' or 'atlas'
    question: dict[str, Any]  # what differs from the benchmark
    models: tuple[str, ...]  # empty for all public ones
    state: str  # 'waiting', 'running', 'answered' or 'failed'
    created: datetime
    ended: datetime | None
    reason: str  # why there is no answer
    answer: str  # `id` of the assessment with the answer


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
