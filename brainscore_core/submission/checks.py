"""Checks of plugins, named by an identifier, a plugin folder, or a function in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.benchmarks.metadata import BenchmarkMetadata, described_fields
from brainscore_core.domain_names import FIRST, domain_of_path
from brainscore_core.domains import Domain, domain, find
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.plugins import Check, check_benchmark, check_data, check_metric
from brainscore_core.plugins.conformance import CheckedReference, Result
from brainscore_core.plugins.loading import is_file_reference, load_file_reference
from brainscore_core.provenance import recording
from brainscore_core.submission.package import make_discoverable, registrations_in
from brainscore_core.training_data import unlisted_names

_REGISTRIES = {
    "benchmark": ("benchmark",),
    "data": ("data", "stimulus_set"),
    "metric": ("metric",),
    "model": ("model",),
}
"""Kind of plugin → registries, as `Domain.registries` names them."""


class Reference(NamedTuple):
    """An object to check."""

    domain: Domain
    kind: str  # ``'benchmark'``, ``'data'``, ``'stimulus set'``, ``'metric'`` or ``'model'``
    name: str  # its identifier, or the reference to a file
    load: Callable[[], Any]  # makes the object
    folder: Path | None  # folder of the plugin that registers it


def is_plugin_folder(reference: str) -> bool:
    """Whether a reference names a plugin folder."""
    return (Path(reference).expanduser() / "__init__.py").is_file()


def find_references(kind: str, reference: str, *, among: str | None = None) -> list[Reference]:
    """Find the objects that an identifier, a plugin folder, or ``path/to/file.py:make`` names.

    The kind ``'any'`` is for everything that a folder registers. `among`: the domain of a name or a file; by default it
    is found. A UserError if nothing has this name, or the folder does not register this kind.
    """
    if is_file_reference(reference):
        return [_of_file(kind, reference, domain(among or domain_of_path(reference) or FIRST))]
    if is_plugin_folder(reference):
        folder = Path(reference).expanduser()
        of = make_discoverable(folder)
        references = [_registered_reference(of, name, key, folder) for name, key in registrations_in(folder, of)]
        if kind != "any":
            also = {"data": "stimulus set"}.get(kind, kind)
            references = [reference for reference in references if reference.kind in (kind, also)]
        if not references:
            example = "benchmark_registry['AuthorYear-metric'] = MyBenchmark"
            raise UserError(
                f"{folder} registers {'nothing' if kind == 'any' else f'no {kind}'}",
                remedy=f"its __init__.py must register a function under an identifier, such as {example}",
            )
        return references
    if kind == "metric" and among is None and (registry := domain().registries["metric"]) and reference in registry:
        among = FIRST  # metrics of one name exist in several domains
    owner, identifier = find(kind, reference, among=None if among is None else [among])
    return list(_of_identifier(domain(owner), kind, identifier))


def _of_file(kind: str, reference: str, of: Domain) -> Reference:
    def load() -> Any:
        if kind == "model":
            return of.feature("unregistered model")(reference).model
        return load_file_reference(reference, noun=kind)[0]

    return Reference(of, kind, reference, load, None)


def _of_identifier(of: Domain, kind: str, identifier: str) -> Iterator[Reference]:
    registries = {name: of.registries[name] for name in _REGISTRIES[kind] if name in of.registries}
    if kind == "benchmark":
        identifier = registries[kind].resolve(identifier)
    owners = [name for name, registry in registries.items() if of.knows(name, identifier)]
    if not owners:
        registries[_REGISTRIES[kind][0]].location(identifier)  # raises, with the nearest names
    for name in owners:
        yield _registered_reference(of, name, identifier, of.folder(name, identifier))


def _registered_reference(of: Domain, name: str, key: str, folder: Path | None) -> Reference:
    return Reference(of, name.replace("_", " "), key, lambda: of.load(name, key), folder)


def check_references(references: Iterable[Reference], *, model: str | None = "") -> Iterator[CheckedReference]:
    """Check each object once, and the data that benchmarks load.

    Benchmarks run on `model`, by default the first of `Domain.examples` that can do what they ask; None: on no model.
    """
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
            continue
        if reference.kind in ("data", "stimulus set"):
            checks = _check_data(reference)
        elif reference.kind == "metric":
            checks = _check_metric(reference)
        else:
            checks = (*reference.domain.feature("checks of a model")(reference.load), *_check_metadata(reference))
        yield CheckedReference(reference.kind, reference.name, checks)


def _check_data(reference: Reference) -> tuple[Check, ...]:
    try:
        data = reference.load()
    except DataUnavailable as error:
        return (_unavailable(error),)
    name = None if reference.folder is None else reference.name  # that of a file is not an identifier
    return check_data(data, identifier=name, folder=reference.folder, raise_errors=False)


def _unavailable(error: DataUnavailable) -> Check:
    explanation = f"the check needs data that are not available: {error.message}"
    return Check("it can be loaded", "not applicable", explanation, error.remedy or "")


def _check_metric(reference: Reference) -> tuple[Check, ...]:
    try:
        metric = reference.load()
    except TypeError as error:
        if "argument" not in str(error):
            raise
        remedy = "make it yourself and call brainscore_core.plugins.check_metric(metric, source=…, target=…)"
        return (Check("it can be made without arguments", "not applicable", str(error), remedy),)
    return check_metric(metric, folder=reference.folder, raise_errors=False)


def _check_benchmark(reference: Reference, model: str | None) -> tuple[tuple[Check, ...], list[Reference]]:
    of = reference.domain
    names = () if model is None else (model,) if model else of.examples
    with recording() as record:
        try:
            benchmark = reference.load()
        except DataUnavailable as error:
            return (_unavailable(error),), []
        checks = check_benchmark(
            benchmark,
            model=tuple(of.load_model(name) for name in names),
            parents=(*of.table.parents, "control"),
            folder=reference.folder,
            raise_errors=False,
        )
    further = (*of.feature("checks of a benchmark")(benchmark), *_check_splits(reference, benchmark))
    return (*checks, *further, *_check_metadata(reference)), list(_loaded_data(record.items, of))


def _check_metadata(reference: Reference) -> Iterator[Check]:
    """Whether a registered model or benchmark has the metadata that lists and filters need."""
    of = reference.domain
    if reference.folder is None or (reference.kind == "model" and not of.offers("metadata of a model")):
        return  # a function in a file, or nothing to state
    kind = f"{reference.kind}s"
    known = of.feature("catalogue")(**{"models": [], "benchmarks": [], kind: [reference.name]})
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
    model = reference.kind == "model"
    described: Any = reference.domain.feature("metadata of a model") if model else BenchmarkMetadata
    where = "__init__.py" if model else "metadata.py"
    return (
        f"write METADATA = {{{reference.name!r}: {described.__name__}(…)}} into {where} of the plugin, "
        f"with {', '.join(described_fields(described))}"
    )


def _check_training(metadata: Any) -> Check:
    """Whether a model states what it was trained on, or a benchmark what its stimuli are taken from."""
    if not isinstance(metadata, BenchmarkMetadata):
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


def _check_splits(reference: Reference, benchmark: Any) -> Iterator[Check]:
    """Whether splits keep stimuli that are equal, nearly equal or of one group on one side.

    Of benchmarks in a domain's package, findings are warnings: other splits would change published scores.
    """
    of = reference.domain
    name = "its splits keep similar stimuli together"
    stated = getattr(benchmark, "ungrouped_splits", None)
    if stated:
        yield Check(name, "not applicable", f"the benchmark states a reason: {stated}")
        return
    try:
        findings = of.feature("findings of splits")(benchmark)
    except DataUnavailable as error:
        yield Check(name, "not applicable", error.message)
        return
    except UserError as error:
        yield Check(name, "not applicable", f"they cannot be examined: {error.message}")
        return
    locations = of.registries["benchmark"].locations(reference.name)
    published = any(item.source == "built in" and item.folder == reference.folder for item in locations)
    for finding in findings:
        result: Result = "warning" if published else "failed"
        yield Check(f"{name}: {finding.check}", result, finding.culprit, finding.remedy)
    if not findings:
        yield Check(name, "passed")


def _loaded_data(items: Iterable[dict[str, Any]], of: Domain) -> Iterator[Reference]:
    for item in items:
        if item["kind"] == "data":  # also checks the stimulus set of the same name
            yield from find_references("data", item["identifier"], among=of.name)
        elif item["kind"] == "stimulus_set":
            references = find_references("data", item["identifier"], among=of.name)
            yield from (reference for reference in references if reference.kind == "stimulus set")
