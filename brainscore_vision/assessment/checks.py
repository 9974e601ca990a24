"""Checks of benchmarks of vision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brainscore_core.benchmarks.measurements import measurements_or_none
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.plugins import Check
from brainscore_vision.assessment.dependence import grouping_of_parts, parts_of
from brainscore_vision.benchmark_helpers.neural_checks import neural_findings


def check_benchmark(benchmark: Any) -> Iterator[Check]:
    """Check whether recordings are fit for a benchmark, and whether the groups of its stimuli are declared."""
    yield from _check_recordings(benchmark)
    yield from _check_groups(benchmark)


def _check_recordings(benchmark: Any) -> Iterator[Check]:
    """Findings of the checklist for neural benchmarks."""
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
