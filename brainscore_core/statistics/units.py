"""Stored data by which two models are compared: predictions, or the influence of each unit on the score."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.identifiers import data_set_of
from brainscore_core.metrics import NEUROID_GROUPS, STIMULUS_GROUPS
from brainscore_core.numerics.influence import (
    UNKNOWN,
    ScoreInfluence,
    UnitInfluence,
    random_sums,
    unit_codes,
    unit_influence,
)
from brainscore_core.numerics.predictions import (
    Predictivity,
    compare_predictivity,
    influence_of_neuroids,
    influence_of_stimuli,
    influence_through_neuroids,
    predictivity,
)
from brainscore_core.numerics.significance import PairedTest, paired_test, with_ceiling
from brainscore_core.populations import FEWEST_GROUPS, UNRECORDED, condition, these
from brainscore_core.receipts.receipt import Receipt
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.store import Arrays, ResultsStore
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE, INDEPENDENT

_UNIT_COORDINATES = ("stimulus_id", "subject", "neuroid_id", "truth")
_KINDS_OF_UNITS = {
    "stimulus_id": "stimuli",
    "subject": "subjects",
    "neuroid_id": "neuroids",
    "truth": "objects",
    "triplet": "triplets",
    "pair": "pairs of stimuli",
    STIMULUS_GROUPS: f"groups of stimuli ({STIMULUS_GROUPS})",
    "block of neuroids": "blocks of neuroids",
}


class Incomparable(UserError):
    """Two receipts cannot be compared; the message says why."""


@dataclass(frozen=True)
class Predicted:
    """Out-of-fold predictions of neuroids' responses.

    `stimuli` are the units that were left out, `grouped_by` the coordinate that they are values of, if they are groups.
    `clusters` are the subjects of the neuroids, if known. `maps_kept`, if it is known what stimuli do through the maps
    that are fitted with them, is the same with effects of tested stimuli alone.
    """

    predictivity: Predictivity
    rows: NDArray[Any]
    stimuli: NDArray[Any]
    grouped_by: str | None
    neuroids: NDArray[Any]
    clusters: NDArray[Any] | None
    targets: NDArray[Any]
    paired: bool
    maps_kept: "Predicted | None" = None

    @property
    def stimulus_kind(self) -> str:
        """What is left out of the stimuli."""
        return f"groups of stimuli ({self.grouped_by})" if self.grouped_by else "stimuli"

    @property
    def n_neuroid_units(self) -> int:
        """Number of subjects if there are enough, else of neuroids."""
        subjects = 0 if self.clusters is None else len(np.unique(self.clusters))
        return subjects if subjects >= FEWEST_GROUPS else self.predictivity.n_neuroids

    @property
    def neuroid_kind(self) -> str:
        """What varies of the neuroids."""
        return "neuroids" if self.n_neuroid_units == self.predictivity.n_neuroids else "subjects"


@dataclass(frozen=True)
class Influence:
    """Influence of each unit on a value, summed over presentations of the same unit.

    `further` is that of units of another kind that vary as well.
    """

    values: NDArray[np.float64]
    ids: tuple[NDArray[Any], ...]
    kinds: tuple[str, ...]
    estimate: float
    bias: float
    paired: bool
    further: "Influence | None" = None


@dataclass(frozen=True)
class Side:
    """One model's receipt and its stored units."""

    receipt: Receipt
    units: Predicted | Influence

    @property
    def score(self) -> float:
        """The score before it was clamped."""
        return _unclamped(self.receipt)

    @property
    def condition(self) -> str:
        """For which few units alone the score holds, and comparisons with it; empty without such a condition.

        Where the receipt does not state it, it follows from the subjects of the stored predictions.
        """
        stated, units = self.receipt.condition, self.units
        if (stated and stated != UNRECORDED) or isinstance(units, Influence) or units.clusters is None:
            return stated
        if units.neuroid_kind != "neuroids":
            return ""
        return condition(f"new neuroids of {these(len(np.unique(units.clusters)), NEUROID_GROUPS)}")


