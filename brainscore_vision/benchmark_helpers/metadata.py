"""What is known about a benchmark: what it shows, who was measured and how, what scores are made of."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from brainscore_vision.metadata_checks import (
    require_bibtex,
    require_count,
    require_notes,
    require_positive,
    require_texts,
    require_url,
)

__all__ = ["BenchmarkMetadata", "DataMetadata", "MetricMetadata", "StimuliMetadata", "metadata_for"]

Access = Literal["public", "private"]
Kind = Literal["neural", "behavioural", "engineering"]


@dataclass(frozen=True, kw_only=True)
class StimuliMetadata:
    """What is shown; None: not known.

    Parameters
    ----------
    n : int, optional
        Number of different stimuli that a score is computed on; fitting stimuli do not count.
    kind : str, optional
        What they show, in a few words, alike for like stimuli: ``'objects on backgrounds'``, ``'gratings'``.
    datatype : str
        ``'image'`` or ``'video'``.
    visual_degrees : float, optional
        Visual angle that they span, in degrees.
    size_mb : float, optional
        Size of all files, in megabytes of 10⁶ bytes.
    source : str, optional
        URL.
    notes : tuple of str
        Whatever else a reader should know.

    Raises
    ------
    ValueError
        If something is malformed.
    """

    n: int | None = None
    kind: str | None = None
    datatype: str | None = "image"
    visual_degrees: float | None = None
    size_mb: float | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_count(self, "n")
        require_texts(self, "kind", "datatype")
        require_positive(self, "visual_degrees", "size_mb")
        require_url(self, "source")
        require_notes(self, "notes")


@dataclass(frozen=True, kw_only=True)
class DataMetadata:
    """Who was measured, and how; None: not known, or there is no such thing.

    Parameters
    ----------
    kind : {'neural', 'behavioural', 'engineering'}, optional
        Recordings, answers, or labels that are right by definition.
    species : str, optional
        ``'human'``, ``'macaque'``.
    regions : tuple of str
        Regions of the brain, in the names under which models are recorded from: ``'V1'``, ``'IT'``.
    task : str, optional
        What a model is asked to do: ``'passive viewing'``, ``'naming'``, ``'choice'``, ``'odd one out'``.
    method : str, optional
        ``'fMRI'``, ``'electrophysiology'``, ``'behaviour'``.
    n_subjects : int, optional
        Number of people or animals.
    n_neuroids : int, optional
        Number of neurons, sites or voxels.
    hemisphere : str, optional
        Side of the brain.
    duration_ms : float, optional
        For how long a stimulus was shown, in milliseconds.
    preprocessing : str, optional
        What was done to the measurements.
    access : {'public', 'private'}, optional
        Whether everybody can read the measurements, or only the platform that scores.
    source : str, optional
        URL.
    notes : tuple of str
        Whatever else a reader should know.

    Raises
    ------
    ValueError
        If something is malformed.
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
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_texts(self, "species", "task", "method", "hemisphere", "preprocessing")
        require_notes(self, "regions", "notes")
        require_count(self, "n_subjects", "n_neuroids")
        require_positive(self, "duration_ms")
        require_url(self, "source")
        for name, allowed in (("kind", get_args(Kind)), ("access", get_args(Access))):
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise ValueError(f"{name} is {value!r}, not one of {', '.join(allowed)}")


@dataclass(frozen=True, kw_only=True)
class MetricMetadata:
    """How a score is computed; None: not known, or there is no such thing.

    Parameters
    ----------
    name : str, optional
        Of the metric, as it is registered where it is: ``'pls'``, ``'error_consistency'``.
    kind : str, optional
        ``'regression'``, ``'similarity'``, ``'distribution'``, ``'consistency'``, ``'accuracy'``.
    mapping : str, optional
        How a model's responses are brought to those measured, in words.
    ceiling : str, optional
        What the ceiling means: how it is estimated, and whether it is an upper or a lower bound.
    source : str, optional
        URL.
    notes : tuple of str
        Whatever else a reader should know.

    Raises
    ------
    ValueError
        If something is malformed.
    """

    name: str | None = None
    kind: str | None = None
    mapping: str | None = None
    ceiling: str | None = None
    source: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_texts(self, "name", "kind", "mapping", "ceiling")
        require_url(self, "source")
        require_notes(self, "notes")


@dataclass(frozen=True, kw_only=True)
class BenchmarkMetadata:
    """What a benchmark plugin says about a benchmark, in ``METADATA`` of its ``metadata.py`` or ``__init__.py``.

    ``METADATA`` is a dictionary by identifier, or by a pattern such as ``'Geirhos2021*-top1'``. Version, parent and
    ceiling are the benchmark's own.

    Parameters
    ----------
    title : str, optional
        Name for people.
    description : str, optional
        What is measured, in one or two sentences.
    stimuli : StimuliMetadata
        What is shown.
    data : DataMetadata
        Who was measured, and how.
    metric : MetricMetadata
        How a score is computed.
    bibtex : str, optional
        Citation, where the benchmark's source holds none or more than one.
    notes : tuple of str
        Whatever else a reader should know.

    Raises
    ------
    ValueError
        If something is malformed.

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
    bibtex: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_texts(self, "title", "description")
        for name, cls in (("stimuli", StimuliMetadata), ("data", DataMetadata), ("metric", MetricMetadata)):
            if not isinstance(getattr(self, name), cls):
                raise ValueError(f"{name} is {getattr(self, name)!r}, not a {cls.__name__}")
        require_bibtex(self)
        require_notes(self, "notes")


def metadata_for(identifier: str, table: Mapping[str, BenchmarkMetadata]) -> BenchmarkMetadata | None:
    """Look up a benchmark in a plugin's ``METADATA``.

    Parameters
    ----------
    identifier : str
        Of the benchmark.
    table : mapping of str to BenchmarkMetadata
        By identifier or pattern (``*`` any text, ``?`` any letter).

    Returns
    -------
    BenchmarkMetadata or None
        That of the identifier itself, else of the longest pattern that fits; None where none does.

    Examples
    --------
    >>> table = {"A2020*": BenchmarkMetadata(title="A"), "A2020.V1-*": BenchmarkMetadata(title="V1 of A")}
    >>> metadata_for("A2020.V1-pls", table).title, metadata_for("A2020.V2-pls", table).title
    ('V1 of A', 'A')
    >>> metadata_for("B2021-pls", table) is None
    True
    """
    if identifier in table:
        return table[identifier]
    patterns = [pattern for pattern in table if fnmatch.fnmatchcase(identifier, pattern)]
    return table[max(patterns, key=len)] if patterns else None
