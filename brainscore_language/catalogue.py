"""What is known of the models and benchmarks of language without making them: metadata, versions, citations."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.benchmarks.metadata import BenchmarkMetadata, metadata_for
from brainscore_core.plugins.bibtex import bibtex_entries
from brainscore_core.receipts.environment import describe_plugin
from brainscore_language import REGISTRIES
from brainscore_language.domain import DOMAIN

if TYPE_CHECKING:
    from brainscore_core.plugins import Location


class Entry(NamedTuple):
    """A model or a benchmark; None means unknown."""

    identifier: str
    plugin: str
    distribution: str | None
    distribution_version: str | None
    bibtex: str | None
    version: int | str | None = None
    parent: str | None = None
    control: bool = False
    metadata: BenchmarkMetadata | None = None
    layers: None = None
    source: None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return {**self._asdict(), "metadata": None if self.metadata is None else asdict(self.metadata)}


class Problem(NamedTuple):
    """A plugin that could not be read, and why."""

    kind: str  # ``'models'`` or ``'benchmarks'``
    plugin: str
    message: str


class Catalogue(NamedTuple):
    """Models and benchmarks, each in the order of their identifiers, and what could not be read."""

    models: tuple[Entry, ...]
    benchmarks: tuple[Entry, ...]
    problems: tuple[Problem, ...]


def catalogue(models: str | Iterable[str] = "all", benchmarks: str | Iterable[str] = "all") -> Catalogue:
    """Collect what is known of models and benchmarks; no weights or data are loaded.

    `models`, `benchmarks`: registered identifiers; ``'all'``: all of them.

    Examples
    --------
    >>> (entry,) = catalogue(models=[], benchmarks=["NaturalStories2021-added"]).benchmarks
    >>> entry.version, entry.metadata.stimuli.n, entry.metadata.stimuli.kind
    (1, 10256, 'words of 10 stories')
    """
    problems: list[Problem] = []
    of_models = tuple(_entries("model", models, problems))
    return Catalogue(of_models, tuple(_entries("benchmark", benchmarks, problems)), tuple(problems))


def _entries(kind: str, names: str | Iterable[str], problems: list[Problem]) -> Iterator[Entry]:
    registry = REGISTRIES[kind]
    for identifier in sorted(registry if names == "all" else names):
        place = registry.location(identifier)
        folder = place.folder
        code = None if folder is None else describe_plugin(folder)
        citations = [] if folder is None else bibtex_entries(folder)
        metadata, listed = None, DOMAIN.table.listed(identifier)
        if kind == "benchmark":
            try:
                metadata = _metadata(place, identifier)
            except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
                problems.append(Problem("benchmarks", place.package, f"{type(error).__name__}: {error}"))
        yield Entry(
            identifier,
            plugin="" if folder is None else folder.name,
            distribution=None if code is None else code.distribution,
            distribution_version=None if code is None else code.version,
            bibtex=(metadata and metadata.bibtex) or (citations[0] if len(citations) == 1 else None),
            **({} if listed is None else listed._asdict()),
            metadata=metadata,
        )


def _metadata(place: Location, identifier: str) -> BenchmarkMetadata | None:
    return metadata_for(identifier, getattr(importlib.import_module(place.package), "METADATA", {}))
