"""Metadata of plugins, in files and modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError, nearest
from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    longest_match,
)
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.registries import plugin_index

if TYPE_CHECKING:
    from brainscore_core.plugins import Location

METADATA_FILE = "metadata.yml"

_MODEL = (
    *("architecture", "model_family", "total_parameter_count", "trainable_parameter_count", "total_layers"),
    *("trainable_layers", "model_size_mb", "training_dataset", "task_specialization", "brainscore_link"),
    *("huggingface_link", "extra_notes", "runnable", "trained_on", "fine_tuned_from"),
)
_BENCHMARK = {
    "stimulus_set": (
        *("num_stimuli", "datatype", "stimuli_subtype", "total_size_mb", "brainscore_link", "extra_notes"),
        "taken_from",
    ),
    "data": (
        *("benchmark_type", "task", "region", "hemisphere", "num_recording_sites", "duration_ms", "species"),
        *("datatype", "num_subjects", "pre_processing", "brainscore_link", "extra_notes", "licence", "terms"),
    ),
    "metric": ("mapping", "metric", "brainscore_link", "extra_notes"),
}
_KINDS = {"neur": "neural", "behav": "behavioural", "engin": "engineering"}
"""Prefix of the authors' wording → kind."""


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
    content = _load(file)
    problems: list[str] = []
    unknown = sorted(map(str, set(content) - {"models", "benchmarks"}))
    if unknown:
        problems.append(f"{file}: {', '.join(unknown)} at the top is neither 'models' nor 'benchmarks'")
    models = _entries(file, content, "models", _model_metadata, problems)
    benchmarks = _entries(file, content, "benchmarks", _benchmark_metadata, problems)
    return MetadataFile(models, benchmarks, tuple(problems))


