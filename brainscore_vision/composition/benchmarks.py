"""Composed benchmarks: any metric and ceiling on the recordings of a registered benchmark.

``MajajHong2015public.IT:cka_cv`` takes from ``MajajHong2015public.IT-pls`` the recordings, the visual angle, the
number of trials, the time bins, the coordinate that stratifies splits, and the parent; from ``cka_cv`` the metric and
its split. ``…@<ceiling>`` names the ceiling.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.metrics import Ceiling, Metric, Score, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    timebins_from_assembly,
)
from brainscore_vision.composition.names import NO_CEILING, ComposedName, base_keys, parse_name
from brainscore_vision.metric_helpers.transformations import CrossValidation
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import benchmark_registry, load_ceiling, load_metric, metric_registry
from brainscore_vision.utils import LazyLoad


@dataclass(frozen=True)
class Stratification:
    """Coordinate by which a registered benchmark stratifies its splits; None if it does not stratify."""

    coord: str | None


@dataclass(frozen=True)
class Measurements:
    """Measurements and settings of a registered benchmark, loaded on first use."""

    key: str
    """Registry key of the benchmark."""
    base: Any
    """The benchmark."""
    test: Any
    """Recordings (presentation × neuroid) averaged over repetitions; may be a `LazyLoad`."""
    train: Any
    """Recordings to fit on, if the experiment fixed them."""
    visual_degrees: float
    number_of_trials: int
    time_bins: Any
    """Time bins passed to the benchmark; None for those of the recordings."""
    stratified_by: Stratification | None
    """None if the benchmark makes no splits."""

    def averaged(self) -> DataAssembly:
        """The recordings to compare with."""
        return _content(self.test)

    def repetitions(self) -> DataAssembly:
        """The recordings before averaging over repetitions, from which the benchmark estimates its ceiling.

        Raises
        ------
        UserError
            If the benchmark's ``ceiling_func`` does not hold them.
        """
        for candidate in (*_assemblies_in_closure(self.base._ceiling_func), self.test):
            assembly = _content(candidate)
            if isinstance(assembly, DataAssembly) and "neuroid" in assembly.dims and _has_repetitions(assembly):
                return assembly
        raise UserError(
            f"single repetitions of the recordings of {self.key!r} are not known: the function that estimates its "
            "ceiling holds no assembly with a coordinate 'repetition'",
            remedy="use a ceiling that needs no repetitions, such as @none, or a metric that needs none",
        )


def measurements_of(key: str, benchmark: Benchmark) -> Measurements | None:
    """Measurements of a registered benchmark on recordings; None for other benchmarks.

    Parameters
    ----------
    key : str
        Registry key of the benchmark.
    benchmark : Benchmark
        :class:`NeuralBenchmark`, :class:`TrainTestNeuralBenchmark` and :class:`RSABenchmark` have recordings. A
        composed benchmark has those of the registered one.
    """
    if isinstance(benchmark, _Composed | _ComposedTrainTest):
        return benchmark._measurements
    if isinstance(benchmark, TrainTestNeuralBenchmark):
        test, train = benchmark.test_assembly, benchmark.train_assembly
    elif isinstance(benchmark, NeuralBenchmark | RSABenchmark):
        test, train = benchmark._assembly, None
    else:
        return None
    splits = getattr(getattr(benchmark, "_similarity_metric", None), "cross_validation", None)
    return Measurements(
        key=key,
        base=benchmark,
        test=test,
        train=train,
        visual_degrees=benchmark._visual_degrees,
        number_of_trials=benchmark._number_of_trials,
        time_bins=getattr(benchmark, "_timebins", None),
        stratified_by=Stratification(splits.stratification_coord) if isinstance(splits, CrossValidation) else None,
    )


def _content(assembly: Any) -> Any:
    # isinstance would load the content of a LazyLoad
    return assembly.content if type(assembly) is LazyLoad else assembly


def _has_repetitions(assembly: DataAssembly) -> bool:
    return "repetition" in assembly.coords or "repetition" in assembly.dims


def _assemblies_in_closure(function: Any) -> Iterator[Any]:
    """Assemblies that a function holds: in its closure, defaults and bound arguments."""
    if isinstance(function, functools.partial):
        yield from _assemblies_in_closure(function.func)
        values: list[Any] = [*function.args, *function.keywords.values()]
    elif isinstance(function, types.FunctionType):
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        values = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    else:
        return
    yield from (value for value in values if type(value) is LazyLoad or isinstance(value, DataAssembly))


_METRICS = "brainscore_vision.metrics."

_METRICS_WITHOUT_RECORDINGS: Final = {
    "accuracy": "choices",
    "accuracy_distance": "choices",
    "baker_accuracy_delta": "choices",
    "dimensionality": "pairs of stimuli that share a factor",
    "distribution_similarity": "distributions of neuronal properties",
    "error_consistency": "choices",
    "i1i2": "choices",
    "maniquet2024_metrics": "choices",
    "odd_one_out": "choices",
    "ost": "the times at which objects can be read out",
    "shape_bias": "choices",
    "threshold": "thresholds of choices",
    "value_delta": "single values",
}
"""Plugins whose metrics do not compare recordings of a region → what they compare."""

_TOO_FEW_NEUROIDS: Final = {
    "rdm": "responses of a single neuroid have no correlation, so it has no RDM",
    "rdm_cv": "responses of a single neuroid have no correlation, so it has no RDM",
    "rdm_cosine": "the angle between responses of a single neuroid is 0° or 180°, so its RDM is uninformative",
    "effective_dimensionality": "the dimensionality of one neuroid is 1, whatever it responds to",
}
"""Metrics that need more than one neuroid, and why."""

_RDM: Final = "rdm"
_REPEATED: Final = ("rdm_mahalanobis", "rdm_crossnobis", "rdm_crossnobis_whitened")


def check_name(name: str) -> None:
    """Raise an error for the name of a metric or ceiling that does not compare recordings, or that needs arguments.

    Raises
    ------
    UserError
        The message states what it compares, or which arguments it needs.
    """
    compared = _METRICS_WITHOUT_RECORDINGS.get(_plugin(name))
    if compared is not None:
        raise UserError(
            f"{name!r} is about {compared}, not recordings of a region",
            remedy="use a metric of recordings, such as pls, ridge, rdm, cka or procrustes",
        )
    if name.startswith("spantime_") or name.endswith("_temporal"):
        raise UserError(
            f"{name!r} returns one value per time bin, but a score is a single value",
            remedy=f"use {name.removeprefix('spantime_').removesuffix('_temporal')}",
        )
    try:
        inspect.signature(metric_registry[name]).bind()
    except TypeError as error:
        raise UserError(
            f"{name!r} needs arguments, which a name cannot contain: {error}",
            remedy="write a benchmark that passes them",
        ) from None


def check_metric(name: str, metric: Any) -> None:
    """Raise an error for a ceiling in place of a metric.

    Raises
    ------
    UserError
        The message explains where to write the ceiling.
    """
    if isinstance(metric, Ceiling):
        raise UserError(f"{name!r} is a ceiling, not a metric", remedy=f"write it after @, such as :pls@{name}")


def check_ceiling(metric_name: str, metric: Any, name: str, ceiling: Any) -> None:
    """Raise an error for a ceiling that is not on the scale of the metric.

    Raises
    ------
    UserError
        The message states the reason, and which ceilings to use.
    """
    if not isinstance(ceiling, Ceiling):
        raise UserError(f"{name!r} is a metric, not a ceiling", remedy="use internal_consistency or none")
    scale = getattr(metric, "scale", None)
    if ceiling.meaning == "reliability" and scale not in {"correlation", "variance"}:
        raise UserError(
            f"{name!r} is a reliability, a share of variance, and cannot be the ceiling of {metric_name!r}, which is "
            f"a {scale or 'similarity'}",
            remedy="leave the ceiling out, or write @none: the score is then not ceiled"
            + (", or @rsa_ceiling, if there are several subjects" if _plugin(metric_name) == _RDM else ""),
        )
    if _plugin(name) == "rsa_ceiling" and _plugin(metric_name) != _RDM:
        raise UserError(
            f"{name!r} is the ceiling of correlations between RDMs, and {metric_name!r} does not compare RDMs",
            remedy="write @none, or @internal_consistency for a correlation",
        )
    if _plugin(name) == "noise_ceiling" and ceiling.meaning == "human-human" and scale != "correlation":
        raise UserError(
            f"{name!r} is a correlation, and cannot be the ceiling of {metric_name!r}, which is "
            f"a {scale or 'similarity'}",
            remedy="leave the ceiling out, or write @none",
        )


def check_assembly(name: str, measurements: Measurements) -> None:
    """Raise an error for recordings that a metric cannot be applied to.

    Raises
    ------
    UserError
        If there are several time bins, or too few neuroids.
    """
    assembly = measurements.averaged()
    if "neuroid" not in assembly.dims:
        raise UserError(
            f"the measurements of {measurements.key!r} are {' × '.join(map(str, assembly.dims))}, not recordings",
            remedy="name a benchmark on recordings, such as MajajHong2015public.IT",
        )
    if assembly.sizes.get("time_bin", 1) != 1:
        raise UserError(
            f"the recordings of {measurements.key!r} have {len(timebins_from_assembly(assembly))} time bins, but "
            f"{name!r} compares a single one",
            remedy="name a benchmark on one time bin",
        )
    if assembly.sizes["neuroid"] < 2 and name in _TOO_FEW_NEUROIDS:
        raise UserError(
            f"the recordings of {measurements.key!r} have {assembly.sizes['neuroid']} neuroid: "
            f"{_TOO_FEW_NEUROIDS[name]}",
            remedy="use a metric that works with single neuroids, such as pls or ridge",
        )


def default_ceiling(metric: Any) -> str:
    """Identifier of the default ceiling of a metric; ``'none'`` for no ceiling."""
    return "internal_consistency" if getattr(metric, "scale", None) in {"correlation", "variance"} else "none"


def needs_repetitions(name: str) -> bool:
    """Whether a metric uses the noise between repetitions."""
    return name in _REPEATED


def _plugin(metric: str) -> str:
    """Plugin folder of a metric of this package; empty for other metrics."""
    package = metric_registry.location(metric).package
    return package.removeprefix(_METRICS) if package.startswith(_METRICS) else ""


def compose(identifier: str) -> Benchmark:
    """Make a benchmark from its name.

    Parameters
    ----------
    identifier : str
        ``<data set>.<region>:<metric>[@<ceiling>]``. Without a ceiling, a correlation or share of variance is ceiled by
        ``internal_consistency``; other scores are not ceiled.

    Returns
    -------
    Benchmark
        With the version, parent and citation of the registered benchmark.

    Raises
    ------
    UserError
        If the parts do not fit together. What only the recordings show, such as a single neuroid, raises when the
        benchmark is called, before the model is run.

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
    measurements = _measurements(identifier, keys)
    metric = load_metric(name.metric)
    check_metric(name.metric, metric)
    held_out = getattr(metric, "needs_training", False)
    if held_out and measurements.train is None:
        raise UserError(
            f"{name.metric!r} fits and tests on separate stimuli, but {measurements.key!r} has only one set of stimuli",
            remedy=f"use its cross-validated form, such as {name.metric.removesuffix('_split')}_cv",
        )
    chosen = name.ceiling or default_ceiling(metric)
    ceiling = None if chosen == NO_CEILING else load_ceiling(chosen)
    if ceiling is not None:
        check_ceiling(name.metric, metric, chosen, ceiling)
    if measurements.stratified_by is not None and _cross_validation(metric) is not None:
        metric = load_metric(
            name.metric, crossvalidation_kwargs={"stratification_coord": measurements.stratified_by.coord}
        )
    ceiling_func = _no_ceiling if ceiling is None else lambda: _estimated(ceiling, measurements)
    if held_out:
        return _ComposedTrainTest(identifier, name, measurements, metric, ceiling_func)
    return _Composed(identifier, name, measurements, _MetricWithScale(metric, name.metric, measurements), ceiling_func)


