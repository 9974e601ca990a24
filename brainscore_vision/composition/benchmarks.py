"""Composed benchmarks: any metric and ceiling on the recordings of a registered benchmark.

``MajajHong2015public.IT:cka_cv`` takes from ``MajajHong2015public.IT-pls`` the recordings, the visual angle, the
number of trials, the time bins, the coordinate that stratifies splits, and the parent; from ``cka_cv`` the metric and
its split. ``…@<ceiling>`` names the ceiling.
"""

import inspect
from dataclasses import replace
from functools import partial
from typing import Any

from brainscore_core.benchmarks import Benchmark, BenchmarkBase
from brainscore_core.errors import BrainScoreError, UserError
from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.metric_helpers.transformations import CrossValidation
from brainscore_core.metrics import Ceiling, Score, declarations_of, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, visual_measurements_of
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    TrainTestNeuralBenchmark,
    relate_to_ceiling,
    timebins_from_assembly,
)
from brainscore_vision.composition import NO_CEILING, base_keys, parse_name
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import benchmark_registry, load_ceiling, load_metric, metric_registry

_OF_VARIANCE = ("correlation", "variance")
"""Scales that a reliability, a share of variance, is a ceiling of."""


def check_name(name: str) -> None:
    """Raise an error for the name of a metric or ceiling that does not compare recordings, or that needs arguments."""
    factory = metric_registry[name]
    declared = declarations_of(factory)
    if not isinstance(factory, type) or declared.compares == "recordings":
        try:
            inspect.signature(factory).bind()
        except TypeError as error:
            raise UserError(
                f"{name!r} needs arguments, which a name cannot contain: {error}",
                remedy="write a benchmark that passes them",
            ) from None
        declared = declarations_of(metric_registry.make(name))
    if declared.compares != "recordings":
        raise UserError(
            f"{name!r} compares {declared.compares}, not recordings of a region",
            remedy="use a metric of recordings, such as pls, ridge, rdm, cka or procrustes",
        )
    if declared.per_time_bin:
        raise UserError(
            f"{name!r} returns one value per time bin, but a score is a single value",
            remedy="use one that compares a single time bin, such as pls, ridge or internal_consistency",
        )


def check_metric(name: str, metric: Any) -> None:
    """Raise an error for a ceiling in place of a metric."""
    if isinstance(metric, Ceiling):
        raise UserError(f"{name!r} is a ceiling, not a metric", remedy=f"write it after @, such as :pls@{name}")


def check_ceiling(metric_name: str, metric: Any, name: str, ceiling: Any) -> None:
    """Raise an error for a ceiling that is not on the scale of the metric."""
    if not isinstance(ceiling, Ceiling):
        raise UserError(f"{name!r} is a metric, not a ceiling", remedy="use internal_consistency or none")
    declared = declarations_of(metric)
    if ceiling.matrices is not None and ceiling.matrices != declared.matrices:
        raise UserError(
            f"{name!r} is the ceiling of metrics of {ceiling.matrices}, and {metric_name!r} does not compare "
            f"{ceiling.matrices}",
            remedy="write @none, or @internal_consistency for a correlation",
        )
    reliability = ceiling.meaning == "reliability"
    scales = ceiling.scales or (_OF_VARIANCE if reliability else None)
    if scales is not None and declared.scale not in scales:
        raise UserError(
            f"{name!r} is a {'reliability, a share of variance,' if reliability else ' or '.join(scales)} and cannot "
            f"be the ceiling of {metric_name!r}, which is a {declared.scale or 'similarity'}",
            remedy="leave the ceiling out, or write @none: the score is then not ceiled"
            + (", or @rsa_ceiling, if there are several subjects" if declared.matrices == "dissimilarities" else ""),
        )


def check_assembly(name: str, metric: Any, measurements: VisualMeasurements) -> None:
    """Raise an error for recordings that a metric cannot be applied to.

    A UserError if there are several time bins, or too few neuroids.
    """
    assembly = measurements.averaged()
    if "neuroid" not in assembly.dims:
        raise UserError(
            f"the measurements of {measurements.benchmark!r} are {' × '.join(map(str, assembly.dims))}, not recordings",
            remedy="name a benchmark on recordings, such as MajajHong2015public.IT",
        )
    if assembly.sizes.get("time_bin", 1) != 1:
        raise UserError(
            f"the recordings of {measurements.benchmark!r} have {len(timebins_from_assembly(assembly))} time bins, but "
            f"{name!r} compares a single one",
            remedy="name a benchmark on one time bin",
        )
    count, fewest = assembly.sizes["neuroid"], declarations_of(metric).min_neuroids
    if count < fewest:
        raise UserError(
            f"the recordings of {measurements.benchmark!r} have {count} neuroid{'s' * (count != 1)}, but {name!r} "
            f"needs at least {fewest}",
            remedy="use a metric that works with single neuroids, such as pls or ridge",
        )


