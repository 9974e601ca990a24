"""Runs the checks of plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_vision._references import Reference

if TYPE_CHECKING:
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import Check

__all__ = ["Checked", "check_references"]


class Checked(NamedTuple):
    """One thing, and its checks."""

    kind: str
    name: str
    checks: tuple[Check, ...]


def check_references(references: Iterable[Reference], *, model: str | None = "pixels") -> Iterator[Checked]:
    """Check each of what was found; with a benchmark also the data that it loads, each once.

    Parameters
    ----------
    references : iterable of Reference
        What to check.
    model : str, optional
        Model to run benchmarks on; None: they are not run.
    """
    from brainscore_core import plugins

    seen: set[tuple[str, str]] = set()
    for reference in references:
        if (reference.kind, reference.name) in seen:
            continue
        seen.add((reference.kind, reference.name))
        if reference.kind == "benchmark":
            checks, loaded = _check_benchmark(reference, model)
            yield Checked(reference.kind, reference.name, checks)
            for data in loaded:
                if (data.kind, data.name) not in seen:
                    seen.add((data.kind, data.name))
                    yield Checked(data.kind, data.name, _check_data(data))
        elif reference.kind in ("data", "stimulus set"):
            yield Checked(reference.kind, reference.name, _check_data(reference))
        elif reference.kind == "metric":
            yield Checked(reference.kind, reference.name, _check_metric(reference))
        else:
            checks = plugins.check_model(reference.load(), raise_errors=False)
            yield Checked(reference.kind, reference.name, (*checks, *_described(reference)))


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

    explanation = f"it needs data that cannot be reached: {error.message}"
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
    from brainscore_vision import load_model
    from brainscore_vision._plugin_folders import KNOWN_PARENTS

    with recording() as record:
        try:
            benchmark = reference.load()
        except DataUnavailable as error:
            return (_unavailable(error),), []
        checks = check_benchmark(
            benchmark,
            model=load_model(model) if model else None,
            parents=KNOWN_PARENTS,
            folder=reference.folder,
            raise_errors=False,
        )
    return (*checks, *_neural(benchmark), *_described(reference)), list(_loaded_data(record.items))


def _described(reference: Reference) -> Iterator[Check]:
    """Whether a registered model or benchmark has the metadata that lists and filters need."""
    from brainscore_core.plugins import Check
    from brainscore_vision.catalogue import catalogue

    if reference.folder is None:
        return  # a function in a file
    kind = f"{reference.kind}s"
    known = catalogue(**{"models": [], "benchmarks": [], kind: [reference.name]})
    problems = [problem.message for problem in known.problems if problem.kind == kind]
    (entry,) = getattr(known, kind)
    name = "its metadata are there"
    if problems:
        yield Check(name, "warning", "; ".join(problems), "mend METADATA or metadata.yml")
    elif entry.metadata is None:
        missing = {
            "model": "nothing says which architecture and training it has",
            "benchmark": "nothing says who was measured, with what stimuli and how",
        }
        where = "__init__.py" if reference.kind == "model" else "metadata.py"
        yield Check(name, "warning", missing[reference.kind], f"write METADATA into {where} of the plugin")
    else:
        yield Check(name, "passed")


def _neural(benchmark: Any) -> Iterator[Check]:
    """What the checklist of neural benchmarks finds."""
    from brainscore_core.errors import DataUnavailable
    from brainscore_core.plugins import Check
    from brainscore_vision.benchmark_helpers._neural_checks import neural_findings
    from brainscore_vision.benchmark_helpers.multi_subject import KFoldNeuralBenchmark, MultiSubjectNeuralBenchmark
    from brainscore_vision.benchmark_helpers.neural_common import (
        NeuralBenchmark,
        RSABenchmark,
        TrainTestNeuralBenchmark,
    )

    of_one = NeuralBenchmark | TrainTestNeuralBenchmark | RSABenchmark
    if not isinstance(benchmark, of_one | KFoldNeuralBenchmark | MultiSubjectNeuralBenchmark):
        return
    try:
        findings = list(neural_findings(benchmark))
    except DataUnavailable as error:
        yield Check("its recordings are fit for it", "not applicable", error.message)
        return
    for finding in findings:
        name = f"recordings: {finding.check}"
        yield Check(name, "warning" if finding.severity == "warning" else "failed", finding.culprit, finding.remedy)
    if not findings:
        yield Check("its recordings are fit for it", "passed")


def _loaded_data(items: Iterable[dict[str, Any]]) -> Iterator[Reference]:
    from brainscore_vision._references import find_references

    for item in items:
        if item["kind"] == "data":  # with the stimulus set of its name, however it was loaded
            yield from find_references("data", item["identifier"])
        elif item["kind"] == "stimulus_set":
            yield from (one for one in find_references("data", item["identifier"]) if one.kind == "stimulus set")
