"""Metadata of all registered models and benchmarks as plain values, and which models were trained on which stimuli.

>>> known = catalogue(models="pixels", benchmarks="Simulated2026.V1-pls")
>>> known.models[0].metadata.family, known.benchmarks[0].control
('pixels', True)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.plugins.bibtex import bibtex_entries
from brainscore_core.strict_json import plain
from brainscore_core.training_data import Exposure, Finding, Stated, Training, compare, cycle_from, inherited
from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata
from brainscore_vision.catalogue import listed_benchmark
from brainscore_vision.catalogue.plugins import PluginMetadata, read_plugin_metadata
from brainscore_vision.composition import base_keys
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.model_sources.tables import table_regions
from brainscore_vision.registries import benchmark_registry, model_registry, plugin_index, resolve_benchmark
from brainscore_vision.training_data import packaged_models, packaged_stimuli

if TYPE_CHECKING:
    from brainscore_core.plugins import Location, Registry
    from brainscore_core.scoring import PluginCode


ALL = "all"
_BUILT_IN = "built in"  # source of the plugins of this package


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """A registered model."""

    identifier: str  # key of the registry
    plugin: str  # name of the plugin's folder
    # distribution and distribution_version: the installed package that contains it; None for a private folder
    distribution: str | None = None
    distribution_version: str | None = None
    metadata: ModelMetadata | None = None  # metadata of its plugin; None if missing or unreadable
    # Region → its layers, from the plugin's ``region_layer_map`` or that of its trained twin; None if the layers are in
    # code or selected on benchmarks
    layers: dict[str, tuple[str, ...]] | None = None
    bibtex: str | None = None  # citation from the metadata, else the only one in the plugin's source
    source: str | None = None  # URL of the publication or of the release

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists of plain values, as JSON takes them."""
        return plain(asdict(self))