@dataclass(frozen=True)
class Link:
    """How a score is computed from the raw score and the ceiling."""

    transform: Callable[[Any, float], Any]
    power: int
    """The score is proportional to ceiling^−power."""


_LINKS = {
    "raw": Link(lambda raw, ceiling: raw, 0),
    "ratio": Link(lambda raw, ceiling: raw / ceiling, 1),
    "explained": Link(lambda raw, ceiling: np.sign(raw) * raw**2 / ceiling, 1),
    "squared ratio": Link(lambda raw, ceiling: np.sign(raw) * (raw / ceiling) ** 2, 2),
}


def read_side(store: ResultsStore, receipt: Receipt) -> Side:
    """Read the units stored beside a receipt.

    Raises Incomparable if the data needed to compare models are not stored.
    """
    kinds = {attachment.kind for attachment in receipt.attachments}
    return Side(receipt, _units(kinds, lambda kind, group: store.open_attachment(receipt, kind, group=group), receipt))


def units_of(arrays: Mapping[str, Arrays], receipt: Receipt) -> Predicted | Influence:
    """Read the units from arrays in memory.

    Raises Incomparable if there is nothing by which models can be compared.
    """

    def opened(kind: str, group: str | None) -> Any:
        return arrays[kind].main if group is None else arrays[kind].groups[group]

    return _units(arrays, opened, receipt)


def _units(kinds: Container[str], opened: Callable[[str, str | None], Any], receipt: Receipt) -> Predicted | Influence:
    """Units from arrays of these kinds; `opened` returns an array, or one of its groups."""
    if "influence" in kinds:
        influence = opened("influence", None)
        return _influence(influence, opened("influence", "further") if influence.attrs.get("further", 0) else None)
    if "predictions" in kinds:
        predictions = opened("predictions", None)
        try:
            targets = opened("predictions", "targets")
        except (UserError, KeyError, OSError) as error:
            raise Incomparable(f"the predictions of {receipt.model.identifier} have no targets: {error}") from error
        training = opened("predictions", "training") if predictions.attrs.get("training", 0) else None
        return _predicted(predictions, targets, receipt, training)
    raise Incomparable(
        f"neither predictions nor the influence of stimuli, neuroids or subjects are stored for the score of "
        f"{receipt.model.identifier}",
        remedy="score it again if it was scored by an earlier version; some benchmarks have no units to resample "
        "(docs/comparison.md)",
    )


class Compared(NamedTuple):
    """Result of comparing two models."""

    test: PairedTest  # test of the difference, corrected for biases
    scale: str  # ``'ceiled'``, ``'unceiled'`` or ``'raw'``
    units: str  # what was resampled
    notes: list[str]  # further remarks
    biases: tuple[float, float]  # known biases of the two scores


def compare_sides(first: Side, second: Side, *, level: float) -> Compared:
    """Compare two models.

    Raises Incomparable if they were not scored on the same units.
    """
    a, b = first.units, second.units
    if isinstance(a, Predicted) and isinstance(b, Predicted):
        return _test_predicted(first, second, a, b, level=level)
    if isinstance(a, Influence) and isinstance(b, Influence):
        return _test_influence(first, second, a, b, level=level)
    raise Incomparable("one receipt has predictions, the other the influence of units on the score")


def link_of(*receipts: Receipt) -> Link | None:
    """Find how these scores are computed from their raw scores and ceilings; None if unknown."""
    names = ["raw", "ratio", "explained", "squared ratio"]
    first = receipts[0]
    if first.raw is not None and first.raw.scale == "correlation":
        names = ["raw", "explained", "ratio", "squared ratio"]
    if first.ceiling is not None and first.ceiling.meaning != "none" and first.score and first.score.scale == "ceiled":
        names.remove("raw")
    return next((_LINKS[name] for name in names if all(_fits(_LINKS[name], receipt) for receipt in receipts)), None)


def _fits(link: Link, receipt: Receipt) -> bool:
    if receipt.raw is None or receipt.raw.value is None:
        return False
    ceiling = receipt.ceiling.value if receipt.ceiling is not None else None
    if ceiling is None and link.power:
        return False
    expected = float(link.transform(np.float64(receipt.raw.value), 1.0 if ceiling is None else ceiling))
    return math.isclose(expected, _unclamped(receipt), rel_tol=1e-6, abs_tol=1e-9)


