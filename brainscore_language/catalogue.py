"""What is known of the models and benchmarks of language without making them: metadata, versions, citations."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from brainscore_core.benchmarks.metadata import longest_match
from brainscore_core.plugins.bibtex import bibtex_entries
from brainscore_core.receipts.environment import describe_plugin
from brainscore_core.runner.reproduction import PublishedScore
from brainscore_core.training_data import Finding, Stated, Training, compare, inherited
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
    metadata: Any = None  # BenchmarkMetadata or ModelMetadata
    layers: None = None
    source: str | None = None

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
        try:
            metadata = _metadata(place, identifier)
        except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
            problems.append(Problem(f"{kind}s", place.package, f"{type(error).__name__}: {error}"))
        yield Entry(
            identifier,
            plugin="" if folder is None else folder.name,
            distribution=None if code is None else code.distribution,
            distribution_version=None if code is None else code.version,
            bibtex=(metadata and metadata.bibtex) or (citations[0] if len(citations) == 1 else None),
            **({} if listed is None else listed._asdict()),
            metadata=metadata,
            source=getattr(metadata, "source", None),
        )


def training_of(model: str) -> Training:
    """Data sets of a registered model and of those that it was fine-tuned from, and whether all of these are stated."""
    return inherited(model, _stated)


def findings_of(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Finding]:
    """Whether models were trained on the texts of benchmarks, by the names of data sets.

    Examples
    --------
    >>> pairs = [("gpt-neo-125m", "Wikitext-accuracy"), ("gpt2", "Wikitext-accuracy"), ("phi-2", "Wikitext-accuracy")]
    >>> [finding.state for finding in findings_of(pairs).values()]
    ['trained on it', 'clean', 'unknown']
    """
    pairs = list(dict.fromkeys(pairs))
    trainings = {model: training_of(model) for model in {model for model, _ in pairs}}
    registered = {benchmark for _, benchmark in pairs if benchmark in REGISTRIES["benchmark"]}
    entries = catalogue(models=[], benchmarks=registered).benchmarks
    taken_from = {entry.identifier: entry.metadata and entry.metadata.stimuli.taken_from for entry in entries}
    return {(model, name): compare(trainings[model], taken_from.get(name)) for model, name in pairs}


def _stated(model: str) -> Stated | None:
    if model not in REGISTRIES["model"]:
        return None
    (entry,) = catalogue(models=[model], benchmarks=[]).models
    return None if entry.metadata is None else Stated(entry.metadata.trained_on, entry.metadata.fine_tuned_from)


def _metadata(place: Location, identifier: str) -> Any:
    importlib.import_module(place.package)
    apart = place.folder is not None and (place.folder / "metadata.py").is_file()
    module = importlib.import_module(f"{place.package}.metadata" if apart else place.package)
    return longest_match(identifier, getattr(module, "METADATA", {}))


PUBLISHED_SCORES: Final = tuple(
    PublishedScore(model=model, benchmark=benchmark, value=value, tolerance=0.005)
    for model, benchmark, value in (
        ("distilgpt2", "Futrell2018-pearsonr", 0.36144805),
        ("gpt2-xl", "Futrell2018-pearsonr", 0.31825621),
        ("distilgpt2", "Pereira2018.243sentences-linear-shuffle", 0.82228507),
        ("glove-840b", "Pereira2018.384sentences-linear-shuffle", 0.18385368),
        ("randomembedding-100", "Pereira2018.243sentences-linear-shuffle", 0.0285022),
    )
)
"""Five pairs that tests of brainscore_language 2.3 score."""
