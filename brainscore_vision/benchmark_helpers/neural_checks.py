"""Checks of a neural benchmark before any model is scored on it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import declarations_of
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.findings import Finding, format_values, with_source
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    time_bins_or_none,
    visual_measurements_of,
    without_single_time_bin,
)
from brainscore_vision.benchmark_helpers.multi_subject import KFoldNeuralBenchmark, MultiSubjectNeuralBenchmark

_REPETITIONS = "ceiling_func=lambda: ceiler(assembly_repetition), not assembly: the recordings before averaging"
_TOLERANCE = 1e-9


def neural_findings(benchmark: Any) -> list[Finding]:
    """Check a neural benchmark's recordings, ceiling and settings.

    `benchmark`: its recordings are loaded, and the ceiling is estimated. For a mean over subjects or folds, the first
    one is checked. Result: empty if all checks passed, and for a benchmark that compares no recordings. Checks: class
    and dimensions; coordinates; one region; missing values; one presentation per stimulus (repetitions averaged);
    ``stimulus_id`` as in the stimulus set; time bins; enough presentations for PLS; training and test recordings of the
    same neuroids, of different stimuli; ceiling in (0, 1], from recordings with repetitions, with a meaning that fits
    the metric's scale; visual angle and number of trials.

    Examples
    --------
    >>> from brainscore_vision import load_metric
    >>> from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
    >>> assembly = NeuroidAssembly([[1.0], [2.0], [1.5]], dims=["presentation", "neuroid"], coords={
    ...     "stimulus_id": ("presentation", ["a", "b", "a"]), "neuroid_id": ("neuroid", ["n0"])})
    >>> benchmark = NeuralBenchmark("Author2024.IT-rdm", assembly, load_metric("rdm"), visual_degrees=8,
    ...     number_of_trials=2, ceiling_func=lambda: 1.3, version=1)
    >>> for finding in neural_findings(benchmark):
    ...     print(finding.check)
    region
    stimulus set
    repetitions are not averaged
    ceiling is greater than 1
    """
    if isinstance(benchmark, KFoldNeuralBenchmark | MultiSubjectNeuralBenchmark):
        return neural_findings(benchmark.first_part())
    measurements = visual_measurements_of(benchmark)
    parts: dict[str, DataAssembly] = {}
    findings: list[Finding] = []
    if measurements.compares != "recordings":
        return findings
    roles = {"recordings": measurements.measured}
    if measurements.training is not None:
        roles = {"training recordings": measurements.training, "test recordings": measurements.measured}
    for role, part in roles.items():
        try:
            is_neural = isinstance(part, DataAssembly) and "neuroid" in part.dims
        except DataUnavailable:
            raise
        except UserError as error:  # isinstance loads a LazyLoad
            findings.append(_finding_of_error("recordings cannot be loaded", error, role))
            continue
        if is_neural:
            parts[role] = part
    if not parts:
        return findings
    for role, part in parts.items():
        findings += with_source(_check_recordings(part, measurements), role)
    if len(parts) == 2:
        findings += with_source(_check_pair(*parts.values()), "training and test recordings")
    findings += _check_metric(measurements.metric, parts)
    findings += _check_ceiling(benchmark, declarations_of(measurements.metric).scale)
    findings += _check_settings(measurements)
    return findings


def _check_recordings(assembly: DataAssembly, measurements: VisualMeasurements) -> Iterator[Finding]:
    dims = without_single_time_bin(assembly).dims
    if not isinstance(assembly, NeuroidAssembly) or set(dims) not in (
        {"presentation", "neuroid"},
        {"presentation", "neuroid", "time_bin"},
    ):
        yield Finding(
            "neuroid assembly",
            f"a {type(assembly).__name__} with the dimensions {' × '.join(map(str, assembly.dims))}",
            "use a NeuroidAssembly of presentation × neuroid × time_bin; average over a dimension 'repetition'",
        )
    for dim, name in (("presentation", "stimulus_id"), ("neuroid", "neuroid_id")):
        if dim in assembly.dims and (name not in assembly.coords or assembly[name].dims != (dim,)):
            yield Finding(
                "missing coordinate", f"{dim!r} has no {name!r}", f"add it: coords={{{name!r}: ({dim!r}, …)}}"
            )
    yield from _check_region(assembly, measurements)
    values = np.asarray(assembly.values)
    if values.dtype.kind == "f" and (missing := int((~np.isfinite(values)).sum())):
        yield Finding(
            "missing values",
            f"{missing} of {values.size} values are NaN or infinite",
            "leave out missing measurements, for example with assembly.dropna('neuroid')",
        )
    yield from _check_stimuli(assembly)
    yield from _check_time(assembly, measurements)


def _check_region(assembly: DataAssembly, measurements: VisualMeasurements) -> Iterator[Finding]:
    if "region" not in assembly.coords:
        if measurements.region is None:
            yield Finding(
                "region", "there is no coordinate 'region'", "add it: coords={'region': ('neuroid', ['IT', …])}"
            )
        return
    regions = pd.unique(np.ravel(assembly["region"].values))
    if len(regions) > 1:
        yield Finding(
            "region", f"the regions {format_values(regions)} are recorded", "select one: assembly.sel(region='IT')"
        )


def _check_stimuli(assembly: DataAssembly) -> Iterator[Finding]:
    stimuli = assembly.attrs.get("stimulus_set")
    if stimuli is None:
        yield Finding(
            "stimulus set",
            "attrs['stimulus_set'] is missing, so nothing can be shown to a model",
            "load the assembly with its stimulus set: load_assembly_from_s3(…, stimulus_set_loader=…)",
        )
    if "stimulus_id" not in assembly.coords:
        return
    ids = pd.Index(np.ravel(assembly["stimulus_id"].values))
    if not ids.is_unique:
        twice = ids[ids.duplicated()].unique()
        yield Finding(
            "repetitions are not averaged",
            f"{len(twice)} of {ids.nunique()} stimuli have several presentations: {format_values(twice)}",
            "compare models with the mean over repetitions: average_repetition(assembly)",
        )
    if stimuli is None:
        return
    known = pd.Index(stimuli["stimulus_id"])
    differing = ids.unique().symmetric_difference(known, sort=False)
    if len(differing):
        yield Finding(
            "stimulus_id alignment",
            f"{len(differing)} ids are in the recordings or in the stimulus set only: {format_values(differing)}",
            "models see the stimulus set, and are compared with the recordings: select the common stimuli, for example "
            "stimulus_set[stimulus_set['stimulus_id'].isin(assembly['stimulus_id'].values)]",
        )


def _check_time(assembly: DataAssembly, measurements: VisualMeasurements) -> Iterator[Finding]:
    recorded = time_bins_or_none(assembly)
    if "time_bin" in assembly.dims and recorded is None:
        yield Finding(
            "time bins not found",
            "'time_bin' has no coordinates 'time_bin_start' and 'time_bin_end'",
            "add them: coords={'time_bin_start': ('time_bin', [70]), 'time_bin_end': ('time_bin', [170])}",
        )
    requested = measurements.recorded_time_bins
    if recorded is not None and len(requested) != len(recorded):
        yield Finding(
            "time bins not found",
            f"models are recorded in {len(requested)} time bins, the recordings have {len(recorded)}",
            "select the same time bins, or leave `timebins` out: the default is those of the recordings",
        )


def _check_pair(train: DataAssembly, test: DataAssembly) -> Iterator[Finding]:
    names = ("neuroid_id", "region", "subject")
    for name in (name for name in names if all(name in part.coords for part in (train, test))):
        if not np.array_equal(train[name].values, test[name].values):
            yield Finding(
                "neuroid alignment",
                f"{name!r} differs or has another order",
                "filter both by the same coordinate, such as filter_reliable_neuroids(assembly, 0.3, 'reliability')",
            )
    if all("stimulus_id" in part.coords for part in (train, test)):
        shared = set(train["stimulus_id"].values.tolist()) & set(test["stimulus_id"].values.tolist())
        if shared:
            yield Finding(
                "shared stimuli",
                f"{len(shared)} stimuli are used for fitting and testing: {format_values(sorted(map(str, shared)))}",
                "test on stimuli that are not used for fitting",
                "warning",
            )


def _check_metric(metric: Any, parts: dict[str, DataAssembly]) -> Iterator[Finding]:
    components = getattr(getattr(getattr(metric, "regression", None), "estimator", None), "n_components", None)
    if components is None:
        return
    fitted = next(iter(parts.values()))
    count = fitted.sizes["presentation"]
    validation = getattr(metric, "cross_validation", None)
    if validation is not None:
        try:
            count = min(len(rows.train) for rows in validation.split_rows(fitted, fitted))
        except UserError as error:
            yield _finding_of_error("cross-validation", error, "metric")
            return
    if count < components:
        yield Finding(
            "too few presentations for PLS",
            f"{components} components are fitted on {count} stimuli",
            f"use load_metric('pls', regression_kwargs=dict(n_components={count})) or fewer, or 'ridge', which has "
            "no components",
            source="metric",
        )


def _check_ceiling(benchmark: Any, scale: str | None) -> Iterator[Finding]:
    try:
        ceiling = benchmark.ceiling
    except DataUnavailable:
        raise
    except UserError as error:
        yield _finding_of_error("ceiling", error, "ceiling")
        return
    if np.size(ceiling) != 1:
        yield Finding("ceiling", f"it has the shape {np.shape(ceiling)}", "return a single value", source="ceiling")
        return
    value, meaning = float(ceiling), ceiling.attrs.get("meaning")
    if value > 1 + _TOLERANCE:
        yield Finding("ceiling is greater than 1", f"it is {value:.4g}", _REPETITIONS, source="ceiling")
    elif meaning != "none" and not value > 0:
        yield Finding(
            "ceiling", f"it is {value:.4g}, so scores cannot be divided by it",
            "check the labels of stimuli and repetitions", source="ceiling",
        )  # fmt: skip
    if meaning == "reliability" and scale in {"similarity", "accuracy"}:
        yield Finding(
            "ceiling",
            f"it is a reliability, which is a share of variance; the metric returns a {scale}",
            f"use a ceiling on the metric's scale, such as the {scale} of one subject with the others",
            source="ceiling",
        )


def _check_settings(measurements: VisualMeasurements) -> Iterator[Finding]:
    degrees, trials = measurements.visual_degrees, measurements.number_of_trials
    if degrees is not None and not 0 < float(degrees) < 180:
        yield Finding(
            "visual_degrees", f"{degrees}", "pass the visual angle that stimuli spanned in the experiment, in degrees"
        )
    if trials < 1:
        yield Finding("number_of_trials", f"{trials}", "pass how often each stimulus was shown, at least 1")


def _finding_of_error(check: str, error: UserError, source: str) -> Finding:
    remedy = error.remedy or "see the message"
    if isinstance(error, MetricInputError) and "no repetitions" in error.message:
        remedy = f"{_REPETITIONS}; {remedy}"
    return Finding(check, error.message, remedy, source=source)