def compose(identifier: str) -> Benchmark:
    """Make a benchmark from its name.

    `identifier`: ``<data set>.<region>:<metric>[@<ceiling>]``. Without a ceiling, a correlation or share of variance is
    ceiled by ``internal_consistency``; other scores are not ceiled. Result: with the version, parent and citation of
    the registered benchmark. A UserError if the parts do not fit together. What only the recordings show, such as a
    single neuroid, raises when the benchmark is called, before the model is run.

    Examples
    --------
    >>> benchmark = compose("MajajHong2015public.IT:cka_cv")
    >>> benchmark.identifier, benchmark.parent, benchmark.ceiling.attrs["meaning"]
    ('MajajHong2015public.IT:cka_cv', 'IT', 'none')
    """
    name = parse_name(identifier)
    keys = base_keys(identifier)
    for part in (name.metric, name.ceiling):
        if part not in {None, NO_CEILING}:
            check_name(str(part))
    base, recorded = _recorded(identifier, keys)
    metric = load_metric(name.metric)
    check_metric(name.metric, metric)
    held_out = declarations_of(metric).needs_training
    if held_out and recorded.training is None:
        raise UserError(
            f"{name.metric!r} fits and tests on separate stimuli, but {recorded.benchmark!r} has only one set of "
            "stimuli",
            remedy=f"use its cross-validated form, such as {name.metric.removesuffix('_split')}_cv",
        )
    chosen = name.ceiling or ("internal_consistency" if declarations_of(metric).scale in _OF_VARIANCE else NO_CEILING)
    ceiling = None if chosen == NO_CEILING else load_ceiling(chosen)
    if ceiling is not None:
        check_ceiling(name.metric, metric, chosen, ceiling)
    divides = isinstance(metric, CrossValidatedGeometry) or isinstance(
        getattr(metric, "cross_validation", None), CrossValidation
    )
    if divides and isinstance(recorded.splits, CrossValidation):
        metric = load_metric(
            name.metric, crossvalidation_kwargs={"stratification_coord": recorded.splits.stratification_coord}
        )
    declared = declarations_of(metric)
    measurements = replace(
        recorded,
        benchmark=identifier,
        metric=metric,
        training=recorded.training if held_out else None,
        fitted_by=recorded.fitted_by if held_out and ceiling is not None else None,  # subjects have no ceiling either
        relate=partial(_relate, scale=declared.scale or "similarity", metric=name.metric),
    )
    estimate = _no_ceiling if ceiling is None else partial(_estimate, ceiling, recorded, base, name.ceiling is not None)
    settings: dict[str, Any] = {
        "identifier": measurements.benchmark,
        "similarity_metric": metric,
        "ceiling_func": estimate,
        "visual_degrees": measurements.visual_degrees,
        "number_of_trials": measurements.number_of_trials,
        "version": base.version,
        "parent": base.parent,
        "bibtex": base.bibtex,
    }
    benchmark: _Composed | _ComposedTrainTest
    if held_out:
        benchmark = _ComposedTrainTest(
            train_assembly=measurements.training,
            test_assembly=measurements.measured,
            alpha_coord=measurements.fitted_by,
            **settings,
        )
    else:
        benchmark = _Composed(assembly=measurements.measured, **settings)
    benchmark.metric_name, benchmark.composed = name.metric, measurements
    benchmark.control = base.control  # type: ignore[misc] # of this benchmark rather than of its class
    return benchmark


class _OfName(BenchmarkBase):
    """What composed benchmarks have in common."""

    metric_name: str
    composed: VisualMeasurements

    def measurements(self) -> VisualMeasurements:
        """The recordings of the registered benchmark, compared by the named metric."""
        return self.composed

    @property
    def region(self) -> str:
        """The region of the registered benchmark."""
        return self.composed.recorded_region

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare."""
        check_assembly(self.metric_name, self.composed.metric, self.composed)
        return super().__call__(candidate)  # type: ignore[safe-super] # that of the second base class


class _Composed(_OfName, NeuralBenchmark):
    """Composed benchmark with one set of stimuli."""

    def compare(self, recordings: DataAssembly, target: DataAssembly) -> Score:
        """Compare by the named metric; what goes wrong in one that does not say what it compares is reported."""
        try:
            return super().compare(recordings, target)
        except BrainScoreError:
            raise
        except Exception as error:
            if getattr(self.composed.metric, "compares", None) is not None:
                raise
            raise UserError(
                f"the metric {self.metric_name!r} cannot be applied to recordings, presentation × neuroid: "
                f"{type(error).__name__}: {error}",
                remedy="declare what it compares in its class, such as compares = 'choices'",
            ) from error


class _ComposedTrainTest(_OfName, TrainTestNeuralBenchmark):
    """Composed benchmark with training and test stimuli."""


def _recorded(identifier: str, keys: list[str]) -> tuple[Benchmark, VisualMeasurements]:
    """The first registered benchmark whose recordings any metric can be applied to, and what it measures."""
    reasons = []
    for key in keys:
        benchmark = benchmark_registry.make(key)
        try:
            measurements = replace(visual_measurements_of(benchmark), benchmark=key)
        except UserError as error:
            reasons.append(error.message)
            continue
        if measurements.compares == "recordings":
            return benchmark, measurements
        reasons.append(f"{key!r} compares {measurements.compares}")
    raise UserError(
        f"{identifier!r} needs recordings of a region that any metric can be applied to: {'; '.join(reasons)}",
        remedy="name a benchmark on recordings, such as MajajHong2015public.IT; one of a class of its own must define "
        "measurements()",
    )


def _relate(raw: Score, ceiling: Score, *, scale: str, metric: str) -> Score:
    if not isinstance(raw, Score):
        raise UserError(f"the metric {metric!r} returned a {type(raw).__name__}", remedy="return a Score")
    raw.attrs.setdefault("scale", scale)
    return relate_to_ceiling(raw, ceiling)


def _estimate(ceiling: Ceiling, measurements: VisualMeasurements, base: Benchmark, named: bool) -> Score:
    """Estimate a ceiling; where repetitions are unknown and no ceiling is named, that of the registered benchmark."""
    if ceiling.meaning != "reliability":  # others compare subjects
        return ceiling(measurements.averaged())
    if not named and measurements.repetitions is None and base.ceiling.attrs.get("meaning") == "reliability":
        return base.ceiling
    return ceiling(measurements.single_repetitions())


def _no_ceiling() -> Score:
    ceiling = declare_no_error(
        Score(float("nan")), "the benchmark's name asks for no ceiling, or none applies to its metric"
    )
    ceiling.attrs["meaning"] = "none"
    return ceiling