def _unclamped(receipt: Receipt) -> float:
    if receipt.score is None or receipt.score.value is None:
        return math.nan
    return receipt.score.value if receipt.score.unclamped is None else receipt.score.unclamped


def _close(a: float, b: float | None, tolerance: float = 1e-6) -> bool:
    return b is not None and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def _test_influence(first: Side, second: Side, a: Influence, b: Influence, *, level: float) -> Compared:
    notes: list[str] = []
    values, units = _matched(a, b)
    link = link_of(first.receipt, second.receipt)
    if all(_close(side.units.estimate, side.score) for side in (first, second)):  # type: ignore[union-attr] # both have units of type Influence
        difference, slopes, scale = first.score - second.score, (1.0, 1.0), _scale(first)
        power = 0 if link is None else link.power
        if link is None and scale == "ceiled":
            notes.append("the ceiling is taken as exact")
    elif all(_close(side.units.estimate, _raw(side)) for side in (first, second)):  # type: ignore[union-attr] # see above
        raws = (a.estimate, b.estimate)
        if link is None:
            difference, slopes, scale, power = raws[0] - raws[1], (1.0, 1.0), "raw", 0
            notes.append(_NO_LINK)
        else:
            transform = _bound(link, first.receipt)
            slopes = (_slope(transform, raws[0]), _slope(transform, raws[1]))
            difference, scale, power = first.score - second.score, _scale(first), link.power
    else:
        raise Incomparable("the stored influence belongs to another value than the score")
    biases = (slopes[0] * a.bias, slopes[1] * b.bias)
    bias = biases[0] - biases[1]
    if not math.isfinite(bias):
        biases = (0.0, 0.0)
        notes.append("a score's bias is unknown and not corrected")
    elif abs(bias) > 1e-12:
        difference -= bias
        notes.append(f"corrected for the difference of the scores' biases, {bias:.4f}")
    scaled = [slope * column for slope, column in zip(slopes, values, strict=True)]
    if a.paired:
        also = []
        if a.further is not None and b.further is not None:
            ours, theirs = _matched(a.further, b.further)[0]
            also = [slopes[0] * ours - slopes[1] * theirs]
        elif a.further is not None or b.further is not None:
            fixed = (a.further or b.further).kinds[0]  # type: ignore[union-attr] # one of them is not None
            notes.append(f"the {fixed} are taken as fixed: how they vary is stored for one of the two only")
        test = paired_test(difference, scaled[0] - scaled[1], level=level, further=also)
    else:
        test = paired_test(difference, scaled[0], unpaired=scaled[1], level=level)
    return Compared(_with_ceiling(test, first, power, level, notes), scale, units, notes, biases)


def _test_predicted(first: Side, second: Side, a: Predicted, b: Predicted, *, level: float) -> Compared:
    notes: list[str] = []
    if not np.array_equal(a.rows, b.rows):
        raise Incomparable("the two were tested on different stimuli or splits")
    if a.paired != b.paired:
        raise Incomparable("one predicts the model's own neuroids, the other recorded ones")
    if (a.maps_kept is None) != (b.maps_kept is None):
        a, b = a.maps_kept or a, b.maps_kept or b
        notes.append("the fitted maps are taken as fixed: how they vary is stored for one of the two only")
    if a.grouped_by != b.grouped_by or not np.array_equal(a.stimuli, b.stimuli):
        raise Incomparable(
            f"{a.stimulus_kind} vary for one, {b.stimulus_kind} for the other", remedy="score both with the same groups"
        )
    if a.paired:
        if not np.array_equal(a.neuroids, b.neuroids):
            raise Incomparable(f"the two predict different neuroids: {len(a.neuroids)} and {len(b.neuroids)}")
        if not np.allclose(a.targets, b.targets, rtol=1e-5, equal_nan=True):
            raise Incomparable("the measurements that the two predict differ")
    for side, units in ((first, a), (second, b)):
        if not _close(units.predictivity.value, _raw(side), 1e-4):
            raise Incomparable(
                f"the raw score of {side.receipt.model.identifier} is not the median correlation of its stored "
                f"predictions ({_raw(side)}, not {units.predictivity.value:.6f})"
            )
    link = link_of(first.receipt, second.receipt)
    scale = "raw" if link is None else _scale(first)
    if link is None:
        notes.append(_NO_LINK)
    test = compare_predictivity(
        a.predictivity,
        b.predictivity,
        transform=None if link is None else _bound(link, first.receipt),
        paired_neuroids=a.paired,
        clusters=a.clusters,
        level=level,
    )
    units_text = f"{len((a.maps_kept or a).stimuli):,} {a.stimulus_kind} × {a.n_neuroid_units:,} {a.neuroid_kind}"
    if not a.paired:
        units_text += f" and {b.predictivity.n_neuroids:,} of the other model"
    power = 0 if link is None else link.power
    test = _with_ceiling(test, first, power, level, notes)
    return Compared(test, scale, units_text, notes, (0.0, 0.0))


