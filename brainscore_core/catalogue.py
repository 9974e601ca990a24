"""Metadata of all registered models and benchmarks, and which models were trained on which stimuli.

Plugins state metadata in ``METADATA`` of their ``metadata.py`` or ``__init__.py``, or in ``metadata.yml``.

>>> from brainscore_core.domains import domain
>>> known = domain("vision").feature("catalogue")(models="pixels", benchmarks="Simulated2026.V1-pls")
>>> known.models[0].metadata.family, known.benchmarks[0].control
('pixels', True)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from brainscore_core.benchmarks.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    longest_match,
    required_fields,
)
from brainscore_core.benchmarks.model_metadata import ModelMetadata
from brainscore_core.domains import domain
from brainscore_core.errors import UserError, nearest
from brainscore_core.plugins.bibtex import bibtex_entries
from brainscore_core.receipts.environment import describe_plugin
from brainscore_core.strict_json import plain
from brainscore_core.training_data import Finding, Stated, Training, compare, cycle_from, inherited

if TYPE_CHECKING:
    from brainscore_core.plugins import Location, PluginIndex, Registry
    from brainscore_core.receipts.receipt import PluginCode

METADATA_FILE: Final = "metadata.yml"
BUILT_IN: Final = "built in"
"""Source of the plugins of a domain's package."""

ALL: Final = "all"


def _text(value: Any) -> str | None:
    if isinstance(value, dict | list):
        raise ValueError("not a string")
    return str(value).strip() or None


def _texts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else (_text(value) or "").split(",")
    return tuple(text for item in items if item is not None and (text := str(item).strip()))


def _names(value: Any) -> tuple[str, ...]:
    """A list of names, which may contain commas."""
    if not isinstance(value, list):
        raise ValueError("not a list; write [] if there are none")
    return tuple(str(item).strip() for item in value if item is not None)


def _notes(value: Any) -> tuple[str, ...]:
    note = _text(value)
    return () if note is None else (note,)


def _number(value: Any) -> float | None:
    if value == "":
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("not a number")
    return value


def _count(value: Any) -> int | None:
    number = _number(value)
    if number is not None and (number != int(number) or number < 0):
        raise ValueError("not a whole number")
    return None if number is None else int(number)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("not true or false")
    return value


def _family(value: Any) -> str | None:
    family = _text(value)
    return None if family is None else "-".join(family.lower().replace("_", "-").split())


_KINDS = {"neur": "neural", "behav": "behavioural", "engin": "engineering"}
"""Prefix of the authors' wording → kind."""


def _kind(value: Any) -> str | None:
    text = _text(value)
    kind = next((kind for prefix, kind in _KINDS.items() if text is not None and text.lower().startswith(prefix)), None)
    if kind is None and text is not None:
        raise ValueError(f"not one of {', '.join(_KINDS.values())}")
    return kind


Reader = Callable[[Any], Any]
_Known = Mapping[str, tuple[str, Reader]]

_MODEL: Final[_Known] = {
    "architecture": ("architecture", _text),
    "model_family": ("family", _family),
    "total_parameter_count": ("total_parameters", _count),
    "trainable_parameter_count": ("parameters", _count),
    "total_layers": ("layers", _count),
    "trainable_layers": ("trained_layers", _count),
    "model_size_mb": ("size_mb", _number),
    "training_dataset": ("training_data", _text),
    "task_specialization": ("task", _text),
    "brainscore_link": ("repository", _text),
    "huggingface_link": ("source", _text),
    "extra_notes": ("notes", _notes),
    "runnable": ("runnable", _flag),
    "trained_on": ("trained_on", _names),
    "fine_tuned_from": ("fine_tuned_from", _text),
}
"""Field of ``metadata.yml`` → the field of metadata, and how it is read."""

_OF_PART: Final[_Known] = {"brainscore_link": ("source", _text), "extra_notes": ("notes", _notes)}
_BENCHMARK: Final[Mapping[str, _Known]] = {
    "stimulus_set": {
        "num_stimuli": ("n", _count),
        "datatype": ("datatype", _text),
        "stimuli_subtype": ("kind", _text),
        "total_size_mb": ("size_mb", _number),
        "taken_from": ("taken_from", _names),
        **_OF_PART,
    },
    "data": {
        "benchmark_type": ("kind", _kind),
        "region": ("regions", _texts),
        "num_recording_sites": ("n_neuroids", _count),
        "duration_ms": ("duration_ms", _number),
        "datatype": ("method", _text),
        "num_subjects": ("n_subjects", _count),
        "pre_processing": ("preprocessing", _text),
        **{name: (name, _text) for name in ("task", "hemisphere", "species", "licence", "terms")},
        **_OF_PART,
    },
    "metric": {"mapping": ("mapping", _text), "metric": ("name", _text), **_OF_PART},
}


