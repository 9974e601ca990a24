"""Metadata of benchmarks: stimuli, data and metrics, tables of them, and checks of fields."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, TypeVar, get_args

from brainscore_core.plugins.tables import read_table


def required_fields(metadata: Any) -> list[str]:
    """Names of the fields that a dataclass of metadata requires, in order.

    Examples
    --------
    >>> @dataclass
    ... class Metadata:
    ...     architecture: str
    ...     notes: str = ""
    >>> required_fields(Metadata)
    ['architecture']
    """
    return [field.name for field in fields(metadata) if field.default is MISSING and field.default_factory is MISSING]


def described_fields(metadata: Any) -> list[str]:
    """Names of the required fields of a dataclass of metadata; if none is, of those that a new plugin has."""
    return required_fields(metadata) or [field.name for field in fields(metadata) if field.name != "changes"]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_VALID: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "text": ("a non-empty string", _is_text),
    "count": ("a whole number ≥ 0", lambda value: _is_number(value) and isinstance(value, int) and value >= 0),
    "positive": ("a positive number", lambda value: _is_number(value) and value > 0),
    "texts": ("a tuple of non-empty strings", lambda value: isinstance(value, tuple) and all(map(_is_text, value))),
    "URL": ("a URL", lambda value: str(value).startswith(("https://", "http://"))),
    "BibTeX": (
        "a BibTeX entry, such as @article{key, …}",
        lambda value: _is_text(value) and value.lstrip().startswith("@") and value.count("{") == value.count("}"),
    ),
}
"""Kind of value → what it is, and whether a value is of this kind."""


def require(owner: Any, kind: str, *names: str) -> None:
    """Raise ValueError if an attribute is not of a kind: text, count, positive, texts, URL or BibTeX; None is allowed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> require(SimpleNamespace(species=" "), "text", "species")
    Traceback (most recent call last):
    ...
    ValueError: species is ' ', not a non-empty string
    """
    described, is_valid = _VALID[kind]
    for name in names:
        value = getattr(owner, name)
        if value is not None and not is_valid(value):
            raise ValueError(f"{name} is {repr(value)[:80]}, not {described}")


T = TypeVar("T")

Access = Literal["public", "private"]
Kind = Literal["neural", "behavioural", "engineering"]


@dataclass(frozen=True, kw_only=True)
class StimuliMetadata:
    """Stimuli of a benchmark; None means unknown.

    Parameters
    ----------
    n : int, optional
        Number of different stimuli that a score is computed on, without fitting stimuli.
    kind : str, optional
        Content in a few words, the same for similar stimuli: ``'objects on backgrounds'``, ``'gratings'``.
    datatype : str
        ``'image'``, ``'video'`` or ``'text'``.
    visual_degrees : float, optional
        Visual angle that they span, in degrees.
    size_mb : float, optional
        Size of all files, in megabytes of 10⁶ bytes.
    source : str, optional
        URL.
    taken_from : tuple of str, optional
        Names of the data sets that contain the stimuli, or the pictures they were made from; empty if there are none,
        None if they are not known.
    notes : tuple of str
        Further information for readers.

    Raises
    ------
    ValueError
        If a field is malformed.
    """

    n: int | None = None
    kind: str | None = None
    datatype: str | None = "image"
    visual_degrees: float | None = None
    size_mb: float | None = None
    source: str | None = None
    taken_from: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self, "count", "n")
        require(self, "text", "kind", "datatype")
        require(self, "positive", "visual_degrees", "size_mb")
        require(self, "URL", "source")
        require(self, "texts", "taken_from", "notes")


@dataclass(frozen=True, kw_only=True)
class DataMetadata:
    """Subjects and measurements of a benchmark; None means unknown or not applicable.

    Parameters
    ----------
    kind : {'neural', 'behavioural', 'engineering'}, optional
        Recordings, responses, or labels that are correct by definition.
    species : str, optional
        ``'human'``, ``'macaque'``.
    regions : tuple of str
        Regions of the brain, as named in recordings of models: ``'V1'``, ``'IT'``.
    task : str, optional
        Task of the model: ``'passive viewing'``, ``'naming'``, ``'choice'``, ``'odd one out'``.
    method : str, optional
        ``'fMRI'``, ``'electrophysiology'``, ``'behaviour'``.
    n_subjects : int, optional
        Number of people or animals.
    n_neuroids : int, optional
        Number of neurons, sites or voxels.
    hemisphere : str, optional
        Side of the brain.
    duration_ms : float, optional
        Duration of a stimulus, in milliseconds.
    preprocessing : str, optional
        Preprocessing of the measurements.
    access : {'public', 'private'}, optional
        Whether everyone can read the measurements, or only the scoring platform.
    source : str, optional
        URL.
    licence : str, optional
        Licence of stimuli and measurements: an SPDX identifier such as ``'CC-BY-4.0'``, or a URL.
    terms : str, optional
        Terms of use of the data, in a sentence or as a URL.
    notes : tuple of str
        Further information for readers.

    Raises
    ------
    ValueError
        If a field is malformed.
    """

    kind: Kind | None = None
    species: str | None = None
    regions: tuple[str, ...] = ()
    task: str | None = None
    method: str | None = None
    n_subjects: int | None = None
    n_neuroids: int | None = None
    hemisphere: str | None = None
    duration_ms: float | None = None
    preprocessing: str | None = None
    access: Access | None = None
    source: str | None = None
    licence: str | None = None
    terms: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self, "text", "species", "task", "method", "hemisphere", "preprocessing", "licence", "terms")
        require(self, "texts", "regions", "notes")
        require(self, "count", "n_subjects", "n_neuroids")
        require(self, "positive", "duration_ms")
        require(self, "URL", "source")
        for name, allowed in (("kind", get_args(Kind)), ("access", get_args(Access))):
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ValueError(f"{name} is {value!r}, not one of {', '.join(allowed)}")


@dataclass(frozen=True, kw_only=True)
class MetricMetadata:
    """Metric of a benchmark; None means unknown or not applicable.

    Parameters
    ----------
    name : str, optional
        Name of the metric, its registered one if any: ``'pls'``, ``'error_consistency'``.
    kind : str, optional
        ``'regression'``, ``'similarity'``, ``'distribution'``, ``'consistency'``, ``'accuracy'``.
    mapping : str, optional
        Mapping from a model's responses to the measured ones, in words.
    ceiling : str, optional
        Meaning of the ceiling: how it is estimated, and whether it is an upper or a lower bound.
    source : str, optional
        URL.
    notes : tuple of str
        Further information for readers.

    Raises
    ------
    ValueError
        If a field is malformed.
    """

    name: str | None = None
    kind: str | None = None
    mapping: str | None = None
    ceiling: str | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self, "text", "name", "kind", "mapping", "ceiling")
        require(self, "URL", "source")
        require(self, "texts", "notes")


@dataclass(frozen=True, kw_only=True)
class BenchmarkMetadata:
    """Metadata of a benchmark, in ``METADATA`` of its plugin's ``metadata.py`` or ``__init__.py``.

    ``METADATA`` is a dictionary by identifier, or by a pattern such as ``'Geirhos2021*-top1'``. Version, parent and
    ceiling are taken from the benchmark itself.

    Parameters
    ----------
    title : str, optional
        Descriptive name.
    description : str, optional
        What the benchmark measures, in one or two sentences.
    stimuli : StimuliMetadata
        Stimuli.
    data : DataMetadata
        Subjects and measurements.
    metric : MetricMetadata
        Metric.
    changes : tuple of str
        What changed in versions after the first, and why, such as ``'2: Trials without a fixation are left out.'``.
    bibtex : str, optional
        Citation, if the benchmark's source contains none or several.
    discussion : str, optional
        URL of the place where the benchmark is discussed, such as an issue tracker or a forum.
    notes : tuple of str
        Further information for readers.

    Raises
    ------
    ValueError
        If a field is malformed.

    Examples
    --------
    >>> about = BenchmarkMetadata(
    ...     description="How well a model predicts responses to textures.",
    ...     stimuli=StimuliMetadata(n=135, kind="textures"),
    ...     data=DataMetadata(kind="neural", species="macaque", regions=("V2",), access="public"),
    ...     metric=MetricMetadata(name="pls", kind="regression"),
    ... )
    >>> about.data.regions
    ('V2',)
    >>> DataMetadata(access="secret")
    Traceback (most recent call last):
    ...
    ValueError: access is 'secret', not one of public, private
    """

    title: str | None = None
    description: str | None = None
    stimuli: StimuliMetadata = field(default_factory=StimuliMetadata)
    data: DataMetadata = field(default_factory=DataMetadata)
    metric: MetricMetadata = field(default_factory=MetricMetadata)
    changes: tuple[str, ...] = ()
    bibtex: str | None = None
    discussion: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(self, "text", "title", "description")
        require(self, "URL", "discussion")
        for name, cls in (("stimuli", StimuliMetadata), ("data", DataMetadata), ("metric", MetricMetadata)):
            if not isinstance(getattr(self, name), cls):
                raise ValueError(f"{name} is {getattr(self, name)!r}, not a {cls.__name__}")
        require(self, "BibTeX", "bibtex")
        require(self, "texts", "notes", "changes")
        for text in self.changes:
            if not all(map(str.strip, text.partition(": "))):
                raise ValueError(f"changes has {text!r}, not a version and what changed, such as '2: New trials.'")

    def change_in(self, version: str) -> str:
        """Return what changed in a version; empty if it is not stated."""
        stated = (text.partition(": ") for text in self.changes)
        return next((reason.strip() for number, _, reason in stated if number.strip() == version), "")


def longest_match(identifier: str, table: Mapping[str, T]) -> T | None:
    """Return the value of an identifier, else that of the longest pattern that it matches; None if there is none.

    In patterns, ``*`` is any text, and ``?`` any letter.

    Examples
    --------
    >>> longest_match("A2020.V1-pls", {"A2020*": 1, "A2020.V1-*": 2})
    2
    """
    if identifier in table:
        return table[identifier]
    patterns = [pattern for pattern in table if fnmatch.fnmatchcase(identifier, pattern)]
    return table[max(patterns, key=len)] if patterns else None


METADATA_TABLE: Final = "metadata.csv"

_LISTS: Final = ("changes", "notes", "regions", "taken_from")
_NUMBERS: Final = ("duration_ms", "n", "n_neuroids", "n_subjects", "size_mb", "visual_degrees")


def read_metadata(plugin_file: str, *, bibtex: str | Mapping[str, str] | None = None) -> dict[str, BenchmarkMetadata]:
    """Metadata of a plugin's benchmarks, from the table ``metadata.csv`` next to a file of the plugin.

    Columns are named after fields: ``title``, ``data.species``. Empty cells are unknown; items of tuples are separated
    by ``|``, and ``none`` is an empty one. `bibtex` is the citation of all benchmarks, or one for each identifier or
    pattern.
    """
    citations = bibtex if isinstance(bibtex, Mapping) else {"*": bibtex}
    result = {}
    for cells in read_table(plugin_file, METADATA_TABLE):
        identifier = cells.pop("benchmark")
        values: dict[str, dict[str, Any]] = {"": {}, "stimuli": {}, "data": {}, "metric": {}}
        for column, text in cells.items():
            if text:
                described, _, name = column.rpartition(".")
                values[described][name] = _value(name, text)
        result[identifier] = BenchmarkMetadata(
            **values[""],
            stimuli=StimuliMetadata(**values["stimuli"]),
            data=DataMetadata(**values["data"]),
            metric=MetricMetadata(**values["metric"]),
            bibtex=longest_match(identifier, citations),
        )
    return result


def _value(name: str, text: str) -> Any:
    if name in _LISTS:
        return () if text == "none" else tuple(text.split("|"))
    if name in _NUMBERS:
        return float(text) if "." in text else int(text)
    return text