_NO_LINK = "raw scores are compared: the score cannot be computed from raw score and ceiling alone"


def _with_ceiling(test: PairedTest, side: Side, power: int, level: float, notes: list[str]) -> PairedTest:
    ceiling = side.receipt.ceiling
    if not power or ceiling is None or not ceiling.value:
        return test
    if ceiling.error is None:
        notes.append("the ceiling is taken as exact: it has no standard error")
        return test
    return with_ceiling(test, power * ceiling.error / abs(ceiling.value), level=level)


def _scale(side: Side) -> str:
    score = side.receipt.score
    return "unceiled" if score is None or score.scale != "ceiled" else "ceiled"


def _raw(side: Side) -> float | None:
    return side.receipt.raw.value if side.receipt.raw is not None else None


def _bound(link: Link, receipt: Receipt) -> Callable[[Any], Any]:
    ceiling = 1.0 if receipt.ceiling is None or receipt.ceiling.value is None else receipt.ceiling.value
    return lambda raw: link.transform(raw, ceiling)


def _slope(transform: Callable[[Any], Any], value: float, step: float = 1e-6) -> float:
    return float((transform(np.float64(value + step)) - transform(np.float64(value - step))) / (2 * step))


def _influence(array: Any, further: Any = None) -> Influence:
    values = np.asarray(array.values, dtype=np.float64)
    names = [_coordinate(array, dim) for dim in array.dims]
    ids = [np.asarray(array[name].values).astype(str) for name in names]
    for axis, labels in enumerate(ids):
        distinct, codes = np.unique(labels, return_inverse=True)
        moved = np.moveaxis(values, axis, 0)
        summed = np.zeros((len(distinct), *moved.shape[1:]))
        np.add.at(summed, codes, moved)
        values = np.moveaxis(summed * (len(distinct) / max(len(labels), 1)), 0, axis)
        ids[axis] = distinct
    return Influence(
        values,
        tuple(ids),
        tuple(_kind(name, array) for name in names),
        float(array.attrs.get("estimate", math.nan)),
        float(array.attrs.get("bias", 0.0)),
        bool(array.attrs.get("paired", 1)),
        None if further is None else _influence(further),
    )


def _kind(name: str, array: Any) -> str:
    if name == array.attrs.get(ATTRIBUTE):
        return f"groups of stimuli ({name})"
    return _KINDS_OF_UNITS.get(name, name)


def _coordinate(array: Any, dim: str) -> str:
    along = [str(name) for name, coord in array.coords.items() if dim in coord.dims and name != dim]
    if dim in array.coords and array.indexes[dim].nlevels == 1:
        along.append(dim)
    return next((name for name in _UNIT_COORDINATES if name in along), along[0] if along else dim)


