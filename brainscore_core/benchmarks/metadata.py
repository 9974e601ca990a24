"""Metadata of benchmarks: stimuli, data and metrics, tables of them, and checks of fields."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

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


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


class ValueKind(NamedTuple):
    """Kind of the values of a field: its description, whether a value is of it, and how a cell of a table is read."""

    described: str
    is_valid: Callable[[Any], bool]
    read: Callable[[str], Any] = str

    @classmethod
    def texts(cls, separator: str) -> ValueKind:
        """A tuple of texts, separated in cells; ``none`` is an empty one."""
        return cls(
            "a tuple of non-empty strings",
            lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
            lambda text: () if text == "none" else tuple(text.split(separator)),
        )

    @classmethod
    def one_of(cls, literal: Any) -> ValueKind:
        """One of the values of a ``Literal``."""
        return cls(f"one of {', '.join(get_args(literal))}", get_args(literal).__contains__)

    @classmethod
    def instance(cls, of: type) -> ValueKind:
        """An object of a class."""
        return cls(f"a {of.__name__}", lambda value: isinstance(value, of))


def _is_citation(value: Any) -> bool:
    return _is_text(value) and value.lstrip().startswith("@") and value.count("{") == value.count("}")


Text = Annotated[str | None, ValueKind("a non-empty string", _is_text)]
Count = Annotated[int | None, ValueKind("a whole number ≥ 0", lambda n: type(n) is int and n >= 0, int)]
Positive = Annotated[float | None, ValueKind("a positive number", lambda x: _is_number(x) and x > 0, _number)]
Texts = Annotated[tuple[str, ...], ValueKind.texts("|")]
OptionalTexts = Annotated[tuple[str, ...] | None, ValueKind.texts("|")]
Url = Annotated[str | None, ValueKind("a URL", lambda value: str(value).startswith(("https://", "http://")))]
Citation = Annotated[str | None, ValueKind("a BibTeX entry, such as @article{key, …}", _is_citation)]


class Metadata:
    """Base of dataclasses whose annotations state the kinds of values; None is always allowed.

    Examples
    --------
    >>> @dataclass
    ... class Animal(Metadata):
    ...     species: Text
    >>> Animal.of({"species": "macaque"})
    Animal(species='macaque')
    >>> Animal(" ")
    Traceback (most recent call last):
    ...
    ValueError: species is ' ', not a non-empty string
    """

    _kinds: ClassVar[dict[str, ValueKind]]

    def __init_subclass__(cls) -> None:
        annotations = get_type_hints(cls, include_extras=True)
        cls._kinds = {
            name: kind.__metadata__[-1] for name, kind in annotations.items() if get_origin(kind) is Annotated
        }

    def __post_init__(self) -> None:
        for name, kind in self._kinds.items():
            value = getattr(self, name)
            if value is not None and not kind.is_valid(value):
                raise ValueError(f"{name} is {repr(value)[:80]}, not {kind.described}")

    @classmethod
    def of(cls, cells: Mapping[str, str], **values: Any) -> Self:
        """Read the cells of a table's row; empty ones have the default, or None."""
        kinds = cls._kinds
        read = {name: kinds[name].read(text) if name in kinds else text for name, text in cells.items() if text}
        return cls(**{**dict.fromkeys(required_fields(cls)), **read, **values})


T = TypeVar("T")

Access = Literal["public", "private"]
Kind = Literal["neural", "behavioural", "engineering"]


@dataclass(frozen=True, kw_only=True)
class StimuliMetadata(Metadata):
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

    n: Count = None
    kind: Text = None
    datatype: Text = "image"
    visual_degrees: Positive = None
    size_mb: Positive = None
    source: Url = None
    taken_from: OptionalTexts = None
    notes: Texts = ()


@dataclass(frozen=True, kw_only=True)
class DataMetadata(Metadata):
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

    kind: Annotated[Kind | None, ValueKind.one_of(Kind)] = None
    species: Text = None
    regions: Texts = ()
    task: Text = None
    method: Text = None
    n_subjects: Count = None
    n_neuroids: Count = None
    hemisphere: Text = None
    duration_ms: Positive = None
    preprocessing: Text = None
    access: Annotated[Access | None, ValueKind.one_of(Access)] = None
    source: Url = None
    licence: Text = None
    terms: Text = None
    notes: Texts = ()


@dataclass(frozen=True, kw_only=True)
class MetricMetadata(Metadata):
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

    name: Text = None
    kind: Text = None
    mapping: Text = None
    ceiling: Text = None
    source: Url = None
    notes: Texts = ()


@dataclass(frozen=True, kw_only=True)
class BenchmarkMetadata(Metadata):
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

    title: Text = None
    description: Text = None
    stimuli: Annotated[StimuliMetadata, ValueKind.instance(StimuliMetadata)] = field(default_factory=StimuliMetadata)
    data: Annotated[DataMetadata, ValueKind.instance(DataMetadata)] = field(default_factory=DataMetadata)
    metric: Annotated[MetricMetadata, ValueKind.instance(MetricMetadata)] = field(default_factory=MetricMetadata)
    changes: Texts = ()
    bibtex: Citation = None
    discussion: Url = None
    notes: Texts = ()

    def __post_init__(self) -> None:
        super().__post_init__()
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
        described: dict[str, dict[str, str]] = {"": {}, "stimuli": {}, "data": {}, "metric": {}}
        for column, text in cells.items():
            owner, _, name = column.rpartition(".")
            described[owner][name] = text
        result[identifier] = BenchmarkMetadata.of(
            described[""],
            stimuli=StimuliMetadata.of(described["stimuli"]),
            data=DataMetadata.of(described["data"]),
            metric=MetricMetadata.of(described["metric"]),
            bibtex=longest_match(identifier, citations),
        )
    return result