@dataclass(frozen=True, kw_only=True)
class BenchmarkEntry:
    """A registered benchmark."""

    identifier: str  # key of the registry
    plugin: str  # name of the plugin's folder
    # distribution and distribution_version: the installed package that contains it; None for a private folder
    distribution: str | None = None
    distribution_version: str | None = None
    version: int | str | None = None  # its version; None if only the benchmark itself has it
    # Node of the leaderboard's tree that it counts in; None if there is none, or only the benchmark has it
    parent: str | None = None
    control: bool = False  # whether it is a control, which checks the method and counts in no average
    metadata: BenchmarkMetadata | None = None  # metadata of its plugin; None if missing or unreadable
    bibtex: str | None = None  # citation from the metadata, else the only one in the plugin's source

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists of plain values, as JSON takes them."""
        return plain(asdict(self))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that could not be read, and what is unknown therefore."""

    kind: str  # what is affected; ``'plugins'`` if a whole folder could not be read
    plugin: str | None  # name of the plugin's folder
    # Models or benchmarks that it concerns: those without metadata, or registered twice
    identifiers: tuple[str, ...] = ()
    message: str = ""  # what is wrong, and what to do about it

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return plain(asdict(self))


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Models and benchmarks, each in the order of their identifiers, and what could not be read."""

    models: tuple[ModelEntry, ...] = ()
    benchmarks: tuple[BenchmarkEntry, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """``models``, ``benchmarks`` and ``problems``, each a list of dictionaries of plain values."""
        return {
            name: [entry.as_dict() for entry in getattr(self, name)] for name in ("models", "benchmarks", "problems")
        }


def catalogue(models: str | Iterable[str] = "all", benchmarks: str | Iterable[str] = "all") -> Catalogue:
    """Collect the metadata of models and benchmarks.

    No weights or data are loaded, and no model or benchmark is made. Of each plugin, only ``__init__.py`` and
    ``metadata.py`` are imported; if that fails, its entry has no metadata, and the problems give the reason.

    `models`, `benchmarks`: one or several registered identifiers; ``'all'``: all of them, including controls and
    untrained twins. Result: entries in the order of their identifiers, without duplicates.

    Examples
    --------
    >>> known = catalogue(models=[], benchmarks=["Geirhos2021edge-top1", "Kar2019-ost"])
    >>> [(entry.identifier, entry.version, entry.parent) for entry in known.benchmarks]
    [('Geirhos2021edge-top1', 1, 'Geirhos2021-top1'), ('Kar2019-ost', 2, 'IT')]
    >>> known.benchmarks[1].metadata.data.species
    'macaque'
    >>> known.as_dict()["problems"]
    []
    """
    known_models = _Plugins("models", model_registry)
    known_benchmarks = _Plugins("benchmarks", benchmark_registry)
    model_plugins = known_models.read(models)
    benchmark_plugins = known_benchmarks.read(benchmarks)
    return Catalogue(
        models=tuple(_model(name, plugin, known_models) for name, plugin in model_plugins.items()),
        benchmarks=tuple(_benchmark(name, plugin) for name, plugin in benchmark_plugins.items()),
        problems=(
            *known_models.problems(model_plugins),
            *_cycles(model_plugins, _stated_in(known_models)),
            *known_benchmarks.problems(benchmark_plugins),
            *(Problem(kind="plugins", plugin=None, message=problem) for problem in plugin_index.problems),
        ),
    )


@dataclass(frozen=True, eq=False)
class _ReadPlugin:
    """A plugin and its metadata."""

    place: Location
    code: PluginCode | None
    metadata: PluginMetadata
    citations: tuple[str, ...]

    @property
    def name(self) -> str:
        return _name(self.place)

    def origin(self) -> dict[str, Any]:
        code = self.code
        return {
            "plugin": self.name,
            "distribution": None if code is None else code.distribution,
            "distribution_version": None if code is None else code.version,
        }

    def bibtex(self, metadata: ModelMetadata | BenchmarkMetadata | None) -> str | None:
        if metadata is not None and metadata.bibtex is not None:
            return metadata.bibtex
        return self.citations[0] if len(self.citations) == 1 else None


class _Plugins:
    """The plugins of one kind; each is read once."""

    def __init__(self, kind: str, registry: Registry[Any]) -> None:
        self._kind = kind
        self._registry = registry
        self._read: dict[str, _ReadPlugin] = {}

    def read(self, wanted: str | Iterable[str]) -> dict[str, _ReadPlugin]:
        """Identifier → its plugin."""
        if wanted == ALL:
            names = list(self._registry)
        else:
            names = sorted({wanted} if isinstance(wanted, str) else set(wanted))
        return {name: self.of(name) for name in names}

    def of(self, identifier: str) -> _ReadPlugin:
        """The plugin that registers an identifier."""
        location = self._registry.location(identifier)
        key = f"{location.package} {location.file}"
        if key not in self._read:
            self._read[key] = _read_plugin(self._kind, location)
        return self._read[key]

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._registry)  # the registry looks for new plugins whenever it is asked for an unknown one

    def problems(self, plugins: Mapping[str, _ReadPlugin]) -> Iterator[Problem]:
        """What could not be read of these plugins, and identifiers that are registered twice."""
        for plugin in dict.fromkeys(plugins.values()):
            without = tuple(
                name for name, owner in plugins.items() if owner is plugin and plugin.metadata.of(name) is None
            )
            for message in plugin.metadata.problems:
                yield Problem(kind=self._kind, plugin=plugin.name, identifiers=without, message=message)
        for name, plugin in plugins.items():
            locations = self._registry.locations(name)
            if len(locations) > 1:
                message = (
                    f"registered in {len(locations)} places: {' and '.join(map(str, locations))}; it cannot be loaded"
                )
                yield Problem(kind=self._kind, plugin=plugin.name, identifiers=(name,), message=message)


def _read_plugin(kind: str, place: Location) -> _ReadPlugin:
    from brainscore_core.receipts.environment import describe_plugin

    metadata, folder = read_plugin_metadata(kind, place), place.folder
    if folder is None:
        return _ReadPlugin(place, None, metadata, ())
    return _ReadPlugin(place, describe_plugin(folder), metadata, tuple(bibtex_entries(folder)))


def stated_by() -> Callable[[str], Stated | None]:
    """Return a function that returns what a registered model was trained on; each plugin is read once.

    Examples
    --------
    >>> stated_by()("vit_base_patch16_clip_224:openai_ft_in1k")
    Stated(trained_on=('ImageNet (ILSVRC 2012)',), fine_tuned_from='clip')
    """
    return _stated_in(_Plugins("models", model_registry))


def _stated_in(plugins: _Plugins) -> Callable[[str], Stated | None]:
    def stated(identifier: str) -> Stated | None:
        metadata = _model_metadata(identifier, plugins.of(identifier)) if identifier in plugins else None
        return None if metadata is None else Stated(metadata.trained_on, metadata.fine_tuned_from)

    return stated


def _cycles(models: Mapping[str, _ReadPlugin], stated: Callable[[str], Stated | None]) -> Iterator[Problem]:
    for name, plugin in models.items():
        cycle = cycle_from(name, stated)
        if cycle and cycle[-1] == name:
            message = f"fine_tuned_from of {name!r} leads back to it: {' → '.join(cycle)}"
            yield Problem(kind="models", plugin=plugin.name, identifiers=(name,), message=message)


def _model_metadata(identifier: str, plugin: _ReadPlugin) -> ModelMetadata | None:
    """The metadata of a model, with what this package knows about its training."""
    metadata: ModelMetadata | None = plugin.metadata.of(identifier)
    if metadata is None or metadata.trained_on is not None:
        return metadata
    if metadata.twin_of is not None or metadata.parameters == 0:
        return replace(metadata, trained_on=())
    packaged = packaged_models().get(identifier) if plugin.place.source == _BUILT_IN else None
    if packaged is None:
        return metadata
    return replace(
        metadata, trained_on=packaged.trained_on, fine_tuned_from=metadata.fine_tuned_from or packaged.fine_tuned_from
    )


def _benchmark_metadata(identifier: str, plugin: _ReadPlugin) -> BenchmarkMetadata | None:
    """The metadata of a benchmark, with what this package knows about its stimuli."""
    metadata: BenchmarkMetadata | None = plugin.metadata.of(identifier)
    if metadata is None or metadata.stimuli.taken_from is not None or plugin.place.source != _BUILT_IN:
        return metadata
    return replace(metadata, stimuli=replace(metadata.stimuli, taken_from=packaged_stimuli(identifier)))


def _name(place: Location) -> str:
    return Path(place.file).stem if place.folder is None else place.folder.name.removesuffix(".py")


def _model(identifier: str, plugin: _ReadPlugin, others: _Plugins) -> ModelEntry:
    metadata = _model_metadata(identifier, plugin)
    layers = _layers(identifier, plugin)
    if layers is None and metadata is not None and metadata.twin_of is not None and metadata.twin_of in others:
        layers = _layers(metadata.twin_of, others.of(metadata.twin_of))
    return ModelEntry(
        identifier=identifier,
        **plugin.origin(),
        metadata=metadata,
        layers=layers,
        bibtex=plugin.bibtex(metadata),
        source=None if metadata is None else metadata.source,
    )


def _benchmark(identifier: str, plugin: _ReadPlugin) -> BenchmarkEntry:
    metadata = _benchmark_metadata(identifier, plugin)
    listed = listed_benchmark(identifier)
    return BenchmarkEntry(
        identifier=identifier,
        **plugin.origin(),
        version=listed.version if listed else None,
        parent=listed.parent if listed else None,
        control=listed.control if listed else False,
        metadata=metadata,
        bibtex=plugin.bibtex(metadata),
    )


def _layers(identifier: str, plugin: _ReadPlugin) -> dict[str, tuple[str, ...]] | None:
    """Layers in the plugin's table, or its file for the model or for another identifier with equal metadata."""
    if plugin.place.folder is None:
        return None
    if plugin.place.source == _BUILT_IN and (of_row := table_regions(plugin.place.folder, identifier)):
        return of_row
    folder, table = plugin.place.folder / "region_layer_map", plugin.metadata.table
    same = [name for name, metadata in table.items() if metadata == table.get(identifier)]
    for name in (identifier, *same):
        file = folder / f"{re.sub(r'[:/]', '_', name)}.json"
        if file.is_file():
            return _layers_in(file)
    return None