def _matched(a: Influence, b: Influence) -> tuple[list[NDArray[np.float64]], str]:
    if a.kinds != b.kinds or a.paired != b.paired:
        raise Incomparable(
            f"{' and '.join(a.kinds)} were resampled for one, {' and '.join(b.kinds)} for the other",
            remedy="score both again, with the same groups of stimuli",
        )
    if not a.paired:
        return [a.values, b.values], f"{a.values.size:,} and {b.values.size:,} {a.kinds[0]} of the models"
    for kind, ours, theirs in zip(a.kinds, a.ids, b.ids, strict=True):
        differing = np.setxor1d(ours, theirs)
        if len(differing):
            raise Incomparable(
                f"the two were not scored on the same {kind}: {len(differing)} belong to only one of them, such as "
                f"{differing[0]}",
                remedy=spelling_hint(np.setdiff1d(ours, theirs), np.setdiff1d(theirs, ours))
                or "score both on the same data",
            )
    sizes = " × ".join(f"{size:,} {kind}" for size, kind in zip(a.values.shape, a.kinds, strict=True))
    if a.further is not None and b.further is not None:
        sizes += f" and {_matched(a.further, b.further)[1]}"
    return [a.values, b.values], sizes


def _predicted(predictions: Any, targets: Any, receipt: Receipt, training: Any = None) -> Predicted:
    dims = [dim for dim in ("presentation", "neuroid", "time_bin") if dim in predictions.dims]
    if len(dims) < 2 or set(predictions.dims) != set(dims):
        raise Incomparable(
            f"the stored predictions of {receipt.model.identifier} ({' × '.join(map(str, predictions.dims))}) are not "
            "of neuroids, and no influence of units is stored",
            remedy="score it again if it was scored by an earlier version",
        )
    x, y = (np.asarray(array.transpose(*dims).values, dtype=np.float64) for array in (predictions, targets))
    n = x.shape[0]
    stimuli = predictions["stimulus_id"].values.astype(str) if "stimulus_id" in predictions.coords else np.arange(n)
    splits = predictions["split"].values if "split" in predictions.coords else np.zeros(n, dtype=int)
    neuroids = np.arange(x.shape[1]).astype(str)
    if "neuroid_id" in predictions.coords:
        neuroids = predictions["neuroid_id"].values.astype(str)
    name_of_groups = str(predictions.attrs.get(ATTRIBUTE) or STIMULUS_GROUPS)
    groups_of_stimuli = None if name_of_groups == INDEPENDENT else _groups_along(predictions, name_of_groups, stimuli)
    rows = np.lexsort((stimuli, splits))
    paired = predictions.attrs.get("units") != "model neuroids"
    columns = np.argsort(neuroids, kind="stable") if paired else np.arange(len(neuroids))
    name = predictions.attrs.get("groups")
    groups = None if name is None else predictions[str(name)].values[columns]
    clusters = _groups_along(predictions, NEUROID_GROUPS, neuroids, fewest=2) if paired else None
    x, y = x[rows][:, columns], y[rows][:, columns]
    units = (stimuli if groups_of_stimuli is None else groups_of_stimuli)[rows]
    try:
        computed = predictivity(x, y, splits=splits[rows], stimuli=units, groups=groups, squared=x.ndim == 3)
    except ValueError as error:
        raise Incomparable(f"the predictions of {receipt.model.identifier} cannot be compared: {error}") from error
    labels = np.char.add(np.char.add(splits[rows].astype(str), " "), stimuli[rows].astype(str))
    kept = Predicted(
        computed,
        labels,
        np.unique(units),
        None if groups_of_stimuli is None else name_of_groups,
        neuroids[columns],
        None if clusters is None else clusters[columns],
        y,
        paired,
    )
    if training is None:
        return kept
    n_splits, n_tests = len(np.unique(splits)), len({*zip(splits[rows].tolist(), units.tolist(), strict=True)})
    # Σ (r − r without a unit)² exceeds the variance of a correlation r of n rows: n / (n − 1 − rows of the unit) times
    return _with_training(kept, training, columns, math.sqrt(max(1 - n_splits / n_tests - n_splits / n, 0.0)))


