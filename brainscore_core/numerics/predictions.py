"""Comparison of the predictivity of two models for the same responses, over stimuli and neuroids."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from brainscore_core.numerics._arrays import CHUNK_BYTES, Array
from brainscore_core.numerics.resampling import ResampledMedians, mean, median
from brainscore_core.numerics.significance import PairedTest, student_test

__all__ = ["Predictivity", "compare_predictivity", "predictivity"]

_FEWEST = 4
"""Minimum number of stimuli of a split, so that a correlation is defined when one is left out."""

Transform = Callable[[Array], Array]


@dataclass(frozen=True)
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
        Decrease of the value without a stimulus, through each neuroid; uses smoothed medians (Harrell & Davis).
    weights : array (neuroids,)
        Weights of the neuroids in the smoothed medians, averaged over splits and bins.
    squared : bool
        Whether each bin's correlation was squared, keeping its sign, before the mean over bins.
    """

    value: float
    correlations: Array
    groups: NDArray[np.intp]
    effects: Array
    weights: Array
    squared: bool

    @property
    def n_stimuli(self) -> int:
        """Number of stimuli that were held out at least once."""
        return len(self.effects)

    @property
    def n_neuroids(self) -> int:
        """Neuroids."""
        return self.correlations.shape[-1]


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
        Split and stimulus of each presentation; by default one split, and a different stimulus for each presentation.
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
    x, y = (side[:, :, None] if side.ndim == 2 else side for side in (x, y))
    n, neuroids, bins = x.shape
    split = np.zeros(n, dtype=np.intp) if splits is None else np.unique(np.asarray(splits), return_inverse=True)[1]
    code = np.arange(n) if stimuli is None else np.unique(np.asarray(stimuli), return_inverse=True)[1]
    group = np.zeros(neuroids, dtype=np.intp)
    if groups is not None:
        group = np.unique(np.asarray(groups), return_inverse=True)[1]
    rows = [np.flatnonzero(split == number) for number in range(int(split.max()) + 1)]
    if (fewest := min(map(len, rows))) < _FEWEST:
        raise ValueError(f"a split has {fewest} stimuli; at least {_FEWEST} are needed to compare models")
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [[_Part(x[which, :, bin_], y[which, :, bin_]) for bin_ in range(bins)] for which in rows]
    correlations = np.array([[part.correlations for part in of_split] for of_split in parts])
    medians = _panels(correlations, group)  # splits × bins × groups
    defined = ~np.isnan(medians)
    number = np.full(defined.shape[1:], len(rows)) if squared else np.maximum(defined.sum(axis=0), 1)
    over_splits = np.where(defined, medians, 0.0).sum(axis=0) / number
    over_splits = over_splits if squared else np.where(defined.any(axis=0), over_splits, np.nan)
    slopes = 2 * np.abs(over_splits) if squared else np.ones_like(over_splits)
    slopes = slopes / slopes.size  # of the mean over bins and groups
    effects, total = np.zeros((int(code.max()) + 1, neuroids)), np.zeros(neuroids)
    for which, of_split in zip(rows, parts, strict=True):
        for bin_, part in enumerate(of_split):
            weights = _smoothed(part.correlations, group)
            total += weights / (len(rows) * bins)
            scale = weights * (slopes[bin_] / number[bin_])[group]
            _add(effects, code[which], part.without() * scale)
    value = float(np.mean(_signed_square(over_splits) if squared else over_splits))
    return Predictivity(value, correlations, group, effects, total, squared)