def _read(values: Any, known: _Known, place: str, prefix: str = "") -> dict[str, Any]:
    """Fields of metadata from those of ``metadata.yml``; empty ones are left out."""
    if not isinstance(values, dict | None):
        raise ValueError(f"{place} is a {type(values).__name__}, not fields with values")
    fields = {}
    for name, value in (values or {}).items():
        if name not in known:
            near = nearest(str(name), list(known), limit=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"there is no field {prefix + str(name)!r}; {hint}")
        attribute, read = known[name]
        try:
            fields[attribute] = None if value is None else read(value)
        except ValueError as error:
            raise ValueError(f"{prefix}{name} is {value!r}, {error}") from None
    return {attribute: value for attribute, value in fields.items() if value is not None}


def _read_model(values: Any, place: str) -> ModelMetadata:
    fields: dict[str, Any] = dict.fromkeys(required_fields(ModelMetadata)) | _read(values, _MODEL, place)
    notes = [*fields.pop("notes", ())]
    if task := fields.pop("task", None):
        notes.append(f"Trained for: {task}.")
    layers, trained = fields.pop("layers", None), fields.pop("trained_layers", None)
    if layers is not None:
        notes.append(f"{layers} layers{'' if trained is None else f', {trained} of them trained'}.")
    if not fields.get("runnable", True):
        notes.append("Its authors say that it cannot be run.")
    repository = fields.pop("repository", None)
    fields["source"] = fields["source"] or repository
    if fields["parameters"] is None:
        fields["parameters"] = fields.get("total_parameters")
    return ModelMetadata(**fields, notes=tuple(notes))


def _read_benchmark(values: Any, place: str) -> BenchmarkMetadata:
    parts = _read(values, {name: (name, lambda part: part) for name in _BENCHMARK}, place)
    stimuli, data, metric = (_read(parts.get(name), known, name, f"{name}.") for name, known in _BENCHMARK.items())
    return BenchmarkMetadata(
        stimuli=StimuliMetadata(**{"datatype": None, **stimuli}),
        data=DataMetadata(**data),
        metric=MetricMetadata(**metric),
    )


_CLASSES: Final[Mapping[str, tuple[type[ModelMetadata] | type[BenchmarkMetadata], Callable[[Any, str], Any]]]] = {
    "models": (ModelMetadata, _read_model),
    "benchmarks": (BenchmarkMetadata, _read_benchmark),
}


@dataclass(frozen=True)
class MetadataFile:
    """Metadata in one file, by identifier, and the problems of invalid entries."""

    models: dict[str, ModelMetadata] = field(default_factory=dict)
    benchmarks: dict[str, BenchmarkMetadata] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_metadata_file(file: Path) -> MetadataFile:
    """Read a plugin's ``metadata.yml``.

    ``models`` holds, by identifier, ``architecture``, ``model_family``, ``total_parameter_count`` and so on;
    ``benchmarks`` the parts ``stimulus_set``, ``data`` and ``metric``. Empty fields are unknown. An invalid entry is
    left out, and the problems explain what is wrong with it.

    Result: the same dataclasses that plugins write in Python. A UserError if PyYAML is not installed, or the file is
    not valid YAML or has another layout.
    """
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError(f"{file} cannot be read without PyYAML", remedy="pip install pyyaml") from error
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(
            f"{file} is not valid YAML: {' '.join(str(error).split())}", remedy="fix or remove it"
        ) from error
    if not isinstance(content, dict):
        raise UserError(
            f"{file} holds a {type(content).__name__}", remedy="write 'models:' or 'benchmarks:', then identifiers"
        )
    problems = []
    if unknown := sorted(map(str, set(content) - set(_CLASSES))):
        problems.append(f"{file}: {', '.join(unknown)} at the top is neither 'models' nor 'benchmarks'")
    metadata: dict[str, dict[str, Any]] = {"models": {}, "benchmarks": {}}
    for kind, (_, read) in _CLASSES.items():
        entries = content.get(kind) or {}
        if not isinstance(entries, dict):
            problems.append(f"{file}: {kind!r} holds a {type(entries).__name__}, not entries by identifier")
            continue
        for identifier, entry in entries.items():
            try:
                metadata[kind][str(identifier)] = read(entry, f"{kind}: {identifier}")
            except ValueError as error:
                problems.append(f"{file}: {kind}: {identifier}: {error}")
    return MetadataFile(**metadata, problems=tuple(problems))