def _with_training(kept: Predicted, training: Any, columns: NDArray[np.intp], shrinkage: float) -> Predicted:
    """Add the effects of training stimuli to those with maps kept; unchanged if units differ."""
    names, rows = np.unique(training["unit"].values.astype(str), return_index=True)
    if len(names) < len(training) or training.shape[1] != len(columns) or not np.isin(kept.stimuli, names).all():
        return kept
    found, pairs = kept.predictivity, np.asarray(training.attrs.get("pairs", ()), dtype=np.float64)
    if pairs.size != found.pairs.size:  # stored by an earlier version
        return kept
    through_maps = np.asarray(training.values, dtype=np.float64)[rows][:, columns]
    effects = through_maps.copy()
    effects[np.searchsorted(names, kept.stimuli)] += shrinkage * found.effects
    found = replace(found, effects=effects, training=through_maps, pairs=pairs.reshape(found.pairs.shape))
    return replace(kept, predictivity=found, stimuli=names, maps_kept=kept)


def _groups_along(array: Any, name: str, entries: NDArray[Any], *, fewest: int = FEWEST_GROUPS) -> NDArray[Any] | None:
    """Group of each entry by a coordinate; None if it is missing, or does not form groups of entries."""
    if name not in array.coords or array[name].shape != np.shape(entries):
        return None
    groups = array[name].values.astype(str)
    return groups if fewest <= len(np.unique(groups)) < len(np.unique(entries)) else None


def read_influence(store: ResultsStore, receipt: Receipt) -> ScoreInfluence:
    """Read how each unit influences a score, from what is stored beside its receipt.

    `store`: the store with the receipt and its attachments. `receipt`: a scored receipt. Returns: see
    :func:`influence_of`. Raises Incomparable if the data needed to compare models are not stored, or do not belong to
    the score.
    """
    return influence_of(read_side(store, receipt))


def read_influences(store: ResultsStore, receipts: Iterable[Receipt]) -> dict[str, ScoreInfluence]:
    """Read how units influence scores, by id of the receipt; those of which nothing is stored are left out."""
    influences = {}
    for receipt in receipts:
        if receipt.state == "scored":
            with suppress(Incomparable, ReceiptError, OSError):
                influences[receipt.id] = read_influence(store, receipt)
    return influences


def influence_of(side: Side) -> ScoreInfluence:
    """Influence of each unit on a score, by kind of units.

    `side`: a receipt and its stored units. Returns: on the score before it was clamped, relative to its ceiling. Units
    are identified by kind, identifier and where they are from (:func:`sources_of`), so that benchmarks with the same
    stimuli or subjects share units. Variances of two crossed kinds of units are added, and what depends on both counts
    twice; of predictions, once. Raises Incomparable if the stored units do not belong to the score.
    """
    receipt = side.receipt
    link = link_of(receipt)
    if isinstance(side.units, Predicted):
        estimate, bias, kinds = side.units.predictivity.value, 0.0, _parts_of_predictions(side.units, receipt)
        tolerance = 1e-4
    else:
        estimate, bias, kinds = side.units.estimate, side.units.bias, _parts_of_influence(side.units, receipt)
        tolerance = 1e-6
    if isinstance(side.units, Influence) and _close(estimate, side.score):
        slope = 1.0
    elif not _close(estimate, _raw(side), tolerance):
        raise Incomparable("the stored influence belongs to another value than the score")
    elif link is None:
        raise Incomparable(_NO_LINK)
    else:
        slope = _slope(_bound(link, receipt), estimate)
    if any(len(kind.codes) < 3 for kind in kinds):
        raise Incomparable("at least 3 units of each kind are needed to tell how much they vary")
    if not all(np.isfinite(slope * kind.values).all() for kind in kinds):
        raise Incomparable("what a unit does to the score is undefined")
    bias = slope * bias if math.isfinite(bias) else 0.0
    ceiling, change, ceiling_id = receipt.ceiling, 0.0, ""
    if link is not None and link.power and ceiling is not None and ceiling.value:
        change = -link.power * side.score * (ceiling.error or 0.0) / ceiling.value
        ceiling_id = f"{data_set_of(receipt.benchmark.identifier)} {ceiling.value:.6g} {ceiling.error or 0.0:.6g}"
    scaled = tuple(kind.times(slope) for kind in kinds)
    return ScoreInfluence(side.score - bias, scaled, bias, change, ceiling_id)