class _MetricWithScale(Metric):
    """A metric whose scores state their scale; it gets single repetitions if it needs them."""

    def __init__(self, metric: Callable[..., Score], name: str, measurements: Measurements) -> None:
        self._metric = metric
        self._measurements = measurements if needs_repetitions(name) else None

    def __call__(self, source: DataAssembly, target: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        if self._measurements is not None:
            target = self._measurements.repetitions()
        score = self._metric(source, target)
        score.attrs.setdefault("scale", getattr(self._metric, "scale", None) or "similarity")
        return score


class _Composed(NeuralBenchmark):
    """Composed benchmark with one set of stimuli."""

    def __init__(
        self,
        identifier: str,
        name: ComposedName,
        measurements: Measurements,
        metric: Metric,
        ceiling_func: Callable[[], Score],
    ) -> None:
        super().__init__(
            identifier=identifier,
            assembly=measurements.test,
            similarity_metric=metric,
            ceiling_func=ceiling_func,
            visual_degrees=measurements.visual_degrees,
            number_of_trials=measurements.number_of_trials,
            version=measurements.base.version,
            parent=measurements.base.parent,
            bibtex=measurements.base.bibtex,
            timebins=measurements.time_bins,
        )
        self._name = name
        self._measurements = measurements
        self.control = measurements.base.control  # type: ignore[misc] # of this benchmark rather than of its class

    @property
    def region(self) -> str:
        """The region of the registered benchmark."""
        return str(self._measurements.base.region)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare."""
        check_assembly(self._name.metric, self._measurements)
        return super().__call__(candidate)


class _ComposedTrainTest(TrainTestNeuralBenchmark):
    """Composed benchmark with training and test stimuli."""

    def __init__(
        self,
        identifier: str,
        name: ComposedName,
        measurements: Measurements,
        metric: Callable[..., Score],
        ceiling_func: Callable[[], Score],
    ) -> None:
        base = measurements.base
        super().__init__(
            identifier=identifier,
            train_assembly=measurements.train,
            test_assembly=measurements.test,
            similarity_metric=metric,
            ceiling_func=ceiling_func,
            visual_degrees=measurements.visual_degrees,
            number_of_trials=measurements.number_of_trials,
            version=base.version,
            parent=base.parent,
            bibtex=base.bibtex,
            timebins=measurements.time_bins,
            # without a ceiling, subjects have no ceiling either
            alpha_coord=None if ceiling_func is _no_ceiling else base.alpha_coord,
        )
        self._name = name
        self._measurements = measurements
        self.control = base.control  # type: ignore[misc] # of this benchmark rather than of its class

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare."""
        check_assembly(self._name.metric, self._measurements)
        return super().__call__(candidate)


def _measurements(identifier: str, keys: list[str]) -> Measurements:
    for key in keys:
        measurements = measurements_of(key, benchmark_registry.make(key))
        if measurements is not None:
            return measurements
    raise UserError(
        f"{identifier!r} needs recordings of a region that any metric can be applied to; {', '.join(keys)} "
        f"{'has' if len(keys) == 1 else 'have'} behavior, properties or dissimilarities, or recordings with a "
        "comparison of their own",
        remedy="name a benchmark on recordings, such as MajajHong2015public.IT",
    )


def _cross_validation(metric: Any) -> CrossValidation | None:
    splits = getattr(metric, "cross_validation", None) or getattr(metric, "_cross_validation", None)
    return splits if isinstance(splits, CrossValidation) else None


def _estimated(ceiling: Ceiling, measurements: Measurements) -> Score:
    single = ceiling.meaning == "reliability"  # other ceilings compare subjects
    return ceiling(measurements.repetitions() if single else measurements.averaged())


def _no_ceiling() -> Score:
    ceiling = declare_no_error(
        Score(float("nan")), "the benchmark's name asks for no ceiling, or none applies to its metric"
    )
    ceiling.attrs["meaning"] = "none"
    return ceiling
