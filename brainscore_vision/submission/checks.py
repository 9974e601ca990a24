"""Checks of plugins, named by an identifier, a plugin folder, or a function in a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.plugins.conformance import CheckedReference
from brainscore_core.plugins.file_references import is_file_reference, load_file_reference
from brainscore_vision.catalogue.plugins import make_discoverable, registrations_in
from brainscore_vision.model_sources.unregistered import to_unregistered_model
from brainscore_vision.registries import LOADERS, REGISTRIES, load_model

if TYPE_CHECKING:
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import Check
    from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata
    from brainscore_vision.model_helpers.metadata import ModelMetadata

_REGISTRIES = {
    "benchmark": ("benchmark",),
    "data": ("data", "stimulus_set"),
    "metric": ("metric",),
    "model": ("model",),
}
"""Kind of plugin → registries, as `brainscore_vision.registries.REGISTRIES` names them."""

_PARENTS = (
    "V1", "V2", "V4", "IT", "behavior", "engineering", "control",
    "neural_vision", "behavior_vision", "engineering_vision", "average_vision",
    "V1-orientation", "V1-spatial_frequency", "V1-response_selectivity", "V1-receptive_field_size",
    "V1-surround_modulation", "V1-texture_modulation", "V1-response_magnitude",
)  # fmt: skip
"""Parents under which benchmarks are averaged; a study may add groups of its own."""


_PUBLISHED_SPLITS = (
    "FreemanZiemba2013", "FreemanZiemba2013public", "MajajHong2015", "MajajHong2015public", "Papale2025",
    "Simulated2026",
)  # fmt: skip
"""Studies whose splits are published: other splits would change their scores, so that findings are warnings."""


class Reference(NamedTuple):
    """An object to check."""

    kind: str  # ``'benchmark'``, ``'data'``, ``'stimulus set'``, ``'metric'`` or ``'model'``
    name: str  # its identifier, or the reference to a file
    load: Callable[[], Any]  # makes the object
    folder: Path | None  # folder of the plugin that registers it


def is_plugin_folder(reference: str) -> bool:
    """Whether a reference names a plugin folder."""
    return (Path(reference).expanduser() / "__init__.py").is_file()


def find_references(kind: str, reference: str) -> list[Reference]:
    """Find the objects that an identifier, a plugin folder, or ``path/to/file.py:make`` names.

    The kind ``'any'`` is for everything that a folder registers. A UserError if nothing has this name, or the folder
    does not register this kind.
    """
    if is_file_reference(reference):
        return [_of_file(kind, reference)]
    if is_plugin_folder(reference):
        folder = Path(reference).expanduser()
        references = [item for item in _of_folder(folder) if kind in ("any", item.kind, _plugin_kind(item.kind))]
        if not references:
            raise UserError(
                f"{folder} registers no {kind}" if kind != "any" else f"{folder} registers nothing",
                remedy="its __init__.py must register a function under an identifier, such as "
                "benchmark_registry['AuthorYear-metric'] = MyBenchmark",
            )
        return references
    return list(_of_identifier(kind, reference))


def _plugin_kind(kind: str) -> str:
    return "data" if kind == "stimulus set" else kind


def _of_file(kind: str, reference: str) -> Reference:
    def load() -> Any:
        loaded, source = load_file_reference(reference, noun=kind)
        return to_unregistered_model(loaded, source=source).model if kind == "model" else loaded

    return Reference(kind, reference, load, None)


def _of_folder(folder: Path) -> Iterator[Reference]:
    make_discoverable(folder)
    for name, key in registrations_in(folder):
        yield _registered_reference(name, key, folder)


def _of_identifier(kind: str, identifier: str) -> Iterator[Reference]:
    registered = False
    for name in _REGISTRIES[kind]:
        registry = REGISTRIES[name]
        if kind == "benchmark":
            identifier = registry.resolve(identifier)
        if identifier in registry:
            registered = True
            yield _registered_reference(name, identifier, registry.location(identifier).folder)
    if not registered:
        REGISTRIES[_REGISTRIES[kind][0]].location(identifier)  # raises, with the nearest names


def _registered_reference(name: str, key: str, folder: Path | None) -> Reference:
    return Reference(name.replace("_", " "), key, lambda: LOADERS[name](key), folder)


def check_references(references: Iterable[Reference], *, model: str | None = "pixels") -> Iterator[CheckedReference]:
    """Check each object once, and the data that benchmarks load.

    Benchmarks run on `model`, or not at all if it is None.
    """
    from brainscore_core import plugins

    seen: set[tuple[str, str]] = set()
    for reference in references:
        if (reference.kind, reference.name) in seen:
            continue
        seen.add((reference.kind, reference.name))
        if reference.kind == "benchmark":
            checks, loaded = _check_benchmark(reference, model)
            yield CheckedReference(reference.kind, reference.name, checks)
            for data in loaded:
                if (data.kind, data.name) not in seen:
                    seen.add((data.kind, data.name))
                    yield CheckedReference(data.kind, data.name, _check_data(data))
        elif reference.kind in ("data", "stimulus set"):
            yield CheckedReference(reference.kind, reference.name, _check_data(reference))
        elif reference.kind == "metric":
            yield CheckedReference(reference.kind, reference.name, _check_metric(reference))
        else:
            loaded_model = reference.load()
            checks = plugins.check_model(loaded_model, raise_errors=False)
            further = (
                *_check_output(loaded_model, checks),
                *_check_visual_angle(loaded_model, checks),
                *_check_metadata(reference),
            )
            yield CheckedReference(reference.kind, reference.name, (*checks, *further))


def _check_output(model: Any, checks: Iterable[Check]) -> Iterator[Check]:
    """Which output of a network labels are chosen from, if it does this task."""
    from brainscore_core.plugins import Check

    describe = getattr(getattr(model, "activations_model", None), "describe_layers", None)
    if callable(describe) and any(check.name == "task label" and check.result == "passed" for check in checks):
        yield Check("labels are chosen from", "passed", describe(["logits"])[-1])


def _check_visual_angle(model: Any, checks: Iterable[Check]) -> Iterator[Check]:
    """Whether a model states its visual angle; if not, how much its responses depend on it."""
    from brainscore_core.plugins import Check
    from brainscore_vision.model_helpers.visual_angle import dependence_in_words

    name = "it states its visual angle"
    if getattr(model, "states_visual_degrees", True):
        yield Check(name, "passed")
        return
    explanation = f"{model.visual_degrees():g}° is taken by default, and scores depend on it"
    if not any(check.result == "failed" for check in checks):
        explanation += f": {dependence_in_words(model)}"
    remedy = "pass visual_degrees, the angle that its input spans: docs/visual_angle.md says how to choose it"
    yield Check(name, "warning", explanation, remedy)


def _check_data(reference: Reference) -> tuple[Check, ...]:
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import check_data

    try:
        data = reference.load()
    except DataUnavailable as error:
        return (_unavailable(error),)
    is_file = reference.folder is None
    name = None if is_file else reference.name
    return check_data(data, identifier=name, folder=reference.folder, raise_errors=False)


def _unavailable(error: DataUnavailable) -> Check:
    from brainscore_core.plugins import Check

    explanation = f"the check needs data that are not available: {error.message}"
    return Check("it can be loaded", "not applicable", explanation, error.remedy or "")


def _check_metric(reference: Reference) -> tuple[Check, ...]:
    from brainscore_core.plugins import Check, check_metric

    try:
        metric = reference.load()
    except TypeError as error:
        if "argument" not in str(error):
            raise
        remedy = "make it yourself and call brainscore_core.plugins.check_metric(metric, source=…, target=…)"
        return (Check("it can be made without arguments", "not applicable", str(error), remedy),)
    return check_metric(metric, folder=reference.folder, raise_errors=False)


def _check_benchmark(reference: Reference, model: str | None) -> tuple[tuple[Check, ...], list[Reference]]:
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import check_benchmark
    from brainscore_core.provenance import recording

    with recording() as record:
        try:
            benchmark = reference.load()
        except DataUnavailable as error:
            return (_unavailable(error),), []
        checks = check_benchmark(
            benchmark,
            model=load_model(model) if model else None,
            parents=_PARENTS,
            folder=reference.folder,
            raise_errors=False,
        )
    stimuli = (*_check_groups(benchmark), *_check_splits(benchmark))
    further = (*_check_neural_benchmark(benchmark), *stimuli, *_check_metadata(reference))
    return (*checks, *further), list(_loaded_data(record.items))


def _check_metadata(reference: Reference) -> Iterator[Check]:
    """Whether a registered model or benchmark has the metadata that lists and filters need."""
    from brainscore_core.plugins import Check
    from brainscore_vision.catalogue.contents import catalogue

    if reference.folder is None:
        return  # a function in a file
    kind = f"{reference.kind}s"
    known = catalogue(**{"models": [], "benchmarks": [], kind: [reference.name]})
    problems = [problem.message for problem in known.problems if problem.kind == kind]
    (entry,) = getattr(known, kind)
    name = "its metadata are there"
    if problems:
        yield Check(name, "warning", "; ".join(problems), "fix METADATA or metadata.yml")
    elif entry.metadata is None:
        missing = {
            "model": "nothing says which architecture and training it has",
            "benchmark": "nothing says who was measured, with what stimuli and how",
        }
        yield Check(name, "warning", missing[reference.kind], _remedy_without_metadata(reference))
    else:
        yield Check(name, "passed")
        yield _check_training(entry.metadata)


def _remedy_without_metadata(reference: Reference) -> str:
    """Which class and fields describe a model or a benchmark."""
    from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata, described_fields
    from brainscore_vision.model_helpers.metadata import ModelMetadata

    model = reference.kind == "model"
    described: Any = ModelMetadata if model else BenchmarkMetadata
    where = "__init__.py" if model else "metadata.py"
    return (
        f"write METADATA = {{{reference.name!r}: {described.__name__}(…)}} into {where} of the plugin, "
        f"with {', '.join(described_fields(described))}"
    )


def _check_training(metadata: ModelMetadata | BenchmarkMetadata) -> Check:
    """Whether a model states what it was trained on, or a benchmark what its stimuli are taken from."""
    from brainscore_core.plugins import Check
    from brainscore_core.training_data import unlisted_names
    from brainscore_vision.model_helpers.metadata import ModelMetadata

    if isinstance(metadata, ModelMetadata):
        name, field, names = "it states what it was trained on", "trained_on", metadata.trained_on
        remedy = "write trained_on=(names of data sets) into its metadata, () if it is not trained"
    else:
        name, field, names = "it states what its stimuli are taken from", "taken_from", metadata.stimuli.taken_from
        remedy = "write taken_from=(names of data sets) into its StimuliMetadata, () if there are none"
    if names is None:
        why = "without it, the leaderboard marks scores as unknown: the model may have been trained on the stimuli"
        return Check(name, "warning", why, remedy)
    if unlisted := unlisted_names(names):
        known = "data sets are compared by name, and brainscore_core/training_data/data_sets.csv lacks"
        return Check(name, "warning", f"{field}: {known} {', '.join(unlisted)}", "check the spelling")
    return Check(name, "passed")


def _check_neural_benchmark(benchmark: Any) -> Iterator[Check]:
    """Findings of the checklist for neural benchmarks."""
    from brainscore_core.benchmarks.measurements import measurements_or_none
    from brainscore_core.errors import DataUnavailable, UserError
    from brainscore_core.plugins import Check
    from brainscore_vision.benchmark_helpers.neural_checks import neural_findings

    name = "its recordings are fit for it"
    try:
        measurements = measurements_or_none(benchmark)
        if measurements is None:
            yield Check(name, "not applicable", "it does not say what it measures; define measurements()")
            return
        if not measurements.compares.startswith("recordings"):
            return
        measurements.averaged()
        findings = list(neural_findings(benchmark))
    except DataUnavailable as error:
        yield Check(name, "not applicable", error.message)
        return
    except UserError as error:
        yield Check(name, "failed", error.message, error.remedy or "")
        return
    for finding in findings:
        check = f"recordings: {finding.check}"
        yield Check(check, "warning" if finding.severity == "warning" else "failed", finding.culprit, finding.remedy)
    if not findings:
        yield Check(name, "passed")


def _check_groups(benchmark: Any) -> Iterator[Check]:
    """Whether stimuli that share a coordinate's values are declared as groups, or as independent."""
    from brainscore_core.plugins import Check
    from brainscore_vision.assessment.dependence import grouping_of_parts, parts_of

    name = "its groups of stimuli are declared"
    try:
        parts = parts_of(benchmark)
        grouping = grouping_of_parts(parts)
    except UserError as error:
        yield Check(name, "not applicable", error.message)
        return
    if grouping.question:
        yield Check(name, "warning", grouping.finding, grouping.remedy)
    elif parts.neural:
        yield Check(name, "passed")


