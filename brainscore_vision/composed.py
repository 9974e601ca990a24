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
from brainscore_vision import benchmark_registry, load_ceiling, load_metric, metric_registry
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    timebins_from_assembly,
)
from brainscore_vision.composed_names import NO_CEILING, ComposedName, base_keys, parse_name
from brainscore_vision.metric_helpers.transformations import CrossValidation
from brainscore_vision.metrics.regression_correlation.metric import SplitRegressedCorrelation
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

__all__ = ["compose"]


@dataclass(frozen=True)
class Stratification:
    """Coordinate by which a registered benchmark stratifies its splits; None for not at all."""

    coord: str | None


@dataclass(frozen=True)
class Measurements:
    """What a registered benchmark compares models with. Nothing is loaded before it is needed."""

    key: str
    """Under which the benchmark is registered."""
    base: Any
    """The benchmark."""
    test: Any
    """Recordings (presentation × neuroid), repetitions averaged; perhaps a `LazyLoad`."""
    train: Any
    """Those to fit on, where the experiment fixed them."""
    visual_degrees: float
    number_of_trials: int
    time_bins: Any
    """As the benchmark was given them; None for those of the recordings."""
    stratified_by: Stratification | None
    """None where the benchmark makes no splits."""

    def averaged(self) -> DataAssembly:
        """The recordings to compare with."""
        return _content(self.test)

    def repetitions(self) -> DataAssembly:
        """The recordings before repetitions were averaged: those from which the benchmark estimates its ceiling.

        Raises
        ------
        UserError
            If the benchmark's ``ceiling_func`` does not hold them.
        """
        for held in (*_assemblies_in_closure(self.base._ceiling_func), self.test):
            assembly = _content(held)
            if isinstance(assembly, DataAssembly) and "neuroid" in assembly.dims and _has_repetitions(assembly):
                return assembly
        raise UserError(
            f"the recordings of {self.key!r} before their repetitions were averaged are not known: the function that "
            "estimates its ceiling holds no assembly with a coordinate 'repetition'",
            remedy="take a ceiling that needs none, such as @none, or a metric that needs none",
        )


def measurements_of(key: str, benchmark: Benchmark) -> Measurements | None:
    """What a registered benchmark compares recordings with; None where it compares something else.

    Parameters
    ----------
    key : str
        Under which it is registered.
    benchmark : Benchmark
        :class:`NeuralBenchmark`, :class:`TrainTestNeuralBenchmark` and :class:`RSABenchmark` have recordings.
    """
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
    # not isinstance, which would ask the object that a LazyLoad stands for
    return assembly.content if type(assembly) is LazyLoad else assembly


def _has_repetitions(assembly: DataAssembly) -> bool:
    return "repetition" in assembly.coords or "repetition" in assembly.dims


def _assemblies_in_closure(function: Any) -> Iterator[Any]:
    """Assemblies that a function takes from where it was defined: variables around it, defaults, bound arguments."""
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
"""Plugins whose metrics compare something else than recordings of a region."""

_TOO_FEW_NEUROIDS: Final = {
    "rdm": "between the responses of one neuroid there is no correlation, so it has no RDM",
    "rdm_cv": "between the responses of one neuroid there is no correlation, so it has no RDM",
    "rdm_cosine": "the angle between the responses of one neuroid is 0° or 180°, so its RDM says nothing",
    "effective_dimensionality": "the dimensionality of one neuroid is 1, whatever it responds to",
}
"""Metrics that one neuroid is not enough for, and why."""

_RDM: Final = "rdm"
_REPEATED: Final = ("rdm_mahalanobis", "rdm_crossnobis", "rdm_crossnobis_whitened")


def check_name(name: str) -> None:
    """Refuse, by its identifier, a metric or ceiling that compares no recordings, or that a name cannot describe.

    Raises
    ------
    UserError
        Says what it compares, or which arguments it needs.
    """
    compared = _METRICS_WITHOUT_RECORDINGS.get(_plugin(name))
    if compared is not None:
        raise UserError(
            f"{name!r} is about {compared}, not recordings of a region",
            remedy="take a metric of recordings, such as pls, ridge, rdm, cka or procrustes",
        )
    if name.startswith("spantime_") or name.endswith("_temporal"):
        raise UserError(
            f"{name!r} gives one value a time bin, but a score is one value",
            remedy=f"use {name.removeprefix('spantime_').removesuffix('_temporal')}",
        )
    try:
        inspect.signature(metric_registry[name]).bind()
    except TypeError as error:
        raise UserError(
            f"{name!r} needs arguments, which a name cannot give: {error}", remedy="write a benchmark that gives them"
        ) from None


def check_metric(name: str, metric: Any) -> None:
    """Refuse a ceiling in the place of a metric.

    Raises
    ------
    UserError
        Says where to write it.
    """
    if isinstance(metric, Ceiling):
        raise UserError(f"{name!r} is a ceiling, not a metric", remedy=f"write it after @, such as :pls@{name}")