@dataclass(frozen=True)
class PluginMetadata:
    """Metadata of one plugin by identifier (for benchmarks also by pattern), and what could not be read."""

    table: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def of(self, identifier: str) -> Any:
        """Metadata of one model or benchmark; None if the plugin has none for it."""
        return longest_match(identifier, self.table)


def read_plugin_metadata(kind: str, place: Location, index: PluginIndex) -> PluginMetadata:
    """Read a plugin's ``metadata.yml``, and ``METADATA`` of its ``metadata.py`` or else of its ``__init__.py``.

    Where both describe the same model or benchmark, Python takes precedence. Of the plugin, only its package and its
    module ``metadata`` are imported. Errors are not raised: the problems list what cannot be imported or read.

    `kind`: ``'models'`` or ``'benchmarks'``. `place`: location of the plugin, which `index` finds.
    """
    table: dict[str, Any] = {}
    problems: list[str] = []
    folder = place.folder if place.folder is not None and place.folder.is_dir() else None
    if folder is not None and (folder / METADATA_FILE).is_file():
        try:
            content = read_metadata_file(folder / METADATA_FILE)
        except UserError as error:
            problems.append(str(error))
        else:
            table |= getattr(content, kind)
            problems += content.problems
    try:
        if place.source == "this process":
            module = sys.modules.get(place.package)
        else:
            index.load(index.plugin_at(place))
            apart = folder is not None and (folder / "metadata.py").is_file()
            module = importlib.import_module(f"{place.package}.metadata" if apart else place.package)
        declared = getattr(module, "METADATA", {})
    except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
        text = ": ".join(filter(None, (type(error).__name__, str(error).strip())))
        return PluginMetadata(table, (*problems, f"cannot be imported: {text}"))
    if not isinstance(declared, Mapping):
        problems.append(f"METADATA of {place.package} is a {type(declared).__name__}, not a dictionary by identifier")
        return PluginMetadata(table, tuple(problems))
    cls = _CLASSES[kind][0]
    for identifier, metadata in declared.items():
        if isinstance(metadata, cls):
            table[identifier] = metadata
        elif not isinstance(metadata, ModelMetadata | BenchmarkMetadata):  # a plugin may hold both
            actual = type(metadata).__name__
            problems.append(f"METADATA[{identifier!r}] of {place.package} is a {actual}, not a {cls.__name__}")
    return PluginMetadata(table, tuple(problems))


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What models and benchmarks have in common."""

    identifier: str  # key of the registry
    plugin: str  # name of the plugin's folder
    # distribution and distribution_version: the installed package that contains it; None for a private folder
    distribution: str | None = None
    distribution_version: str | None = None
    bibtex: str | None = None  # citation from the metadata, else the only one in the plugin's source

    def as_dict(self) -> dict[str, Any]:
        """Nested dictionaries and lists of plain values, as JSON takes them."""
        return plain(asdict(self))


@dataclass(frozen=True, kw_only=True)
class ModelEntry(_Entry):
    """A registered model."""

    metadata: ModelMetadata | None = None  # metadata of its plugin; None if missing or unreadable
    # Region → its layers, from the plugin's ``region_layer_map`` or that of its trained twin; None if the layers are in
    # code or selected on benchmarks
    layers: dict[str, tuple[str, ...]] | None = None
    source: str | None = None  # URL of the publication or of the release


@dataclass(frozen=True, kw_only=True)
class BenchmarkEntry(_Entry):
    """A registered benchmark."""

    metadata: BenchmarkMetadata | None = None  # metadata of its plugin; None if missing or unreadable
    version: int | str | None = None  # its version; None if only the benchmark itself has it
    # Node of the leaderboard's tree that it counts in; None if there is none, or only the benchmark has it
    parent: str | None = None
    control: bool = False  # whether it is a control, which checks the method and counts in no average


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that could not be read, and what is unknown therefore."""

    kind: str  # what is affected; ``'plugins'`` if a whole folder could not be read
    plugin: str | None  # name of the plugin's folder
    # Models or benchmarks that it concerns: those without metadata, or registered twice
    identifiers: tuple[str, ...] = ()
    message: str = ""  # what is wrong, and what to do about it


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Models and benchmarks, each in the order of their identifiers, and what could not be read."""

    models: tuple[ModelEntry, ...] = ()
    benchmarks: tuple[BenchmarkEntry, ...] = ()
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """``models``, ``benchmarks`` and ``problems``, each a list of dictionaries of plain values."""
        return plain(asdict(self))


@dataclass(frozen=True, eq=False)
class ReadPlugin:
    """A plugin and its metadata."""

    place: Location
    metadata: PluginMetadata
    citations: tuple[str, ...]

    @property
    def built_in(self) -> bool:
        """Whether it is of the domain's package."""
        return self.place.source == BUILT_IN

    @property
    def name(self) -> str:
        """Name of its folder, or of its file."""
        folder = self.place.folder
        return Path(self.place.file).stem if folder is None else folder.name.removesuffix(".py")

    @cached_property
    def code(self) -> PluginCode | None:
        """Its distribution; None if it is not in a folder."""
        return None if self.place.folder is None else describe_plugin(self.place.folder)

    def entry_fields(self, metadata: Any) -> dict[str, Any]:
        """Fields of an entry with this metadata."""
        only = self.citations[0] if len(self.citations) == 1 else None
        return {
            "plugin": self.name,
            "distribution": None if self.code is None else self.code.distribution,
            "distribution_version": None if self.code is None else self.code.version,
            "metadata": metadata,
            "bibtex": only if metadata is None or metadata.bibtex is None else metadata.bibtex,
        }