def _load(file: Path) -> dict[Any, Any]:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError(f"{file} cannot be read without PyYAML", remedy="pip install pyyaml") from error
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(
            f"{file} is not valid YAML: {' '.join(str(error).split())}", remedy="fix or remove it"
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(
            f"{file} holds a {type(content).__name__}", remedy="write 'models:' or 'benchmarks:', then identifiers"
        )
    return content


def _entries(
    file: Path, content: Mapping[Any, Any], kind: str, translate: Callable[[_Fields], Any], problems: list[str]
) -> dict[str, Any]:
    entries = content.get(kind) or {}
    if not isinstance(entries, dict):
        problems.append(f"{file}: {kind!r} holds a {type(entries).__name__}, not entries by identifier")
        return {}
    translated = {}
    for identifier, entry in entries.items():
        try:
            translated[str(identifier)] = translate(_Fields.of(entry, f"{kind}: {identifier}"))
        except ValueError as error:
            problems.append(f"{file}: {kind}: {identifier}: {error}")
    return translated


def _model_metadata(given: _Fields) -> ModelMetadata:
    given.only(*_MODEL)
    total, trained = given.count("total_parameter_count"), given.count("trainable_parameter_count")
    runnable = given.flag("runnable", default=True)
    notes = [*given.notes()]
    if task := given.text("task_specialization"):
        notes.append(f"Trained for: {task}.")
    layers, trained_layers = given.count("total_layers"), given.count("trainable_layers")
    if layers is not None:
        trainable = "" if trained_layers is None else f", {trained_layers} of them trained"
        notes.append(f"{layers} layers{trainable}.")
    if not runnable:
        notes.append("Its authors say that it cannot be run.")
    family = given.text("model_family")
    return ModelMetadata(
        architecture=given.text("architecture"),
        family=None if family is None else "-".join(family.lower().replace("_", "-").split()),
        parameters=total if trained is None else trained,
        total_parameters=total,
        size_mb=given.number("model_size_mb"),
        training_data=given.text("training_dataset"),
        trained_on=given.names("trained_on"),
        fine_tuned_from=given.text("fine_tuned_from"),
        code_licence=None,
        weights_licence=None,
        source=given.text("huggingface_link") or given.text("brainscore_link"),
        bibtex=None,
        runnable=runnable,
        notes=tuple(notes),
    )


def _benchmark_metadata(given: _Fields) -> BenchmarkMetadata:
    given.only(*_BENCHMARK)
    stimuli, data, metric = (given.part(name).only(*known) for name, known in _BENCHMARK.items())
    return BenchmarkMetadata(
        stimuli=StimuliMetadata(
            n=stimuli.count("num_stimuli"),
            kind=stimuli.text("stimuli_subtype"),
            datatype=stimuli.text("datatype"),
            size_mb=stimuli.number("total_size_mb"),
            source=stimuli.text("brainscore_link"),
            taken_from=stimuli.names("taken_from"),
            notes=stimuli.notes(),
        ),
        data=DataMetadata(
            kind=data.kind("benchmark_type"),
            species=data.text("species"),
            regions=data.texts("region"),
            task=data.text("task"),
            method=data.text("datatype"),
            n_subjects=data.count("num_subjects"),
            n_neuroids=data.count("num_recording_sites"),
            hemisphere=data.text("hemisphere"),
            duration_ms=data.number("duration_ms"),
            preprocessing=data.text("pre_processing"),
            source=data.text("brainscore_link"),
            licence=data.text("licence"),
            terms=data.text("terms"),
            notes=data.notes(),
        ),
        metric=MetricMetadata(
            name=metric.text("metric"),
            mapping=metric.text("mapping"),
            source=metric.text("brainscore_link"),
            notes=metric.notes(),
        ),
    )


@dataclass(frozen=True)
class _Fields:
    """The fields of an entry or of one of its parts; `prefix` names the part in messages."""

    values: Mapping[str, Any]
    prefix: str = ""

    @classmethod
    def of(cls, values: Any, where: str, prefix: str = "") -> _Fields:
        if values is None:
            return cls({}, prefix)
        if not isinstance(values, dict):
            raise ValueError(f"{where} is a {type(values).__name__}, not fields with values")
        return cls({str(name): value for name, value in values.items()}, prefix)

    def part(self, name: str) -> _Fields:
        return self.of(self.values.get(name), name, f"{name}.")

    def only(self, *names: str) -> _Fields:
        for name in self.values:
            if name not in names:
                near = nearest(name, names, limit=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
                raise ValueError(f"there is no field {self.prefix + name!r}{hint}")
        return self

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if isinstance(value, dict | list):
            raise ValueError(f"{self.prefix}{name} is {value!r}, not a string")
        return (str(value).strip() or None) if value is not None else None

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if isinstance(value, list):
            return tuple(str(item).strip() for item in value if item is not None)
        text = self.text(name)
        return () if text is None else tuple(item.strip() for item in text.split(",") if item.strip())

    def names(self, name: str) -> tuple[str, ...] | None:
        """A list of names, which may contain commas; None if nothing is given."""
        value = self.values.get(name)
        if value is None or isinstance(value, list):
            return None if value is None else tuple(str(item).strip() for item in value if item is not None)
        raise ValueError(f"{self.prefix}{name} is {value!r}, not a list; write [] if there are none")

    def notes(self) -> tuple[str, ...]:
        note = self.text("extra_notes")
        return () if note is None else (note,)

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ValueError(f"{self.prefix}{name} is {value!r}, not a number")
        return value

    def count(self, name: str) -> int | None:
        value = self.number(name)
        if value is None:
            return None
        if value != int(value) or value < 0:
            raise ValueError(f"{self.prefix}{name} is {value!r}, not a whole number")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ValueError(f"{self.prefix}{name} is {value!r}, not true or false")
        return value

    def kind(self, name: str) -> Any:
        value = self.text(name)
        if value is None:
            return None
        for beginning, kind in _KINDS.items():
            if value.lower().startswith(beginning):
                return kind
        raise ValueError(f"{self.prefix}{name} is {value!r}, not one of {', '.join(_KINDS.values())}")


_CLASSES: Mapping[str, type[ModelMetadata] | type[BenchmarkMetadata]] = {
    "models": ModelMetadata,
    "benchmarks": BenchmarkMetadata,
}


@dataclass(frozen=True)
class PluginMetadata:
    """Metadata of one plugin by identifier (for benchmarks also by pattern), and what could not be read."""

    table: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def of(self, identifier: str) -> Any:
        """Metadata of one model or benchmark; None if the plugin has none for it."""
        if identifier in self.table:
            return self.table[identifier]
        return longest_match(identifier, self.table)


def read_plugin_metadata(kind: str, place: Location) -> PluginMetadata:
    """Read a plugin's ``metadata.yml``, and ``METADATA`` of its ``metadata.py`` or else of its ``__init__.py``.

    Where both describe the same model or benchmark, Python takes precedence. Of the plugin, only its package and its
    module ``metadata`` are imported. Errors are not raised: the problems list what cannot be imported or read.

    `kind`: ``'models'`` or ``'benchmarks'``. `place`: location of the plugin.
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
        module = _metadata_module(place, folder)
        declared = getattr(module, "METADATA", {})
    except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
        return PluginMetadata(table, (*problems, f"cannot be imported: {_error_text(error)}"))
    if not isinstance(declared, Mapping):
        problems.append(f"METADATA of {place.package} is a {type(declared).__name__}, not a dictionary by identifier")
        return PluginMetadata(table, tuple(problems))
    for identifier, metadata in declared.items():
        if isinstance(metadata, _CLASSES[kind]):
            table[identifier] = metadata
        elif not isinstance(metadata, ModelMetadata | BenchmarkMetadata):  # a plugin may hold both
            cls = _CLASSES[kind].__name__
            problems.append(f"METADATA[{identifier!r}] of {place.package} is a {type(metadata).__name__}, not a {cls}")
    return PluginMetadata(table, tuple(problems))


def _metadata_module(place: Location, folder: Path | None) -> Any:
    """The module that holds ``METADATA``, imported after the plugin."""
    if place.source == "this process":
        return sys.modules.get(place.package)
    plugin_index.load(plugin_index.plugin_at(place))
    if folder is not None and (folder / "metadata.py").is_file():
        return importlib.import_module(f"{place.package}.metadata")
    return importlib.import_module(place.package)


def _error_text(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