COUNTED_TWICE = 0.5
"""Subtracted share of the variance over stimuli that act through single neuroids; that of neuroids contains it.

Subtracted as a whole, equal models would be ranked apart too often: effects through single neuroids are estimated too
large, and the smoothed median varies less than the median. Simulated
(docs/comparison_coverage.md)."""

_OF_SUBJECTS = ("subjects", "neuroids", "blocks of neuroids")
_SOURCES = {False: ("stimulus_set", "collection"), True: ("data", "study")}


def sources_of(receipt: Receipt, kind: str) -> tuple[str, ...]:
    """Names of where units of a kind are from; scores with a name in common may have the same units.

    `receipt`: of the score. `kind`: what the units are: subjects and neuroids are those of the data, all others depend
    on stimuli. Returns: the benchmark's data set (:func:`~brainscore_core.identifiers.data_set_of`); then the stimulus
    sets that were loaded and the collections that they are taken from, and the plugins that register them. For subjects
    and neuroids: the data and the studies that they belong to, and their plugins. If the receipt names none of these,
    :data:`~brainscore_core.numerics.influence.UNKNOWN`.

    Examples
    --------
    >>> from brainscore_core.receipts.receipt import BenchmarkInfo, DataItem, ModelInfo, PluginCode
    >>> plugins = {"stimulus_set": ("hvm", "majajhong2015"), "data": ("Sanghavi2020", "sanghavi2020")}
    >>> receipt = Receipt(
    ...     model=ModelInfo(identifier="pixels"),
    ...     benchmark=BenchmarkInfo(identifier="Sanghavi2020.IT-pls"),
    ...     state="failed",
    ...     data=tuple(
    ...         DataItem(kind=kind, identifier=name, plugin=PluginCode(name=plugin))
    ...         for kind, (name, plugin) in plugins.items()
    ...     ),
    ... )
    >>> sources_of(receipt, "stimuli"), sources_of(receipt, "neuroids")
    (('Sanghavi2020', 'hvm', 'majajhong2015'), ('Sanghavi2020', 'sanghavi2020'))
    """
    sources = _SOURCES[kind in _OF_SUBJECTS]
    items = [item for item in receipt.data if item.kind in sources]
    names = [data_set_of(receipt.benchmark.identifier)]
    names += sorted(item.identifier for item in items)
    names += sorted(item.plugin.name for item in items if item.plugin is not None)
    return tuple(dict.fromkeys(names if items else [*names, UNKNOWN]))


def _parts_of_predictions(units: Predicted, receipt: Receipt) -> list[UnitInfluence]:
    suffix = "" if units.paired else receipt.id
    neuroids = units.neuroids
    if units.clusters is not None and units.neuroid_kind == "subjects":
        neuroids = np.unique(units.clusters)
    of_neuroids = influence_of_neuroids(units.predictivity, clusters=units.clusters)
    through_neuroids = influence_through_neuroids(units.predictivity, clusters=units.clusters)
    sums = random_sums(through_neuroids, unit_codes(units.stimuli), unit_codes(neuroids, own=suffix))
    return [
        unit_influence(
            units.stimulus_kind,
            sources_of(receipt, units.stimulus_kind),
            units.stimuli,
            influence_of_stimuli(units.predictivity),
            twice=math.sqrt(COUNTED_TWICE) * sums + units.predictivity.pairs.sum(axis=0),
        ),
        unit_influence(units.neuroid_kind, sources_of(receipt, units.neuroid_kind), neuroids, of_neuroids, own=suffix),
    ]


def _parts_of_influence(units: Influence, receipt: Receipt) -> list[UnitInfluence]:
    suffix = "" if units.paired else receipt.id
    kinds = []
    for axis, (kind, ids) in enumerate(zip(units.kinds, units.ids, strict=True)):
        values = units.values.mean(axis=tuple(dimension for dimension in range(units.values.ndim) if dimension != axis))
        n = len(values)
        scale = math.sqrt(n * (n - 1)) if n > 1 else math.nan
        kinds.append(unit_influence(kind, sources_of(receipt, kind), ids, (values - values.mean()) / scale, own=suffix))
    if units.further is not None:
        kinds += _parts_of_influence(units.further, receipt)
    return kinds
