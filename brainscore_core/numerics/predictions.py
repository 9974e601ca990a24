"""Predictivity of responses, its uncertainty over stimuli and neuroids, and comparisons of two models."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, stdtrit

from brainscore_core.numerics._matrices import CHUNK_BYTES, Array, chunk_columns
from brainscore_core.numerics.influence import SUMS, random_sums, remaining_variance, unit_codes
from brainscore_core.numerics.linear_regression import LeftOut, sums_of_groups, training_effects
from brainscore_core.numerics.resampling import Interval, ResampledMedians, mean, median
from brainscore_core.numerics.significance import PairedTest, student_test, untested
from brainscore_core.populations import FEWEST_GROUPS

FEWEST = 4
"""Minimum number of stimuli of a split, so that a correlation is defined when one is left out."""

_FEW = 10
"""Number of stimuli (or groups of stimuli) below which a difference varies at least as much as they do."""

_TEMPORARY = 12
"""Number of arrays of the size of the test part that are used at a time."""

Transform = Callable[[Array], Array]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Predictivity:
    """Median correlation of predicted and measured responses, and the influence of stimuli and neuroids on it.

    Attributes
    ----------
    value : float
        Mean over splits of the median over neuroids.
    correlations : array, splits × time bins × neuroids
        NaN if one side does not vary.
    groups : array (neuroids,) of int
        Group of each neuroid: medians of the groups are averaged.
    effects : array, stimuli × neuroids
        Decrease of the value without a stimulus (or a group of stimuli), through each neuroid; uses smoothed medians
        (Harrell & Davis).
    weights : array (neuroids,)
        Weights of the neuroids in the smoothed medians, averaged over splits and bins.
    squared : bool
        Whether each bin's correlation was squared, keeping its sign, before the mean over bins.
    pairs : array, 2 × sums
        Effects of pairs of a training and a test stimulus through either half of the neuroids, in random sums
        (:func:`~brainscore_core.numerics.influence.random_sums`); `effects` contain them twice.
    training : array, stimuli × neuroids, or None
        The part of `effects` that training stimuli have on the fitted maps; None if maps are kept.
    """

    value: float
    correlations: Array
    groups: Codes
    effects: Array
    weights: Array
    squared: bool
    pairs: Array = field(default_factory=lambda: np.zeros((2, SUMS)))
    training: Array | None = None

    @property
    def n_stimuli(self) -> int:
        """Number of stimuli (or groups of stimuli)."""
        return len(self.effects)

    @property
    def n_neuroids(self) -> int:
        """Neuroids."""
        return self.correlations.shape[-1]


@dataclass(frozen=True, eq=False)
class PredictivityOfUnits:
    """A predictivity whose stimuli and neuroids have names, so that it can be matched with another one.

    Attributes
    ----------
    found : Predictivity
        The value, with the effects of the stimuli on it.
    stimuli : array
        Name of each stimulus (or group of stimuli).
    neuroids : array
        Name of each neuroid.
    clusters : array of int or None
        Clusters of neuroids, as for :func:`predictivity_interval`.
    """

    found: Predictivity
    stimuli: NDArray
    neuroids: NDArray
    clusters: Codes | None = None

    def in_order(self, stimuli: NDArray, neuroids: NDArray) -> "PredictivityOfUnits | None":
        """The same with stimuli and neuroids in a given order; None if it has other ones, or one twice."""
        orders = []
        for ours, theirs in ((self.stimuli, stimuli), (self.neuroids, neuroids)):
            places = {name: place for place, name in enumerate(ours.tolist())}
            if len(places) != len(ours) or len(theirs) != len(ours) or set(places) != set(theirs.tolist()):
                return None
            orders.append(np.array([places[name] for name in theirs.tolist()], dtype=np.intp))
        rows, columns = orders
        found = replace(
            self.found,
            correlations=self.found.correlations[..., columns],
            groups=self.found.groups[columns],
            effects=self.found.effects[np.ix_(rows, columns)],
            training=None if self.found.training is None else self.found.training[np.ix_(rows, columns)],
            weights=self.found.weights[columns],
        )
        clusters = None if self.clusters is None else self.clusters[columns]
        return PredictivityOfUnits(found, stimuli, neuroids, clusters)


class PredictivityOfSplits:
    """Collects the splits of a cross-validation, one after the other, for a :class:`Predictivity`.

    Parameters
    ----------
    stimuli : array (rows,) of int
        Stimulus (or group of stimuli) of each row, from 0 on: the units that are left out.
    groups : array (neuroids,) of int, optional
        Groups of neuroids, such as animals, whose medians are averaged.
    squared : bool
        Whether to square each time bin's correlation, keeping its sign, before the mean over bins.
    change : callable, optional
        Increasing function that is applied to each correlation, such as the Spearman–Brown correction, for arrays.
    names : array, optional
        Name of each stimulus (or group), by its number in `stimuli`; by default that number.
    neuroid_names : array (neuroids,), optional
        Name of each neuroid; by default its position. Random sums depend on the names alone, whatever the order.
    """

    def __init__(
        self,
        stimuli: Codes,
        *,
        groups: Codes | None = None,
        squared: bool = False,
        change: Transform | None = None,
        names: ArrayLike | None = None,
        neuroid_names: ArrayLike | None = None,
    ) -> None:
        self._stimuli = stimuli
        self._change: Transform = (lambda values: values) if change is None else change
        self._groups = groups
        self._squared = squared
        self._correlations: list[Array] = []
        self._effects: Array | None = None
        self._weights: Array | None = None
        self._codes = unit_codes(np.arange(stimuli.max(initial=-1) + 1) if names is None else names)
        self._order = None if neuroid_names is None else np.argsort(unit_codes(neuroid_names), kind="stable")
        self._pairs, self._training = np.zeros((2, SUMS)), np.zeros(0)
        self._trained = 0

    def add(
        self,
        predicted: NDArray,
        measured: NDArray,
        *,
        test: NDArray[np.intp],
        train: NDArray[np.intp] | None = None,
        left_out: Callable[[], LeftOut] | None = None,
    ) -> None:
        """Add a split.

        `test`, `train`: rows of the split. `left_out`: effects of the training stimuli on the predictions. Splits
        without it take part in the effects of test stimuli only; if all splits lack it, fitted maps are kept. Raises
        `ValueError` if there are fewer than 4 test rows.
        """
        if len(test) < FEWEST:
            raise ValueError(f"a split has {len(test)} stimuli; at least {FEWEST} are needed to see how much they vary")
        x, y = (side[:, :, None] if side.ndim == 2 else side for side in (predicted, measured))
        neuroids, bins = x.shape[1:]
        if self._groups is None:
            self._groups = np.zeros(neuroids, dtype=np.intp)
        if self._effects is None or self._weights is None:
            self._effects = np.zeros((bins, int(self._stimuli.max()) + 1, neuroids))
            self._weights = np.zeros(neuroids)
            self._training = np.zeros(self._effects.shape[1:])
        own = []
        chunks = list(chunk_columns(_TEMPORARY * len(test), neuroids))
        for bin_, effects in enumerate(self._effects):
            x_bin, y_bin = x[:, :, bin_], y[:, :, bin_]
            values = self._change(
                np.concatenate([_Part(x_bin[:, columns], y_bin[:, columns]).correlations for columns in chunks])
            )
            own.append(values)
            weights = _smoothed(values, self._groups)
            self._weights += weights / bins
            slopes = None if left_out is None or train is None or bins > 1 else np.empty((len(test), neuroids))
            for columns in chunks:
                part = _Part(x_bin[:, columns], y_bin[:, columns])
                which, left = part.without(self._stimuli[test])
                lost = np.nan_to_num(values[columns] - self._change(left), nan=0.0, posinf=0.0, neginf=0.0)
                effects[which, columns] += lost * weights[columns]
                if slopes is not None:
                    slopes[:, columns] = part.slopes() * weights[columns]
            if slopes is not None and left_out is not None:
                which, codes = np.unique(self._stimuli[train], return_inverse=True)
                position = np.minimum(np.searchsorted(which, self._stimuli[test]), len(which) - 1)
                tested = np.where(which[position] == self._stimuli[test], position, -1)
                order = np.arange(neuroids) if self._order is None else self._order
                halves = order[: neuroids // 2], order[neuroids // 2 :]
                found = training_effects(left_out, slopes, trained=codes, tested=tested, halves=halves)
                self._training[which] += found.values
                self._trained += 1
                rows = self._codes[self._stimuli[test]]
                self._pairs += random_sums(found.pairs, rows, self._codes[which])
        self._correlations.append(np.array(own))

    def result(self) -> Predictivity:
        """The predictivity of all splits so far."""
        if self._effects is None or self._weights is None or self._groups is None:
            raise ValueError("there are no splits")
        correlations, group = np.array(self._correlations), self._groups
        splits = len(correlations)
        medians = _panels(correlations, group)  # splits × bins × groups
        defined = ~np.isnan(medians)
        number = np.full(defined.shape[1:], splits) if self._squared else np.maximum(defined.sum(axis=0), 1)
        over_splits = np.where(defined, medians, 0.0).sum(axis=0) / number
        over_splits = over_splits if self._squared else np.where(defined.any(axis=0), over_splits, np.nan)
        slopes = 2 * np.abs(over_splits) if self._squared else np.ones_like(over_splits)
        scale = slopes / slopes.size / number  # of the mean over bins and groups
        effects = np.einsum("bij,bj->ij", self._effects, scale[:, group])
        value = float(np.mean(_signed_square(over_splits) if self._squared else over_splits))
        share = splits / max(self._trained, 1)  # the effects of training stimuli may come from some of the splits
        training = self._training * (share * scale[0, group]) if self._trained else None
        if training is not None:
            effects += training
        pairs = self._pairs * (share * float(scale.mean()))
        weights = self._weights / splits
        return Predictivity(value, correlations, group, effects, weights, self._squared, pairs, training)


def predictivity(
    predicted: ArrayLike,
    measured: ArrayLike,
    *,
    splits: ArrayLike | None = None,
    stimuli: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    squared: bool = False,
) -> Predictivity:
    """Correlate out-of-fold predictions with measurements.

    Parameters
    ----------
    predicted, measured : array, presentations × neuroids [× time bins]
        The held-out stimuli of all splits.
    splits, stimuli : array (presentations,), optional
        Split and stimulus (or group of stimuli) of each presentation; by default one split, and a different stimulus
        for each presentation.
    groups : array (neuroids,), optional
        Groups of neuroids, such as animals, whose medians are averaged.
    squared : bool
        Whether to square each time bin's correlation, keeping its sign, before the mean over bins.

    Returns
    -------
    Predictivity

    Raises
    ------
    ValueError
        If shapes do not match, or a split has fewer than 4 stimuli.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.standard_normal((50, 9))
    >>> result = predictivity(measured + rng.standard_normal((50, 9)), measured)
    >>> round(result.value, 1), result.n_stimuli, result.n_neuroids
    (0.7, 50, 9)
    """
    x, y = (np.asarray(side) for side in (predicted, measured))
    if x.shape != y.shape or x.ndim not in (2, 3):
        raise ValueError(f"predictions have the shape {x.shape}, measurements {y.shape}")
    n = len(x)
    split = np.zeros(n, dtype=np.intp) if splits is None else np.unique(np.asarray(splits), return_inverse=True)[1]
    code = np.arange(n) if stimuli is None else np.unique(np.asarray(stimuli), return_inverse=True)[1]
    group = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    collected = PredictivityOfSplits(code, groups=group, squared=squared)
    for number in range(int(split.max()) + 1):
        rows = np.flatnonzero(split == number)
        collected.add(x[rows], y[rows], test=rows)
    return collected.result()


def predictivity_interval(
    result: Predictivity, *, clusters: ArrayLike | None = None, n_resamples: int = 1000
) -> Interval:
    """Standard error and confidence interval of a predictivity, with stimuli and neuroids as random samples.

    `result`: the value and the effects of stimuli on it. `clusters`: clusters of neuroids, such as animals, that vary
    together. Fewer than five clusters do not vary: the neuroids of each vary instead. `n_resamples`: number of
    resamples of the neuroids. Returns Student's t at a level of 95 %; ``n`` is the smallest number of units. NaN with a
    reason for fewer than 3 stimuli or neuroids, or if the value is undefined.

    Notes
    -----
    As for :func:`compare_predictivity`. With five or more clusters, the variance over neuroids is that of a jackknife
    that leaves out a cluster at a time.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.standard_normal((100, 40))
    >>> result = predictivity(measured + rng.standard_normal((100, 40)), measured)
    >>> interval = predictivity_interval(result)
    >>> round(interval.low, 2), round(interval.high, 2), interval.n
    (0.68, 0.74, 40)
    """
    codes = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    fewest = min(result.n_stimuli, result.n_neuroids)
    if fewest < 3 or not math.isfinite(result.value):
        few = "at least 3 stimuli and neuroids are needed to tell how much they vary"
        reason = few if fewest < 3 else "the value itself is undefined"
        return Interval(math.nan, math.nan, math.nan, "crossed", fewest, reason)
    effects, training = result.effects, result.training
    if codes is not None and codes.max() + 1 >= FEWEST_GROUPS:
        fewest = min(result.n_stimuli, int(codes.max()) + 1)
        of_neuroids = _jackknife_variance(_without_clusters(result, codes))
        known, concentration = float(codes.max()), 0.0
        effects = sums_of_groups(effects.T, codes).T
        training = None if training is None else sums_of_groups(training.T, codes).T
    else:
        of_neuroids = float(np.nanvar(_resampled(result, n_resamples, 0, codes), ddof=1))
        known, concentration = _known([result], result.n_neuroids), float(np.sum(result.weights**2))
    variance, df = _variance(
        [effects],
        of_neuroids,
        known=known,
        concentration=concentration,
        pairs=_of_pairs(result.pairs),
        least=0.0 if training is None else _common([effects - training]),
    )
    error = math.sqrt(variance)
    half = float(stdtrit(min(df, fewest - 1), 0.975)) * error
    return Interval(result.value - half, result.value + half, error, "crossed", fewest)


def predictivity_covariance(
    first: PredictivityOfUnits, second: PredictivityOfUnits, *, n_resamples: int = 1000
) -> float:
    """Covariance of two values over the stimuli and neuroids that both were computed from.

    Parameters
    ----------
    first, second : PredictivityOfUnits
        Such as a predictivity, and a reliability of the same recordings.
    n_resamples : int
        Number of resamples of the neuroids.

    Returns
    -------
    float
        Its parts are those of the variance in :func:`predictivity_interval`: covariance over resampled neuroids (or
        clusters that are left out) + that of the effects which stimuli have on all neuroids in common. 0 if the two do
        not have the same stimuli, neuroids and clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.standard_normal((60, 40))
    >>> first, second = (
    ...     PredictivityOfUnits(
    ...         predictivity(measured + noise * rng.standard_normal((60, 40)), measured), np.arange(60), np.arange(40)
    ...     )
    ...     for noise in (1, 2)
    ... )
    >>> both = predictivity_covariance(first, second)
    >>> abs(both) < predictivity_interval(first.found).error * predictivity_interval(second.found).error
    True
    """
    matched = second.in_order(first.stimuli, first.neuroids)
    if matched is None or not np.array_equal(first.found.groups, matched.found.groups):
        return 0.0
    codes, theirs = (
        np.unique(np.zeros(1) if side.clusters is None else side.clusters, return_inverse=True)[1]
        for side in (first, matched)
    )
    if not np.array_equal(codes, theirs):
        return 0.0
    sides = [first.found, matched.found]
    effects = [side.effects for side in sides]
    number = int(codes.max()) + 1
    if number >= FEWEST_GROUPS:
        effects = [sums_of_groups(part.T, codes).T for part in effects]
        left_out = np.array([_without_clusters(side, codes) for side in sides])
        own = float((number - 1) ** 2 / number * np.cov(left_out)[0, 1])
        concentration = 0.0
    else:
        strata = None if first.clusters is None else codes
        replicates = np.array([_resampled(side, n_resamples, 0, strata) for side in sides])
        own = float(np.cov(replicates[:, np.isfinite(replicates).all(axis=0)])[0, 1])
        concentration = float(np.mean([np.sum(side.weights**2) for side in sides]))
    n = len(effects[0])
    a, b = (part - part.mean(axis=0) for part in effects)
    common = float(a.sum(axis=1) @ b.sum(axis=1) - np.vdot(a, b)) * (n - 1) / n
    return own + common / max(1 - concentration, 0.5)


def compare_predictivity(
    first: Predictivity,
    second: Predictivity,
    *,
    transform: Transform | None = None,
    paired_neuroids: bool = True,
    clusters: ArrayLike | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
) -> PairedTest:
    """Difference of two models' predictivity of the same responses, with stimuli and neuroids as random samples.

    Parameters
    ----------
    first, second : Predictivity
        Results for the same stimuli, splits and neuroids.
    transform : callable, optional
        Function from a predictivity to the score that is compared, such as its square over the ceiling, for arrays.
    paired_neuroids : bool
        Whether the neuroids are the same; False if the models' own neuroids were predicted.
    clusters : array (neuroids,), optional
        Clusters of neuroids, such as animals, that vary together. Fewer than five clusters do not vary: the neuroids of
        each vary instead.
    n_resamples : int
        Number of resamples of the neuroids.
    level : float
        Confidence level.

    Returns
    -------
    PairedTest

    Notes
    -----
    error² = variance over resampled neuroids (bootstrap of the medians, with the same neuroids for both models) +
    variance of the effects that stimuli have on all neuroids in common (jackknife over the stimuli, in all splits).
    Effects of a stimulus on single neuroids are part of the first term and are excluded from the second; resampling
    both at once would count them three times [1]_ [2]_. For the jackknife, medians are smoothed by the method of
    Harrell & Davis [3]_, as otherwise leaving out a stimulus would have no slope. Degrees of freedom are those of
    Satterthwaite; the variance of a median, which depends on the density around it, counts with half the number of
    values that have weight in the smoothed median. Maps are kept, unless the effects of training stimuli are known of
    both; what depends on a training and a test stimulus is an effect of either, and is subtracted once. Of fewer than
    ten stimuli (or groups), the excluded effects, which are known badly, are at most as large as the first term; the
    second one is at least the standard error of a variance, √(2 / (stimuli − 1)), of the effects through all neuroids.

    References
    ----------
    .. [1] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122
    .. [2] Schütt et al. (2023). eLife 12, e82566. https://doi.org/10.7554/eLife.82566
    .. [3] Harrell & Davis (1982). Biometrika 69, 635–640. https://doi.org/10.1093/biomet/69.3.635

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.standard_normal((60, 40))
    >>> good, bad = (predictivity(measured + noise * rng.standard_normal((60, 40)), measured) for noise in (1, 2))
    >>> compare_predictivity(good, bad).p < 0.001
    True
    """
    if len(first.effects) != len(second.effects) or (paired_neuroids and first.n_neuroids != second.n_neuroids):
        raise ValueError("the two results are not for the same stimuli and neuroids")
    change: Transform = (lambda values: values) if transform is None else transform
    sides = (first, second)
    scores = [float(change(np.array(side.value))) for side in sides]
    difference = scores[0] - scores[1]
    slopes = [_slope(change, side.value) for side in sides]
    n, fewest = first.n_stimuli, min(side.n_neuroids for side in sides)
    if min(n, fewest) < 3 or not math.isfinite(difference):
        reason = "at least 3 stimuli and neuroids are needed" if min(n, fewest) < 3 else "a score is undefined"
        return untested(difference, reason)

    codes = None
    if clusters is not None and paired_neuroids:
        codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    varying = codes if codes is not None and codes.max() + 1 >= FEWEST_GROUPS else None

    def cells_of(parts: Sequence[Array]) -> list[Array]:
        ours, theirs = (slope * part for slope, part in zip(slopes, parts, strict=True))
        cells = [ours - theirs] if paired_neuroids else [ours, -theirs]
        return cells if varying is None else [sums_of_groups(cell.T, varying).T for cell in cells]

    cells, least = cells_of([side.effects for side in sides]), 0.0
    pairs = _of_pairs(slopes[0] * first.pairs - slopes[1] * second.pairs)
    if first.training is not None and second.training is not None:
        least = _common(cells_of([first.effects - first.training, second.effects - second.training]))
    least = max(least, float(remaining_variance(_shared(cells), math.inf, n)))
    if varying is not None:
        without = [change(_without_clusters(side, varying)) for side in sides]
        of_neuroids = _jackknife_variance(without[0] - without[1])
        known, concentration = float(varying.max()), 0.0
    else:
        seeds = (0, 0) if paired_neuroids else (0, 1)
        replicates = [change(_resampled(side, n_resamples, own, codes)) for side, own in zip(sides, seeds, strict=True)]
        of_neuroids = float(np.nanvar(replicates[0] - replicates[1], ddof=1))
        known, concentration = _known(sides, fewest), float(np.mean([np.sum(side.weights**2) for side in sides]))
    least = max(least, _shared(cells) - of_neuroids) if n < _FEW else least
    variance, df = _variance(cells, of_neuroids, known=known, concentration=concentration, pairs=pairs, least=least)
    if varying is not None:
        df = min(df, n - 1, known)
    else:  # at most those of a kind that contributes more than half of the variance, such as few groups of stimuli
        df = min(df, known if of_neuroids > variance / 2 else n - 1)
    return student_test(difference, variance, df, level=level)


def influence_of_stimuli(result: Predictivity) -> Array:
    """Influence of each stimulus (or group of stimuli) through all neuroids.

    The sum of squares, less that of :func:`influence_through_neuroids`, is the variance of the value over stimuli.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.standard_normal((50, 9))
    >>> result = predictivity(measured + rng.standard_normal((50, 9)), measured)
    >>> influence_of_stimuli(result).shape, influence_of_neuroids(result).shape
    ((50,), (9,))
    """
    return np.asarray(_centred(result.effects).sum(axis=1))


def influence_through_neuroids(result: Predictivity, *, clusters: ArrayLike | None = None) -> Array:
    """Influence of each stimulus (or group of stimuli) through each neuroid, or each cluster of neuroids.

    :func:`influence_of_neuroids` contains it as well.

    `result`: the value. `clusters`: as for :func:`influence_of_neuroids`.
    """
    effects = _centred(result.effects)
    codes = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    if codes is not None and codes.max() + 1 >= FEWEST_GROUPS:
        effects = sums_of_groups(effects.T, codes).T
    return effects


def _centred(effects: Array) -> Array:
    n = len(effects)
    return np.asarray((effects - effects.mean(axis=0)) * math.sqrt((n - 1) / n))


def influence_of_neuroids(result: Predictivity, *, clusters: ArrayLike | None = None) -> Array:
    """Influence of each neuroid, or of each cluster of neuroids; the sum of squares is its variance.

    `result`: the value. `clusters`: clusters of neuroids, such as animals, that vary together. Fewer than five clusters
    do not vary: the neuroids of each vary instead. Returns decrease of the value without the neuroid or cluster, less
    the mean. Medians are smoothed (Harrell & Davis), since a jackknife of the median itself fails [1]_. Clusters are in
    the order of their sorted names.

    References
    ----------
    .. [1] Harrell & Davis (1982). Biometrika 69, 635–640. https://doi.org/10.1093/biomet/69.3.635
    """
    m = result.n_neuroids
    codes = np.zeros(m, dtype=np.intp)
    if clusters is not None:
        codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if codes.max() + 1 >= FEWEST_GROUPS:
        left_out = _without_clusters(result, codes)
        n = len(left_out)
        return np.asarray((left_out.mean() - left_out) * math.sqrt((n - 1) / n))
    splits, bins, _ = result.correlations.shape
    n_groups = int(result.groups.max()) + 1
    medians = _panels(result.correlations, result.groups)
    slopes = 2 * np.abs(mean(medians, 0)) if result.squared else np.ones(medians.shape[1:])
    influence = np.zeros(m)
    for group in range(n_groups):
        members = np.flatnonzero(result.groups == group)
        strata = codes[members]
        for bin_ in range(bins):
            drops = np.stack([_drops(result.correlations[split, bin_, members]) for split in range(splits)])
            of_bin = mean(drops, 0)
            for code in np.unique(strata):
                some = strata == code
                n = int(some.sum())
                centred = (of_bin[some] - of_bin[some].mean()) * math.sqrt((n - 1) / n)
                influence[members[some]] += slopes[bin_, group] / (bins * n_groups) * centred
    return influence


def _drops(values: Array) -> Array:
    """Decrease of the smoothed median without each value; 0 for NaN."""
    known = np.flatnonzero(~np.isnan(values))
    drops, m = np.zeros(len(values)), len(known)
    if m < 2:
        return drops
    order = known[np.argsort(values[known], kind="stable")]
    ranked = values[order]
    steps = np.diff(betainc(m / 2, m / 2, np.arange(m) / (m - 1)))  # the weights of m − 1 values
    below = np.concatenate([[0.0], np.cumsum(steps * ranked[:-1])])
    above = np.concatenate([np.cumsum((steps * ranked[1:])[::-1])[::-1], [0.0]])
    left_out = below + above
    drops[order] = left_out.mean() - left_out
    return drops


def _variance(
    cells: Sequence[Array],
    of_neuroids: float,
    *,
    known: float,
    concentration: float,
    pairs: float = 0.0,
    least: float = 0.0,
) -> tuple[float, float]:
    """Variance over stimuli and neuroids, and its degrees of freedom."""
    n = len(cells[0])
    common = max(_common(cells) - pairs, least, 0.0) / max(1 - concentration, 0.5)
    variance = of_neuroids + common
    uncertain = of_neuroids**2 / known + common**2 / (n - 1)
    return variance, variance**2 / uncertain if uncertain > 0 else min(n - 1, known)


def _common(cells: Sequence[Array]) -> float:
    """Variance of the effects that stimuli have on all neuroids in common; by chance, it may be below 0."""
    n = len(cells[0])
    single = sum(np.vdot(cell, cell) for cell in (cell - cell.mean(axis=0) for cell in cells))
    return _shared(cells) - float(single) * (n - 1) / n


def _of_pairs(pairs: Array) -> float:
    """Variance of the effects that pairs of stimuli have on all neuroids in common: on one half as on the other."""
    return 4 * float(pairs[0] @ pairs[1])


def _shared(cells: Sequence[Array]) -> float:
    """Variance of the effects that stimuli have through all neuroids, in common or single."""
    n = len(cells[0])
    total = np.sum([cell.sum(axis=1) for cell in cells], axis=0)
    return float(np.sum((total - total.mean()) ** 2)) * (n - 1) / n


def _known(sides: Sequence[Predictivity], neuroids: int) -> float:
    """Degrees of freedom of the variance of a median, which depends on the few values near it."""
    concentration = float(np.mean([np.sum(side.weights**2) for side in sides]))
    return float(min(max(0.5 / concentration, 1.0), neuroids - 1)) if concentration > 0 else 1.0


class _Part:
    """One split and time bin: correlations of all stimuli, and without each stimulus."""

    def __init__(self, x: NDArray, y: NDArray) -> None:
        self._a = x - x.mean(axis=0, dtype=np.float64)
        self._b = y - y.mean(axis=0, dtype=np.float64)
        self._xx, self._yy = (np.einsum("ij,ij->j", side, side) for side in (self._a, self._b))
        for spread, values in ((self._xx, x), (self._yy, y)):  # rounding does not count as variation
            largest = np.abs(values).max(axis=0).astype(np.float64)
            spread[spread <= len(x) * (1e-12 * largest) ** 2] = np.nan
        self._xy = np.einsum("ij,ij->j", self._a, self._b)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.correlations = self._xy / np.sqrt(self._xx * self._yy)

    def without(self, groups: Codes) -> tuple[Codes, Array]:
        """Groups of rows, and the correlation without each group (groups × neuroids); NaN if it is undefined."""
        n = len(self._a)
        which, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
        rest = (n - counts)[:, None]
        a, b = self._a, self._b
        aa, bb, ab = (sums_of_groups(product, codes) for product in (a * a, b * b, a * b))
        a, b = sums_of_groups(a, codes), sums_of_groups(b, codes)
        with np.errstate(invalid="ignore", divide="ignore"):
            xx = self._xx - aa - a**2 / rest
            yy = self._yy - bb - b**2 / rest
            left = (self._xy - ab - a * b / rest) / np.sqrt(xx * yy)
        enough = (rest > 1) & (xx > 1e-9 * self._xx) & (yy > 1e-9 * self._yy)
        return which, np.where(enough, np.clip(left, -1.0, 1.0), np.nan)

    def slopes(self) -> Array:
        """Derivative of each neuroid's correlation by its predictions: stimuli × neuroids; 0 if undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes = self._b / np.sqrt(self._xx * self._yy) - self.correlations * self._a / self._xx
        return np.where(np.isnan(self.correlations), 0.0, slopes)