def check_ceiling(metric_name: str, metric: Any, name: str, ceiling: Any) -> None:
    """Refuse a ceiling that is on another scale than the metric.

    Raises
    ------
    UserError
        Says why, and which ceilings there are.
    """
    if not isinstance(ceiling, Ceiling):
        raise UserError(f"{name!r} is a metric, not a ceiling", remedy="there are internal_consistency and none")
    scale = getattr(metric, "scale", None)
    if ceiling.meaning == "reliability" and scale not in {"correlation", "variance"}:
        raise UserError(
            f"{name!r} is a reliability, a share of variance, and {metric_name!r} is a {scale or 'similarity'}: the "
            "one is no ceiling of the other",
            remedy="leave the ceiling out, or write @none: the score is then that of the metric"
            + (", or @rsa_ceiling, where there are several subjects" if _plugin(metric_name) == _RDM else ""),
        )
    if _plugin(name) == "rsa_ceiling" and _plugin(metric_name) != _RDM:
        raise UserError(
            f"{name!r} is the ceiling of RDMs' correlations, and {metric_name!r} compares no RDMs",
            remedy="write @none, or @internal_consistency under a correlation",
        )
    if _plugin(name) == "noise_ceiling" and ceiling.meaning == "human-human" and scale != "correlation":
        raise UserError(
            f"{name!r} is a correlation, and {metric_name!r} is a {scale or 'similarity'}: the one is no ceiling of "
            "the other",
            remedy="leave the ceiling out, or write @none",
        )


def check_assembly(name: str, measurements: Measurements) -> None:
    """Refuse recordings that a metric cannot be applied to.

    Raises
    ------
    UserError
        If there are several time bins, or too few neuroids.
    """
    assembly = measurements.averaged()
    if "neuroid" not in assembly.dims:
        raise UserError(
            f"the measurements of {measurements.key!r} are {' × '.join(map(str, assembly.dims))}, no recordings",
            remedy="name a benchmark on recordings, such as MajajHong2015public.IT",
        )
    if assembly.sizes.get("time_bin", 1) != 1:
        raise UserError(
            f"the recordings of {measurements.key!r} have {len(timebins_from_assembly(assembly))} time bins, but "
            f"{name!r} compares one",
            remedy="name a benchmark on one time bin",
        )
    if assembly.sizes["neuroid"] < 2 and name in _TOO_FEW_NEUROIDS:
        raise UserError(
            f"the recordings of {measurements.key!r} have {assembly.sizes['neuroid']} neuroid: "
            f"{_TOO_FEW_NEUROIDS[name]}",
            remedy="use a metric that takes a neuroid by itself, such as pls or ridge",
        )


def default_ceiling(metric: Any) -> str:
    """Identifier of the ceiling where a name has none; ``'none'`` for none."""
    return "internal_consistency" if getattr(metric, "scale", None) in {"correlation", "variance"} else "none"


def needs_repetitions(name: str) -> bool:
    """Whether a metric takes the noise between repetitions into account."""
    return name in _REPEATED


def _plugin(metric: str) -> str:
    """Folder of a metric that comes with this package; empty for others."""
    package = metric_registry.location(metric).package
    return package.removeprefix(_METRICS) if package.startswith(_METRICS) else ""


def compose(identifier: str) -> Benchmark:
    """Make a benchmark from its name.

    Parameters
    ----------
    identifier : str
        ``<data set>.<region>:<metric>[@<ceiling>]``. Without a ceiling, a correlation or share of variance is related
        to ``internal_consistency``, anything else is not ceiled.

    Returns
    -------
    Benchmark
        Version, parent and citation are those of the registered benchmark.

    Raises
    ------
    UserError
        If the parts do not go together; what only the recordings tell, such as a single neuroid, is said before a
        model is run.

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
    held_out = isinstance(metric, SplitRegressedCorrelation)
    if held_out and measurements.train is None:
        raise UserError(
            f"{name.metric!r} fits on training stimuli and tests on others, but {measurements.key!r} has one set of "
            "stimuli",
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
    """A metric whose scores say on which scale they are; given the single repetitions where it needs them."""

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
    """One set of stimuli."""

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
    """Training and test stimuli."""

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
            # without a ceiling there is none of each subject
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
        found = measurements_of(key, benchmark_registry.make(key))
        if found is not None:
            return found
    raise UserError(
        f"{identifier!r} needs recordings of a region that any metric can be applied to; {', '.join(keys)} "
        f"{'has' if len(keys) == 1 else 'have'} behaviour, properties or dissimilarities, or recordings that are "
        "compared in a way of their own",
        remedy="name a benchmark on recordings, such as MajajHong2015public.IT",
    )


def _cross_validation(metric: Any) -> CrossValidation | None:
    found = getattr(metric, "cross_validation", None) or getattr(metric, "_cross_validation", None)
    return found if isinstance(found, CrossValidation) else None


def _estimated(ceiling: Ceiling, measurements: Measurements) -> Score:
    single = ceiling.meaning == "reliability"  # the others compare subjects
    return ceiling(measurements.repetitions() if single else measurements.averaged())


def _no_ceiling() -> Score:
    ceiling = declare_no_error(Score(float("nan")), "the benchmark's name asks for none, or none applies to its metric")
    ceiling.attrs["meaning"] = "none"
    return ceiling