def compare_predictivity(
    first: Predictivity,
    second: Predictivity,
    *,
    transform: Transform | None = None,
    paired_neuroids: bool = True,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
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
    n_resamples : int
        Number of resamples of the neuroids.
    level : float
        Confidence level.
    seed : int
        Seed of the resamples.

    Returns
    -------
    PairedTest

    Notes
    -----
    Maps are not refitted. error² = variance over resampled neuroids (bootstrap of the medians, with the same neuroids
    for both models) + variance of the effects that stimuli have on all neuroids in common (jackknife over the stimuli,
    in all splits that test a stimulus). Effects of a stimulus on single neuroids are part of the first term and are
    excluded from the second; resampling both at once would count them three times [1]_. For the jackknife, medians are
    smoothed by the method of Harrell & Davis [2]_, as otherwise leaving out a stimulus would have no slope. Degrees of
    freedom are those of Satterthwaite; the variance of a median, which depends on the density around it, counts with
    half the number of values that have weight in the smoothed median.

    References
    ----------
    .. [1] Schütt et al. (2023). eLife 12, e82566. https://doi.org/10.7554/eLife.82566
    .. [2] Harrell & Davis (1982). Biometrika 69, 635–640. https://doi.org/10.1093/biomet/69.3.635

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
        return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)

    seeds = (seed, seed) if paired_neuroids else (seed, seed + 1)
    replicates = [change(_resampled(side, n_resamples, own)) for side, own in zip(sides, seeds, strict=True)]
    of_neuroids = float(np.nanvar(replicates[0] - replicates[1], ddof=1))

    effects = [slope * (side.effects - side.effects.mean(axis=0)) for side, slope in zip(sides, slopes, strict=True)]
    shared = effects[0].sum(axis=1) - effects[1].sum(axis=1)
    cells = [effects[0] - effects[1]] if paired_neuroids else effects
    of_stimuli = float(np.sum(shared**2)) * (n - 1) / n
    single = float(sum(np.sum(cell**2) for cell in cells)) * (n - 1) / n
    concentration = float(np.mean([np.sum(side.weights**2) for side in sides]))
    common = max(of_stimuli - single, 0.0) / max(1 - concentration, 0.5)
    variance = of_neuroids + common
    known = min(max(0.5 / concentration, 1.0), fewest - 1)  # the variance of a median depends on the few values near it
    uncertain = of_neuroids**2 / known + common**2 / (n - 1)
    df = variance**2 / uncertain if uncertain > 0 else min(n, fewest) - 1
    return student_test(difference, variance, df, level=level)


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
        self.correlations = self._xy / np.sqrt(self._xx * self._yy)

    def without(self) -> Array:
        """Correlation minus that without a stimulus: stimuli × neuroids; 0 if the latter is undefined."""
        factor = len(self._a) / (len(self._a) - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            xx = self._xx - factor * self._a**2
            yy = self._yy - factor * self._b**2
            left = (self._xy - factor * self._a * self._b) / np.sqrt(xx * yy)
        enough = (xx > 1e-9 * self._xx) & (yy > 1e-9 * self._yy)
        return np.where(enough, self.correlations - left, 0.0)


def _add(effects: Array, codes: NDArray[np.intp], values: Array) -> None:
    if len(np.unique(codes)) == len(codes):
        effects[codes] += values
    else:
        np.add.at(effects, codes, values)


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


def _resampled(side: Predictivity, n_resamples: int, seed: int) -> Array:
    """The value for each resample of the neuroids in each group."""
    rng = np.random.default_rng(seed)
    splits, bins, _ = side.correlations.shape
    n_groups = int(side.groups.max()) + 1
    panels = np.empty((splits, bins, n_groups, n_resamples))
    for number in range(n_groups):
        values = side.correlations[..., side.groups == number]
        size = values.shape[-1]
        medians, step = ResampledMedians(values), max(1, CHUNK_BYTES // (8 * size))
        for start in range(0, n_resamples, step):
            drawn = rng.integers(0, size, (min(step, n_resamples - start), size))
            panels[:, :, number, start : start + step] = medians.of(drawn)
    if side.squared:
        over_splits = np.nan_to_num(panels, nan=0.0).mean(axis=0)
        return np.asarray(_signed_square(over_splits).mean(axis=(0, 1)))
    return np.asarray(mean(panels, 0).mean(axis=(0, 1)))


def _signed_square(values: Array) -> Array:
    return np.asarray(np.sign(values) * values**2)


def _slope(change: Transform, value: float, step: float = 1e-5) -> float:
    low, high = change(np.array([value - step, value + step]))
    return float((high - low) / (2 * step))