def _panels(correlations: Array, groups: NDArray[np.intp]) -> Array:
    return np.stack(
        [median(correlations[..., groups == number], -1) for number in range(int(groups.max()) + 1)], axis=-1
    )


def _smoothed(values: Array, groups: NDArray[np.intp]) -> Array:
    """Weight of each value in the smoothed median of its group; 0 for NaN."""
    weights = np.zeros(len(values))
    for number in range(int(groups.max()) + 1):
        members = np.flatnonzero((groups == number) & ~np.isnan(values))
        m = len(members)
        if m:
            steps = np.diff(betainc((m + 1) / 2, (m + 1) / 2, np.arange(m + 1) / m))
            weights[members[np.argsort(values[members], kind="stable")]] = steps
    return weights


def _resampled(side: Predictivity, n_resamples: int, seed: int, clusters: Codes | None = None) -> Array:
    """The value for each resample of the neuroids in each group (and in each cluster)."""
    rng = np.random.default_rng(seed)
    splits, bins, _ = side.correlations.shape
    n_groups = int(side.groups.max()) + 1
    panels = np.empty((splits, bins, n_groups, n_resamples))
    for number in range(n_groups):
        members = np.flatnonzero(side.groups == number)
        medians, step = ResampledMedians(side.correlations[..., members]), max(1, CHUNK_BYTES // (8 * len(members)))
        strata = [np.arange(len(members))]
        if clusters is not None:
            strata = [np.flatnonzero(clusters[members] == code) for code in np.unique(clusters[members])]
        for start in range(0, n_resamples, step):
            count = min(step, n_resamples - start)
            drawn = [stratum[rng.integers(0, len(stratum), (count, len(stratum)))] for stratum in strata]
            panels[:, :, number, start : start + step] = medians.of(np.concatenate(drawn, axis=1))
    return _of_panels(panels, squared=side.squared)


def _jackknife_variance(left_out: Array) -> float:
    """Variance of a value, from those without each cluster of neuroids."""
    return float((len(left_out) - 1) / len(left_out) * np.sum((left_out - left_out.mean()) ** 2))


def _without_clusters(side: Predictivity, clusters: Codes) -> Array:
    """The value without each cluster of neuroids."""
    codes = np.unique(clusters)
    panels = np.stack(
        [
            _panels(np.where(clusters == code, np.nan, side.correlations), side.groups)  # splits × bins × groups
            for code in codes
        ],
        axis=-1,
    )
    return _of_panels(panels, squared=side.squared)


def _of_panels(panels: Array, *, squared: bool) -> Array:
    """Values from medians: splits × bins × groups × values."""
    if squared:
        over_splits = np.nan_to_num(panels, nan=0.0).mean(axis=0)
        return np.asarray(_signed_square(over_splits).mean(axis=(0, 1)))
    return mean(mean(panels, 0), (0, 1))


def _signed_square(values: Array) -> Array:
    return np.asarray(np.sign(values) * values**2)


def _slope(change: Transform, value: float, step: float = 1e-5) -> float:
    low, high = change(np.array([value - step, value + step]))
    return float((high - low) / (2 * step))