def _check_splits(benchmark: Any) -> Iterator[Check]:
    """Whether splits keep stimuli that are equal, nearly equal or of one group on one side."""
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import Check
    from brainscore_vision.assessment.dependence import split_findings

    name = "its splits keep similar stimuli together"
    stated = getattr(benchmark, "ungrouped_splits", None)
    if stated:
        yield Check(name, "not applicable", f"the benchmark states a reason: {stated}")
        return
    try:
        findings = split_findings(benchmark)
    except DataUnavailable as error:
        yield Check(name, "not applicable", error.message)
        return
    except UserError as error:
        yield Check(name, "not applicable", f"they cannot be examined: {error.message}")
        return
    study = re.split(r"[.:-]", str(getattr(benchmark, "identifier", "")))[0]
    for finding in findings:
        yield Check(
            f"{name}: {finding.check}",
            "warning" if study in _PUBLISHED_SPLITS else "failed",
            finding.culprit,
            finding.remedy,
        )
    if not findings:
        yield Check(name, "passed")


def _loaded_data(items: Iterable[dict[str, Any]]) -> Iterator[Reference]:
    for item in items:
        if item["kind"] == "data":  # also checks the stimulus set of the same name
            yield from find_references("data", item["identifier"])
        elif item["kind"] == "stimulus_set":
            references = find_references("data", item["identifier"])
            yield from (reference for reference in references if reference.kind == "stimulus set")