class _Plugins:
    """The plugins of one kind; each is read once."""

    def __init__(self, kind: str, registry: Registry[Any], index: PluginIndex) -> None:
        self._kind = kind
        self._registry = registry
        self._index = index
        self._read: dict[str, ReadPlugin] = {}

    def read(self, requested: str | Iterable[str]) -> dict[str, ReadPlugin]:
        """Identifier → its plugin."""
        if requested == ALL:
            return {name: self.of(name) for name in self._registry}
        return {name: self.of(name) for name in sorted({requested} if isinstance(requested, str) else set(requested))}

    def of(self, identifier: str) -> ReadPlugin:
        """The plugin that registers an identifier."""
        place = self._registry.location(identifier)
        key = f"{place.package} {place.file}"
        if key not in self._read:
            metadata = read_plugin_metadata(self._kind, place, self._index)
            citations = () if place.folder is None else tuple(bibtex_entries(place.folder))
            self._read[key] = ReadPlugin(place, metadata, citations)
        return self._read[key]

    @cached_property
    def names(self) -> frozenset[str]:
        """All identifiers; the registry looks for new plugins whenever it is asked for an unknown one."""
        return frozenset(self._registry)

    def problems(self, plugins: Mapping[str, ReadPlugin]) -> Iterator[Problem]:
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
                places = " and ".join(map(str, locations))
                message = f"registered in {len(locations)} places: {places}; it cannot be loaded"
                yield Problem(kind=self._kind, plugin=plugin.name, identifiers=(name,), message=message)


