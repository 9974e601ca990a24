"""One benchmark's recordings, analysed in many reasonable ways: which model is ahead, and which choices decide it."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import BrainScoreError, UserError
from brainscore_core.figures import COLUMN_WIDTHS, Specification, Svg, specification, standalone
from brainscore_core.metric_helpers.alignment import as_table, finite_values, match_rows
from brainscore_core.metric_helpers.geometry import GeometryMetric, matched
from brainscore_core.metric_helpers.transformations import CrossValidation
from brainscore_core.metrics import Metric, Score, Uncertainty, declarations_of
from brainscore_core.numerics import participation_ratio
from brainscore_core.progress import stage, track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim
from brainscore_vision.assessment.features import SCALINGS, Features
from brainscore_vision.benchmark_helpers.measurements import (
    require_stimuli,
    visual_measurements_of,
    without_single_time_bin,
)
from brainscore_vision.benchmark_helpers.neural_common import record, relate_to_ceiling
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.composition import parse_name
from brainscore_vision.composition.benchmarks import check_assembly, check_metric, check_name
from brainscore_vision.model_helpers.activations.reduction import make_reduction
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.temporal import in_time_bins
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import load_benchmark, load_metric, load_model, metric_registry

Array = NDArray[np.float64]

CHOICES = ("metric", "split", "scaling", "reduction", "layer", "normalisation")
"""What an analysis chooses."""

METRICS = ("pls", "ridge", "ridgecv", "rdm", "cka")
"""Default metrics; the benchmark's own one comes first."""
GROUPS = ("object_name", "category", "scene", "video", "session")
"""Coordinates of stimuli that splits keep together by default, if the recordings have them."""
REDUCTIONS = ("none", "pca:100", "projection:500")
LAYERS = ("committed", "first", "middle", "last")
NORMALISATIONS = ("raw", "ceiling")

ALL_STIMULI = "all stimuli"
"""Split of metrics that fit nothing."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One analysis of one model."""

    model: str  # name of the model
    # What was chosen
    metric: str
    split: str
    scaling: str
    reduction: str
    layer: str
    normalisation: str
    score: float | None  # not clamped; None if undefined
    reason: str | None = None  # why the score is undefined
    layers: str | None = None  # layers of the model, if known
    features: int | None = None  # number of features that were compared, after reduction
    # Their effective dimensionality (:func:`~brainscore_core.numerics.participation_ratio`)
    dimensionality: float | None = None