def _layers_in(file: Path) -> dict[str, tuple[str, ...]] | None:
    try:
        regions = json.loads(file.read_text(encoding="utf-8"))
        return {
            str(region): (layers,) if isinstance(layers, str) else tuple(map(str, layers))
            for region, layers in regions.items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return None  # running the model raises the error


def training_sets(model: str) -> tuple[str, ...] | None:
    """Names of the data sets that a registered model was trained on, with those of the models it was fine-tuned from.

    Result: empty for untrained models, and for those without trained parameters; None if the metadata of the model, or
    of one that it was fine-tuned from, do not state them.

    Examples
    --------
    >>> training_sets("alexnet"), training_sets("alexnet-untrained"), training_sets("hmax")
    (('ImageNet (ILSVRC 2012)',), (), None)
    >>> training_sets("vit_base_patch16_clip_224:openai_ft_in1k")
    ('ImageNet (ILSVRC 2012)', 'WIT-400M')
    """
    training = training_of(model)
    return training.names if training.complete else None


def training_of(model: str) -> Training:
    """Data sets of a registered model and of those that it was fine-tuned from, and whether all of these are stated."""
    model_registry.location(model)  # raises if it is unknown
    return inherited(model, stated_by())


def exposure(model: str, benchmark: str) -> Exposure:
    """Tell whether a model was trained on the stimuli of a benchmark, as far as it is stated.

    Result: the rule is that of :func:`brainscore_vision.training_data.compare`.

    Notes
    -----
    The names of data sets in the benchmark's ``stimuli.taken_from`` and in the ``trained_on`` of the model, and of
    those that it was fine-tuned from, are compared without regard to case. A name that states a part, such as
    ``'ImageNet (ILSVRC 2012), validation'``, is another data set than the whole. No pictures are compared.

    Examples
    --------
    >>> exposure("alexnet", "Geirhos2021contrast-top1"), exposure("alexnet", "ImageNet-top1")
    ('trained on it', 'clean')
    >>> exposure("clip", "Hebart2023-match")
    'unknown'
    """
    return explain_exposure(model, benchmark).state


def explain_exposure(model: str, benchmark: str) -> Finding:
    """Like :func:`exposure`, with the reason.

    Examples
    --------
    >>> explain_exposure("alexnet", "ImageNet-top1").reason
    'the stimuli are from ImageNet (ILSVRC 2012), validation, held out of ImageNet (ILSVRC 2012)'
    """
    model_registry.location(model)  # raises if it is unknown
    key = resolve_benchmark(benchmark)
    return findings_of([(model, key)])[model, key]


def findings_of(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Finding]:
    """Findings of many pairs; the metadata of each plugin are read once.

    `pairs`: what is not registered counts as not known.

    Examples
    --------
    >>> found = findings_of([("alexnet", "Geirhos2021contrast-top1"), ("my-model", "ImageNet-top1")])
    >>> [finding.state for finding in found.values()]
    ['trained on it', 'unknown']
    """
    pairs = list(dict.fromkeys(pairs))
    stated, compared = stated_by(), cache(compare)
    trainings = {model: inherited(model, stated) for model in {model for model, _ in pairs}}
    registered = frozenset(benchmark_registry)
    names = {benchmark: _recordings(benchmark, registered) for benchmark in {benchmark for _, benchmark in pairs}}
    entries = catalogue(models=[], benchmarks=set(filter(None, names.values()))).benchmarks
    taken_from = {entry.identifier: entry.metadata and entry.metadata.stimuli.taken_from for entry in entries}
    return {
        (model, benchmark): compared(trainings[model], taken_from.get(names[benchmark] or ""))
        for model, benchmark in pairs
    }


def _recordings(benchmark: str, registered: frozenset[str]) -> str | None:
    """The registered benchmark whose stimuli a benchmark has; None if there is none."""
    if benchmark in registered:
        return benchmark
    try:
        return base_keys(benchmark)[0] if ":" in benchmark else None
    except UserError:
        return None