@dataclass(frozen=True)
class DomainCatalogue:
    """Collects the metadata of a domain's models and benchmarks.

    - `name`: name of the domain.
    - `complete_model`, `complete_benchmark`: from identifier and metadata of a plugin of the domain's package, the
      metadata with what the package knows besides.
    - `layers_of`: from an identifier and its plugin, region → layers; None if they are not known.
    - `recordings_of`: the registered benchmark whose stimuli a benchmark that is not registered has; None if there is
      none.
    """

    name: str
    complete_model: Callable[[str, ModelMetadata], ModelMetadata] = lambda identifier, metadata: metadata
    complete_benchmark: Callable[[str, BenchmarkMetadata], BenchmarkMetadata] = lambda identifier, metadata: metadata
    layers_of: Callable[[str, ReadPlugin], dict[str, tuple[str, ...]] | None] = lambda identifier, plugin: None
    recordings_of: Callable[[str], str | None] = lambda benchmark: None

    def __call__(self, models: str | Iterable[str] = ALL, benchmarks: str | Iterable[str] = ALL) -> Catalogue:
        """Collect the metadata of models and benchmarks.

        No weights or data are loaded, and no model or benchmark is made. Of each plugin, only ``__init__.py`` and
        ``metadata.py`` are imported; if that fails, its entry has no metadata, and the problems give the reason.

        `models`, `benchmarks`: one or several registered identifiers; ``'all'``: all of them, including controls and
        untrained twins. Result: entries in the order of their identifiers, without duplicates.
        """
        model_plugins, benchmark_plugins = self._plugins("model"), self._plugins("benchmark")
        of_models, of_benchmarks = model_plugins.read(models), benchmark_plugins.read(benchmarks)
        return Catalogue(
            models=tuple(self._model(name, plugin, model_plugins) for name, plugin in of_models.items()),
            benchmarks=tuple(self._benchmark(name, plugin) for name, plugin in of_benchmarks.items()),
            problems=(
                *model_plugins.problems(of_models),
                *self._cycles(of_models, self._stated(model_plugins)),
                *benchmark_plugins.problems(of_benchmarks),
                *(
                    Problem(kind="plugins", plugin=None, message=problem)
                    for problem in domain(self.name).plugin_index.problems
                ),
            ),
        )

    def training_of(self, model: str) -> Training:
        """Data sets of a registered model and of those that it was fine-tuned from, and whether all are stated."""
        domain(self.name).registries["model"].location(model)  # raises if it is unknown
        return inherited(model, self._stated(self._plugins("model")))

    def findings_of(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Finding]:
        """Whether models were trained on the stimuli of benchmarks, by the names of data sets.

        `pairs`: what is not registered counts as not known. The metadata of each plugin are read once.
        """
        pairs = list(dict.fromkeys(pairs))
        stated, compared = self._stated(self._plugins("model")), cache(compare)
        trainings = {model: inherited(model, stated) for model in {model for model, _ in pairs}}
        registered = frozenset(domain(self.name).registries["benchmark"])
        names = {name: name if name in registered else self.recordings_of(name) for _, name in pairs}
        entries = self(models=[], benchmarks=set(filter(None, names.values()))).benchmarks
        taken_from = {entry.identifier: entry.metadata and entry.metadata.stimuli.taken_from for entry in entries}
        return {
            (model, benchmark): compared(trainings[model], taken_from.get(names[benchmark] or ""))
            for model, benchmark in pairs
        }

    def _plugins(self, kind: str) -> _Plugins:
        described = domain(self.name)
        return _Plugins(f"{kind}s", described.registries[kind], described.plugin_index)

    def _metadata_of_model(self, identifier: str, plugin: ReadPlugin) -> ModelMetadata | None:
        """The metadata of a model, with what the domain's package knows about its training."""
        metadata: ModelMetadata | None = plugin.metadata.of(identifier)
        if metadata is None or metadata.trained_on is not None:
            return metadata
        if metadata.twin_of is not None or metadata.parameters == 0:
            return replace(metadata, trained_on=())
        return self.complete_model(identifier, metadata) if plugin.built_in else metadata

    def _stated(self, plugins: _Plugins) -> Callable[[str], Stated | None]:
        """What a registered model was trained on."""

        def stated(identifier: str) -> Stated | None:
            registered = identifier in plugins.names
            metadata = self._metadata_of_model(identifier, plugins.of(identifier)) if registered else None
            return None if metadata is None else Stated(metadata.trained_on, metadata.fine_tuned_from)

        return stated

    @staticmethod
    def _cycles(models: Mapping[str, ReadPlugin], stated: Callable[[str], Stated | None]) -> Iterator[Problem]:
        for name, plugin in models.items():
            cycle = cycle_from(name, stated)
            if cycle and cycle[-1] == name:
                message = f"fine_tuned_from of {name!r} leads back to it: {' → '.join(cycle)}"
                yield Problem(kind="models", plugin=plugin.name, identifiers=(name,), message=message)

    def _model(self, identifier: str, plugin: ReadPlugin, others: _Plugins) -> ModelEntry:
        metadata = self._metadata_of_model(identifier, plugin)
        layers, twin = self.layers_of(identifier, plugin), metadata and metadata.twin_of
        if layers is None and twin is not None and twin in others.names:
            layers = self.layers_of(twin, others.of(twin))
        source = None if metadata is None else metadata.source
        return ModelEntry(identifier=identifier, **plugin.entry_fields(metadata), layers=layers, source=source)

    def _benchmark(self, identifier: str, plugin: ReadPlugin) -> BenchmarkEntry:
        metadata: BenchmarkMetadata | None = plugin.metadata.of(identifier)
        if metadata is not None and metadata.stimuli.taken_from is None and plugin.built_in:
            metadata = self.complete_benchmark(identifier, metadata)
        listed = domain(self.name).table.listed(identifier)
        placement = {} if listed is None else listed._asdict()
        return BenchmarkEntry(identifier=identifier, **plugin.entry_fields(metadata), **placement)