@dataclass(frozen=True)
class Multiverse:
    """Scores of models in many analyses of one benchmark.

    `benchmark`: identifier of the benchmark. `models`: names of the models. `reference`: the analysis that others are
    compared with: the first value of each choice. `analyses`: one for each analysis and model.
    """

    benchmark: str
    models: tuple[str, ...]
    reference: dict[str, str]
    analyses: tuple[Analysis, ...]

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types."""
        return asdict(self)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Long form: one row for each analysis and model, with the fields of :class:`Analysis`; NaN if undefined."""
        table = pd.DataFrame([asdict(analysis) for analysis in self.analyses])
        columns = [*CHOICES, "model", "score", "reason", "layers", "features", "dimensionality"]
        return table[columns].astype({"score": float, "features": float, "dimensionality": float})

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Wide form: analyses × models; the index has a level for each choice."""
        wide = self.table.set_index([*CHOICES, "model"])["score"].unstack("model", sort=False)
        return wide[list(self.models)]

    @property
    def ranks(self) -> pd.DataFrame:
        """Analyses × models: rank, 1 for the highest score, means of ranks for equal scores; NaN if undefined."""
        return self.scores.rank(axis=1, ascending=False)

    def flips(self) -> pd.DataFrame:
        """How often a single choice changes the order of two models.

        Result: for each choice, two of its values and two models: ``compared``, the number of pairs of analyses that
        are equal but for this choice and in which both models have different scores; ``flipped``, the number of these
        in which the order differs; ``from_reference``, whether it differs in the pair with the reference (None if that
        was not compared). Pairs of analyses that were not compared at all are left out.
        """
        wide = self.scores.reset_index()
        rows = []
        for choice in CHOICES:
            for first, second in combinations(dict.fromkeys(wide[choice]), 2):
                pairs = _differing_in(wide, choice, first, second)
                at_reference = self._near_reference(pairs, choice, first, second)
                for models in combinations(self.models, 2):
                    before, after = (
                        np.sign(pairs[f"{models[0]}{side}"].to_numpy() - pairs[f"{models[1]}{side}"].to_numpy())
                        for side in ("_first", "_second")
                    )
                    compared = np.abs(before * after) == 1
                    if compared.any():
                        flipped, here = compared & (before != after), compared & at_reference
                        reference = bool(flipped[here].any()) if here.any() else None
                        rows.append(
                            _Flip(choice, first, second, *models, int(compared.sum()), int(flipped.sum()), reference)
                        )
        return pd.DataFrame(rows, columns=list(_Flip._fields))

    def _near_reference(self, pairs: pd.DataFrame, choice: str, first: str, second: str) -> NDArray[np.bool_]:
        """Which pairs of analyses differ from the reference only in this choice, on one side."""
        if self.reference[choice] not in (first, second):
            return np.zeros(len(pairs), dtype=bool)
        side = "_first" if first == self.reference[choice] else "_second"
        equal = np.ones(len(pairs), dtype=bool)
        for name in CHOICES:
            if name != choice:
                column = f"split{side}" if choice == "metric" and name == "split" else name
                equal &= (pairs[column] == self.reference[name]).to_numpy()
        return equal

    def text(self) -> str:
        """A short summary."""
        scores, ranks = self.scores, self.ranks
        complete = scores.notna().all(axis=1)
        lines = [
            f"{self.benchmark}: {len(scores)} analyses of {', '.join(self.models)}; "
            f"{int((~complete).sum())} undefined for at least one of them",
            f"reference: {', '.join(f'{name} {value}' for name, value in self.reference.items())}",
        ]
        at_reference = scores.iloc[_position(scores, self.reference)]
        for model in self.models:
            of_model = ranks.loc[complete, model]
            spread = f"ranks {of_model.min():g} to {of_model.max():g}" if len(of_model) else "no ranks"
            lines.append(f"  {model}: {spread}, {at_reference[model]:.3f} in the reference")
        flips = self.flips()
        lines.append("Single choices that change an order of the reference:")
        near = flips[flips["from_reference"].eq(True)]
        lines += [
            f"  {row.choice} {_other_than(self.reference[row.choice], row)}: {row.model} and {row.other}"
            for row in (_Flip(*values) for values in near.to_numpy().tolist())
        ] or ["  none"]
        lines.append("Single choices that change an order, in all analyses:")
        ever = flips.groupby(["choice", "model", "other"], sort=False)[["compared", "flipped"]].sum()
        lines += [
            f"  {choice}: {model} and {second_model}, in {flipped} of {compared} comparisons"
            for (choice, model, second_model), (compared, flipped) in zip(
                ever.index, ever.to_numpy().tolist(), strict=True
            )
            if flipped
        ] or ["  none"]
        lines.append(
            "Analyses share the recordings and were chosen, not drawn: their share is a description of these analyses, "
            "and says nothing about how certain an order is."
        )
        return "\n".join(lines)

    def figure(self, *, width: float = COLUMN_WIDTHS[174]) -> Svg:
        """Draw the ranks of all models over the analyses, and the choices of each analysis below.

        Analyses are sorted by the number of pairs of models whose order differs from the reference, then by choices.
        Those that are undefined for a model are left out.

        `width`: width in units; by default 174 mm (:func:`~brainscore_core.figures.column_width`). A UserError if no
        analysis is defined for all models.
        """
        return _figure(self, width)

    def _repr_svg_(self) -> str:
        """Draw the result in a notebook."""
        return standalone(self.figure())


def multiverse(
    models: Sequence[str | BrainModel] | Mapping[str, Any] | str | BrainModel,
    benchmark: str | Benchmark,
    *,
    metrics: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    scalings: Sequence[str] = SCALINGS,
    reductions: Sequence[str] = REDUCTIONS,
    layers: Sequence[str] = LAYERS,
    normalisations: Sequence[str] = NORMALISATIONS,
    seed: int = 0,
) -> Multiverse:
    """Analyse one benchmark's recordings in many ways: all combinations of the choices.

    Parameters
    ----------
    models : sequence of (str or BrainModel), or mapping
        Identifiers or models. A mapping has names as its keys; its values are identifiers, models, precomputed features
        (assembly, presentation × neuroid, with ``stimulus_id``; they are the committed layer), or mappings from rules
        in `layers` to such assemblies.
    benchmark : str or Benchmark
        A :class:`~brainscore_vision.benchmark_helpers.neural_common.NeuralBenchmark`, registered or composed, with a
        single time bin.
    metrics : sequence of str, optional
        Names of registered metrics of recordings. By default the benchmark's own one and :data:`METRICS`.
    groups : sequence of str, optional
        Coordinates of stimuli: splits that keep each of their values on one side, in addition to random ones. By
        default those of :data:`GROUPS` that the recordings have.
    scalings : sequence of str
        ``'none'``; ``'standardised'``: each feature minus its mean, divided by its standard deviation (constant
        features: by 1); ``'unit norm'``: the features of each stimulus divided by their Euclidean length. Means and
        deviations are of all stimuli; responses are not used.
    reductions : sequence of str
        ``'none'``; ``'pca:100'``: scores on the first 100 principal components over all stimuli, with signs such that
        the largest score by amount is positive; ``'projection:500'`` and ``'gaussian:500'``: random projections
        (:func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction`).
    layers : sequence of str
        ``'committed'``: recordings of the benchmark's region; ``'first'``, ``'middle'``, ``'last'``: of the layers
        that a :class:`~brainscore_vision.model_helpers.brain_transformation.ModelCommitment` selects from. Rules that
        add no layer of any model are left out.
    normalisations : sequence of str
        ``'raw'``; ``'ceiling'``: relative to the benchmark's ceiling, as its scores are.
    seed : int
        Seed of random projections.

    Returns
    -------
    Multiverse
        Scores are those of the metric, without its interval, and not clamped to [0, 1]. Where an analysis is undefined,
        the score is None (NaN in tables) with a reason. The first value of each choice makes the reference.

    Raises
    ------
    UserError
        If the benchmark is of another kind, or a choice is unknown.

    Notes
    -----
    Regressions, RDMs and kernels depend on features only by inner products of stimuli and sums over features. With more
    features than stimuli, these are computed once for each scaling, and metrics are given at most stimuli + 1 columns
    with the same products and sums. All choices together are a multiverse [1]_, drawn as a specification curve [2]_.
    Analyses share the recordings and were chosen, not drawn: a share of them says nothing about how certain an order
    is.

    References
    ----------
    .. [1] Steegen, Tuerlinckx, Gelman & Vanpaemel (2016). Perspectives on Psychological Science 11, 702–712.
           https://doi.org/10.1177/1745691616658637
    .. [2] Simonsohn, Simmons & Nelson (2020). Nature Human Behaviour 4, 1208–1214.
           https://doi.org/10.1038/s41562-020-0912-z

    Examples
    --------
    >>> from brainscore_vision.testing import small_models
    >>> result = multiverse(small_models(), "Simulated2026.V1-rdm", metrics=["rdm", "cka"],
    ...                     reductions=["none"])  # doctest: +SKIP
    >>> result.ranks.shape  # doctest: +SKIP
    (12, 2)
    """
    with stage(f"recordings of {benchmark if isinstance(benchmark, str) else benchmark.identifier}"):
        loaded = load_benchmark(benchmark) if isinstance(benchmark, str) else benchmark
        recordings = _Recordings(loaded, metrics, groups)
    scalings, reductions, layers, normalisations = (
        list(dict.fromkeys(values)) for values in (scalings, reductions, layers, normalisations)
    )
    for names, valid, noun in (
        (scalings, SCALINGS, "scaling"),
        (layers, LAYERS, "layer rule"),
        (normalisations, NORMALISATIONS, "normalisation"),
    ):
        _check_known(names, valid, noun)
    for reduction in reductions:
        if reduction != "none":
            make_reduction(reduction)
    if not (scalings and reductions and layers and normalisations):
        raise UserError("there is a choice without values", remedy="pass at least one value for each choice")
    with stage("loading models"):
        subjects = _subjects(models)
    used: list[str] = []
    of_models: dict[str, list[Analysis]] = {}
    for name, model in track(subjects.items(), f"analyses on {loaded.identifier}", len(subjects), unit="models"):
        of_layers, problem = _layers_of(model, name, loaded, recordings, layers)
        of_models[name] = []
        computed: dict[str, list[Analysis]] = {}  # by names of layers, which several rules may select
        for rule in layers:
            of_rule = of_layers.get(rule)
            key = rule if of_rule is None or of_rule.layers is None else of_rule.layers
            if key not in computed:
                features = None if of_rule is None else Features(of_rule.values, seed)
                used += [] if of_rule is None else [rule]
                combined = list(product(scalings, reductions))
                reason = problem or f"{name!r} has no {rule} layer"
                computed[key] = []
                for scaling, reduction in track(combined, f"features of {name}", len(combined), unit="transformations"):
                    of_layer = None if of_rule is None else of_rule.layers
                    choices = {"scaling": scaling, "reduction": reduction, "layer": rule, "layers": of_layer}
                    computed[key] += _analyses(name, recordings, features, choices, normalisations, reason)
            of_models[name] += [replace(analysis, layer=rule) for analysis in computed[key]]
    used_rules = [rule for rule in layers if rule in used] or list(layers[:1])
    analyses = [analysis for name in subjects for analysis in of_models[name] if analysis.layer in used_rules]
    metric, split = next(iter(recordings.metrics))
    first = (metric, split, scalings[0], reductions[0], used_rules[0], normalisations[0])
    reference = dict(zip(CHOICES, first, strict=True))
    return Multiverse(loaded.identifier, tuple(subjects), reference, tuple(analyses))


class _Found(NamedTuple):
    """Features of a layer rule, in the order of the recordings, and the names of the layers."""

    values: NDArray[Any]
    layers: str | None


class _Recordings:
    """The recordings of a benchmark, and its metrics with their splits."""

    def __init__(self, benchmark: Any, metrics: Sequence[str] | None, groups: Sequence[str] | None) -> None:
        name = benchmark.identifier
        measurements = visual_measurements_of(benchmark)
        if measurements.compares != "recordings" or measurements.metric is None or measurements.training is not None:
            raise UserError(
                f"{name!r} cannot be analysed in other ways",
                remedy="name a benchmark that compares averaged recordings of one set of stimuli",
            )
        own_metric = _metric_of(name)
        names = (
            list(metrics)
            if metrics is not None
            else list(dict.fromkeys([*([own_metric] if own_metric else []), *METRICS]))
        )
        for metric in names:
            check_name(metric)
            check_assembly(metric, load_metric(metric), measurements)
        self.measurements = measurements
        assembly = without_single_time_bin(measurements.averaged())
        self.target = as_table(assembly, ("presentation", "neuroid"), role="recordings")
        finite_values(self.target, role="recordings")
        self.benchmark = benchmark
        self.own = own_metric
        self.groups = self._groups(groups)
        self.metrics = dict(self._with_splits(names))
        self._geometries: dict[tuple[str, str], Any] = {}

    def _groups(self, groups: Sequence[str] | None) -> list[str]:
        there = {str(name) for name in self.target.coords if self.target[name].dims == ("presentation",)}
        if groups is not None:
            if unknown := [name for name in groups if name not in there]:
                raise UserError(
                    f"the recordings have no coordinate {unknown[0]!r} of stimuli",
                    remedy=f"group by one of {', '.join(sorted(there))}",
                )
            return list(groups)
        numbers = {name: len(pd.unique(pd.Series(self.target[name].values))) for name in GROUPS if name in there}
        return [name for name, number in numbers.items() if 1 < number < len(self.target)]

    def _with_splits(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], Any]]:
        own = self.measurements.splits
        random = {"stratification_coord": own.stratification_coord} if isinstance(own, CrossValidation) else {}
        options: dict[str, dict[str, Any]] = {"random": random}
        # strata of groups would be the groups themselves
        options |= {f"grouped by {name}": {"group_coord": name, "stratification_coord": None} for name in self.groups}
        for name in names:
            plain = load_metric(name)
            check_metric(name, plain)
            if getattr(plain, "needs_training", False):
                raise UserError(
                    f"{name!r} fits and tests on separate stimuli",
                    remedy=f"use its cross-validated form, {name.removesuffix('_split')}",
                )
            for split, splits in options.items():
                try:
                    metric = load_metric(name, crossvalidation_kwargs=splits)
                except TypeError:
                    yield (name, ALL_STIMULI), plain
                    break
                yield (name, split), metric

    @cached_property
    def ceiling(self) -> Score:
        """The benchmark's ceiling."""
        return self.benchmark.ceiling

    def compare(self, name: str, split: str, source: DataAssembly) -> tuple[float, str | None]:
        """Score without its interval, and why it is NaN."""
        metric = self.metrics[name, split]
        target = self.target
        if declarations_of(metric).needs_repetitions:
            target = self.measurements.single_repetitions()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(metric, GeometryMetric) and type(metric).__call__ is GeometryMetric.__call__:
                pair = matched(source, target, fewest=metric.fewest, what=metric.what)
                if (name, split) not in self._geometries:
                    self._geometries[name, split] = metric.geometry(pair.Y)
                similarity = metric.compare(metric.geometry(pair.X), self._geometries[name, split])
                return similarity.value, similarity.reason
            value = metric.value(source, target) if isinstance(metric, Metric) else math.nan
            if math.isfinite(value):
                return value, None
            score = metric(source, target)
            return float(score), Uncertainty.of(score).error_reason

    def normalised(self, name: str, split: str, value: float) -> tuple[float, str | None]:
        """A raw value relative to the benchmark's ceiling, and why it is NaN."""
        scale = declarations_of(self.metrics[name, split]).scale or "similarity"
        ceiling = self.ceiling
        meaning = ceiling.attrs.get("meaning", "reliability")
        applies = scale in {"correlation", "variance"} if meaning == "reliability" else name == self.own
        if meaning == "none" or not applies:
            kind = "no ceiling" if meaning == "none" else f"a ceiling ({meaning}) that does not apply to {name!r}"
            return math.nan, f"{self.benchmark.identifier!r} has {kind}"
        raw = Score(value)
        raw.attrs["scale"] = scale
        try:
            return float(relate_to_ceiling(raw, ceiling)), None
        except ValueError as error:
            return math.nan, str(error)


def _metric_of(benchmark: str) -> str | None:
    """Name of a benchmark's own metric: ``pls`` of ``…-pls`` and ``…:pls``; None if it is not registered."""
    name = parse_name(benchmark).metric if ":" in benchmark else benchmark.rpartition("-")[2]
    return name if name in metric_registry else None


def _check_known(names: Sequence[str], known: Sequence[str], what: str) -> None:
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"there is no {what} {unknown[0]!r}", remedy=f"use one of {', '.join(map(repr, known))}")


def _subjects(models: Any) -> dict[str, Any]:
    """Name → model, features, or features by layer rule."""
    if isinstance(models, str | BrainModel):
        models = [models]
    if isinstance(models, DataAssembly):
        raise UserError("features without a name", remedy="pass a mapping from names to features")
    if not isinstance(models, Mapping):
        named = [(model if isinstance(model, str) else model.identifier, model) for model in models]
        if len({name for name, _ in named}) < len(named):
            raise UserError("two models have the same identifier", remedy="pass a mapping from names to models")
        models = dict(named)
    if not models:
        raise UserError("there are no models", remedy="name at least one")
    return {name: load_model(model) if isinstance(model, str) else model for name, model in models.items()}


def _layers_of(
    model: Any, name: str, benchmark: Any, recordings: _Recordings, rules: Sequence[str]
) -> tuple[dict[str, _Found], str | None]:
    """Features by layer rule, and why there are none."""
    if isinstance(model, DataAssembly):
        model = {"committed": model}
    try:
        if isinstance(model, Mapping):
            _check_known(list(model), LAYERS, f"layer rule for the features of {name!r}")
            return {
                rule: _Found(_in_order(model[rule], recordings.target, name), None) for rule in rules if rule in model
            }, None
        return dict(_recorded(model, name, benchmark, recordings, rules)), None
    except BrainScoreError as error:
        if isinstance(model, Mapping):
            raise
        return {}, getattr(error, "message", None) or str(error)


def _recorded(
    model: BrainModel, name: str, benchmark: Any, recordings: _Recordings, rules: Sequence[str]
) -> Iterator[tuple[str, _Found]]:
    """Recordings of the benchmark's region, and activations of other layers."""
    target = recordings.target
    assembly = recordings.measurements.averaged()
    measurements = recordings.measurements
    committed: list[str] | None = None
    if "committed" in rules:
        (responses,) = record(model, measurements, [assembly])
        if "layer" in responses.coords:
            committed = list(dict.fromkeys(responses["layer"].values.astype(str)))
        yield "committed", _Found(_in_order(responses, target, name), ", ".join(committed) if committed else None)
    if not isinstance(model, ModelCommitment):
        return
    every = model.layers
    indices = {"first": 0, "middle": len(every) // 2, "last": len(every) - 1}
    layer_of_rule = {rule: every[indices[rule]] for rule in rules if rule in indices}
    if not layer_of_rule:
        return
    require_stimuli(assembly)
    stimuli = place_on_screen(
        assembly.stimulus_set,
        target_visual_degrees=model.visual_degrees(),
        source_visual_degrees=measurements.visual_degrees,
    )
    activations = model.activations(
        stimuli, list(dict.fromkeys(layer_of_rule.values())), number_of_trials=measurements.number_of_trials
    )
    in_bin = without_single_time_bin(in_time_bins(activations, measurements.recorded_time_bins))
    of_neuroids = in_bin["layer"].values.astype(str)
    for rule, layer in layer_of_rule.items():
        of_layer = in_bin.isel(neuroid=np.flatnonzero(of_neuroids == layer))
        yield rule, _Found(_in_order(of_layer, target, name), layer)


def _in_order(features: DataAssembly, target: DataAssembly, name: str) -> NDArray[Any]:
    """Features of the recorded stimuli, in their order."""
    role = f"features of {name!r}"
    table = as_table(features, ("presentation", "neuroid"), role=role)
    measured = np.isin(table["stimulus_id"].values, target["stimulus_id"].values)
    if not measured.all():  # precomputed features may be of more stimuli
        table = table.isel(presentation=np.flatnonzero(measured))
    order = match_rows(table, target, roles=(role, "benchmark"))
    values = finite_values(table, role=role)
    return values if np.array_equal(order, np.arange(len(order))) else values[order]


def _analyses(
    name: str,
    recordings: _Recordings,
    features: Features | None,
    choices: dict[str, Any],
    normalisations: Sequence[str],
    missing: str,
) -> list[Analysis]:
    """Analyses of a layer by all metrics, splits and normalisations; `missing` is the reason without features."""
    scaling, reduction = choices["scaling"], choices["reduction"]
    problem: str | None = missing if features is None else None
    size: dict[str, Any] = {}
    sources: dict[bool, DataAssembly] = {}
    if features is not None:
        try:
            compact = features.compact(scaling) if reduction == "none" else features.reduced(scaling, reduction)
            size["features"] = features.shape[1] if reduction == "none" else compact.shape[1]
            dimensionality = participation_ratio(compact).value
            size["dimensionality"] = dimensionality if math.isfinite(dimensionality) else None
            sources[True] = _source(compact, recordings.target)
        except UserError as error:
            problem = error.message
    analyses = []
    for metric, split in recordings.metrics:
        value, reason = math.nan, problem
        if features is not None and problem is None:
            by_products = declarations_of(recordings.metrics[metric, split]).from_products or reduction != "none"
            if by_products not in sources:
                sources[by_products] = _source(features.whole(scaling), recordings.target)
            try:
                value, reason = recordings.compare(metric, split, sources[by_products])
            except UserError as error:
                reason = error.message
        for normalisation in normalisations:
            result, why = value, reason
            if normalisation == "ceiling" and math.isfinite(value):
                result, why = recordings.normalised(metric, split, value)
            defined = math.isfinite(result)
            analysis = Analysis(
                model=name,
                metric=metric,
                split=split,
                normalisation=normalisation,
                score=result if defined else None,
                reason=None if defined else why or "undefined",
                **choices,
                **size,
            )
            analyses.append(analysis)
    return analyses


def _source(values: Array, target: DataAssembly) -> NeuroidAssembly:
    coords = coords_for_dim(target, "presentation") | {"neuroid_id": ("neuroid", np.arange(values.shape[1]))}
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _differing_in(wide: pd.DataFrame, choice: str, first: str, second: str) -> pd.DataFrame:
    """Pairs of analyses that differ in one choice; metrics that fit nothing are paired with every split of others."""
    sides = [wide[wide[choice] == value] for value in (first, second)]
    same = [name for name in CHOICES if name != choice and not (choice == "metric" and name == "split")]
    pairs = sides[0].merge(sides[1], on=same, suffixes=("_first", "_second"))
    if choice == "metric":
        first_split, second_split = pairs["split_first"], pairs["split_second"]
        pairs = pairs[(first_split == second_split) | (first_split == ALL_STIMULI) | (second_split == ALL_STIMULI)]
    return pairs


class _Flip(NamedTuple):
    """A row of :meth:`Multiverse.flips`."""

    choice: str
    first: str
    second: str
    model: str
    other: str
    compared: int
    flipped: int
    from_reference: bool | None


def _position(scores: pd.DataFrame, reference: Mapping[str, str]) -> int:
    """Row of an analysis in a table of scores; -1 if it is not there."""
    reference_index = tuple(reference[name] for name in CHOICES)
    return next((row for row, index in enumerate(scores.index) if index == reference_index), -1)


def _other_than(reference: str, row: _Flip) -> str:
    return row.second if row.first == reference else row.first


def _figure(result: Multiverse, width: float) -> Svg:
    scores = result.scores
    scores = scores[scores.notna().all(axis=1)]
    if scores.empty:
        raise UserError("no analysis is defined for all models", remedy="see the reasons in the table")
    values = {model: scores[model].to_numpy() for model in result.models}
    reference = max(0, _position(scores, result.reference))
    differing = np.zeros(len(scores), dtype=int)
    for first_model, second_model in combinations(result.models, 2):
        order = np.sign(values[first_model] - values[second_model])
        differing += order != order[reference]
    scores = scores.iloc[np.argsort(differing, kind="stable")]
    ranks = scores.rank(axis=1, ascending=False)
    equal = int((differing == 0).sum())
    levels = {name: scores.index.get_level_values(name).tolist() for name in CHOICES}
    chart = Specification(
        ranks={model: ranks[model].tolist() for model in result.models},
        choices={name: level for name, level in levels.items() if len(set(level)) > 1},
        divide=equal,
        title=f"Ranks of {len(result.models)} models in {len(scores)} analyses of {result.benchmark}",
        description=f"Analyses from left to right, sorted by how many pairs of models are not ordered as in the "
        f"reference; {equal} keep all orders, left of the vertical line. Below, the choices of each.",
        width=width,
    )
    return specification(chart)
