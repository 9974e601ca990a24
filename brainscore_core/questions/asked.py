"""A question applied to measurements: what is compared with models, by which metric, splits and ceiling."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.benchmarks.measurements import Measurements, measurements_of
from brainscore_core.domains import Domain, domain, find
from brainscore_core.errors import UserError
from brainscore_core.lazy import content_of
from brainscore_core.metric_helpers.alignment import listed
from brainscore_core.metric_helpers.transformations import CrossValidation, TestedStimuli
from brainscore_core.metrics import Ceiling, Declarations, Score, declarations_of, declare_no_error
from brainscore_core.questions.question import rows_matching, unknown_column
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.questions.question import Question
    from brainscore_core.results.products import Products

_OF_VARIANCE = ("correlation", "variance")
_TESTED = "tested_by_question"


@dataclass(frozen=True)
class Asked:
    """A question, with the measurements that it selects.

    - `question`: the question.
    - `benchmark`: the benchmark that it is about.
    - `metric`: compares models with `targets`.
    - `targets`: selected measurements: those to test on, then those to fit on, if the experiment fixed them.
    - `ceiling`: ceiling of the selected measurements; its meaning is ``'none'`` if there is none.
    - `relate`: relates a raw score to the ceiling.
    """

    question: Question
    benchmark: Benchmark
    metric: Callable[..., Score]
    targets: list[DataAssembly]
    ceiling: Score
    relate: Callable[[Score, Score], Score]

    @cached_property
    def stimuli(self) -> list[list[Any]]:
        """Values of ``stimulus_id`` that each part needs, each once."""
        return [list(dict.fromkeys(target["stimulus_id"].values.tolist())) for target in self.targets]

    @cached_property
    def _named(self) -> list[NeuroidAssembly]:
        """Assemblies of `stimuli` without features: their coordinates are made once for all models."""
        dims = ["presentation", "neuroid"]
        return [
            NeuroidAssembly(np.empty((len(part), 0)), coords={"stimulus_id": ("presentation", part)}, dims=dims)
            for part in self.stimuli
        ]

    def score(self, sources: Sequence[DataAssembly]) -> Score:
        """Compare features of the stimuli, one assembly for each of `targets`, with the measurements."""
        if len(sources) == 1:
            raw = self.metric(sources[0], self.targets[0])
        else:
            (test, train), (target_test, target_train) = sources, self.targets
            raw = self.metric(source_train=train, source_test=test, target_train=target_train, target_test=target_test)
        raw.attrs.setdefault("scale", declarations_of(self.metric).scale or "similarity")
        return bound_score(self.relate(raw, self.ceiling))

    def sources(self, products: Products) -> list[DataAssembly]:
        """Make features of the stimuli that have the stored products.

        Raises UserError if the products lack some of the stimuli.
        """
        names = [list(map(str, part)) for part in self.stimuli]
        positions = {name: row for row, name in enumerate(products.stimuli)}
        missing = [name for part in names for name in part if name not in positions]
        if missing:
            raise UserError(
                f"the stored products are of other stimuli: {len(missing)} are missing, such as {missing[0]}",
                remedy="score the pair again",
            )
        rows = [np.array([positions[name] for name in part]) for part in names]
        features = products.values.equivalent_features(np.concatenate(rows))
        parts = np.split(features, np.cumsum([len(part) for part in rows])[:-1])
        return [
            NeuroidAssembly(values, coords=named.coords, dims=named.dims)
            for values, named in zip(parts, self._named, strict=True)
        ]


def apply_question(question: Question) -> Asked:
    """Load the benchmark of a question, and select from its measurements.

    Raises UserError if the question cannot be answered from products of features, or selects nothing.
    """
    name = find("benchmark", question.benchmark)
    with suppress(UserError):  # without the domain, unless another one has such a benchmark: one question in both forms
        question = replace(question, benchmark=find("benchmark", name.identifier).identifier)
    described = domain(name.domain)
    benchmark = described.load_benchmark(name.identifier)
    measurements = measurements_of(benchmark)
    if measurements.compares != "recordings":
        raise UserError(
            f"{question.benchmark!r} compares {measurements.compares}",
            remedy="questions are answered about recordings of a region",
        )
    if measurements.fitted_by is not None:
        raise UserError(
            f"{question.benchmark!r} is fitted for each {measurements.fitted_by} separately, which questions do not "
            "repeat",
            remedy=f"ask a benchmark of a single one, or select it: neuroids='{measurements.fitted_by} == \"…\"'"
            if measurements.training is None
            else "score the benchmark again",
        )
    metric = _metric(question, described, measurements)
    declared = _declared(question, metric)
    selected = replace(measurements, metric=metric, training=measurements.training if declared.needs_training else None)
    if declared.needs_training and selected.training is None:
        raise UserError(
            f"{question.metric!r} fits and tests on separate stimuli, but {question.benchmark!r} has one set of them",
            remedy="use a metric that divides them",
        )
    parts = [selected.target(), *([] if selected.training is None else [content_of(selected.training)])]
    known = {str(stimulus) for part in parts for stimulus in part["stimulus_id"].values}
    unknown = [stimulus for stimulus in question.stimulus_ids if stimulus not in known]
    if unknown:
        raise UserError(
            f"{question.benchmark!r} has no stimuli {listed(unknown)}: {len(unknown)} of {len(question.stimulus_ids)} "
            "named ones are unknown",
            remedy="leave them out",
        )
    keep = _neuroids(question, parts[0])
    targets = [_selected(question, part, keep) for part in parts]
    if question.split is not None:
        metric, targets[0] = _with_split(question.split, metric, targets[0])
    ceiling = _ceiling(question, described, benchmark, measurements, declared, targets[0])
    none = ceiling.attrs.get("meaning") == "none"
    return Asked(question, benchmark, metric, targets, ceiling, normalise if none else measurements.relate)


def _metric(question: Question, described: Domain, measurements: Measurements) -> Any:
    if question.metric is None:
        if measurements.metric is None:
            raise UserError(f"{question.benchmark!r} compares in a way of its own", remedy="name a metric")
        return measurements.metric
    metric = described.load_metric(question.metric)
    splits = measurements.splits
    if isinstance(splits, CrossValidation) and isinstance(getattr(metric, "cross_validation", None), CrossValidation):
        stratified = {"stratification_coord": splits.stratification_coord}
        return described.load_metric(question.metric, crossvalidation_kwargs=stratified)
    return metric


def _declared(question: Question, metric: Any) -> Declarations:
    name = question.metric or f"the metric of {question.benchmark}"
    declared = declarations_of(metric)
    if isinstance(metric, Ceiling) or declared.compares != "recordings" or declared.per_time_bin:
        raise UserError(f"{name!r} does not compare recordings of one time bin", remedy="use such as ridge, rdm or cka")
    if not declared.from_products:
        raise UserError(
            f"{name!r} needs single features of models, of which only products for pairs of stimuli are stored",
            remedy="use ridge, ridgecv, pls, cka or an rdm metric, or score the models again",
        )
    return declared


def columns_of(assembly: DataAssembly, dim: str) -> dict[str, NDArray[Any]]:
    """Coordinates of a dimension, and columns of the stimulus set, with a value for each row."""
    columns = {str(name): np.asarray(assembly[name].values) for name in coords_for_dim(assembly, dim)}
    stimulus_set = assembly.attrs.get("stimulus_set")
    if dim == "presentation" and stimulus_set is not None:
        table = stimulus_set.drop_duplicates("stimulus_id").set_index("stimulus_id")
        table = table.reindex(assembly["stimulus_id"].values)
        columns = {str(name): table[name].to_numpy() for name in table.columns} | columns
    return columns


def _neuroids(question: Question, target: DataAssembly) -> NDArray[np.bool_] | None:
    if question.neuroids is None:
        return None
    mask = rows_matching(question.neuroids, columns_of(target, "neuroid"), what="neuroids")
    if not mask.any():
        raise UserError(f"no neuroid matches {question.neuroids!r}", remedy="ask for others")
    return mask


def _selected(question: Question, part: DataAssembly, neuroids: NDArray[np.bool_] | None) -> DataAssembly:
    if "time_bin" in part.dims:
        if part.sizes["time_bin"] != 1:
            raise UserError(f"{question.benchmark!r} has {part.sizes['time_bin']} time bins, and questions need one")
        part = part.isel(time_bin=0, drop=True)
    rows = np.ones(part.sizes["presentation"], dtype=bool)
    if question.stimuli is not None:
        rows = rows_matching(question.stimuli, columns_of(part, "presentation"), what="stimuli").copy()
    if question.stimulus_ids:
        rows &= np.isin(part["stimulus_id"].values.astype(str), question.stimulus_ids)
    if not rows.any():
        raise UserError("no stimulus is selected", remedy="ask for others")
    if not rows.all():
        part = part.isel(presentation=np.flatnonzero(rows))
    return part if neuroids is None else part.isel(neuroid=np.flatnonzero(neuroids))


def _with_split(split: str, metric: Any, target: DataAssembly) -> tuple[Any, DataAssembly]:
    """The metric with other splits, and the target with the coordinate that they need."""
    if getattr(metric, "cross_validation", None) is None:
        raise UserError(
            "the metric does not divide stimuli, so that it has no other splits", remedy="use such as ridge"
        )
    kind, _, detail = split.partition(":")
    columns = columns_of(target, "presentation")
    if kind == "test":
        tested = rows_matching(detail, columns, what="stimuli")
        if tested.all() or not tested.any():
            raise UserError(f"{detail!r} selects {'all' if tested.all() else 'no'} stimuli", "test some, not all")
        target = target.assign_coords({_TESTED: ("presentation", tested)})
        splits: CrossValidation = TestedStimuli(_TESTED)
    else:
        if detail not in columns:
            raise unknown_column(detail, columns, what="stimuli")
        groups = len(set(columns[detail].tolist()))
        if groups < 2:
            raise UserError(f"all stimuli have the same {detail!r}", remedy="split by another column")
        if detail not in target.coords:
            target = target.assign_coords({detail: ("presentation", columns[detail])})
        every = {"kfold": True, "splits": groups} if kind == "each" else {"splits": 10}
        splits = CrossValidation(group_coord=detail, stratification_coord=None, **every)  # type: ignore[arg-type] # of two types
    metric = copy.copy(metric)
    metric.cross_validation = splits
    return metric, target


def _ceiling(
    question: Question,
    described: Domain,
    benchmark: Benchmark,
    measurements: Measurements,
    declared: Declarations,
    target: DataAssembly,
) -> Score:
    name = question.ceiling
    if name is None and question.metric is None and not question.selects:
        known: Score | None = benchmark.ceiling
        if known is not None:
            return known
        name = "none"
    if name is None:
        reliable = declared.scale in _OF_VARIANCE and "internal_consistency" in described.registries["metric"]
        name = "internal_consistency" if reliable and _has_repetitions(measurements) else "none"
    if name == "none":
        ceiling = declare_no_error(Score(float("nan")), "the question asks for no ceiling, or none applies")
        ceiling.attrs["meaning"] = "none"
        return ceiling
    estimator = described.load_metric(name)
    if not isinstance(estimator, Ceiling):
        raise UserError(f"{name!r} is a metric, not a ceiling", remedy="use internal_consistency or none")
    if estimator.meaning != "reliability":
        return estimator(target)
    if declared.scale not in _OF_VARIANCE:
        raise UserError(f"{name!r} is a reliability, and the metric is a {declared.scale}", remedy="ask for none")
    repeated = measurements.single_repetitions()
    names = repeated["stimulus_id"].values.astype(str)
    repeated = repeated.isel(presentation=np.flatnonzero(np.isin(names, target["stimulus_id"].values.astype(str))))
    if repeated.sizes["neuroid"] != target.sizes["neuroid"] or question.neuroids is not None:
        chosen = np.isin(repeated["neuroid_id"].values, target["neuroid_id"].values)
        repeated = repeated.isel(neuroid=np.flatnonzero(chosen))
    return estimator(repeated)


def _has_repetitions(measurements: Measurements) -> bool:
    try:
        measurements.single_repetitions()
    except UserError:
        return False
    return True
