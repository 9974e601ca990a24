"""What models explain of responses alone, together, and not at all, from the products of their features."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from brainscore_core.numerics._matrices import Array, centred_eigh, product
from brainscore_core.numerics.linear_regression import centred_blocks
from brainscore_core.numerics.resampling import Interval, influence_variance, student_interval
from brainscore_core.numerics.significance import corrected
from brainscore_core.parallel import evaluate

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]
Members = tuple[int, ...]

PENALTIES = 10.0 ** np.arange(-3.5, 2.5, 0.5)
"""Penalties, as multiples of the mean squared distance of the features of the training stimuli from their mean."""

_WEIGHTS = {1: (1.0,), 2: (0.0, 0.1, 0.3, 1.0), 3: (0.0, 0.1, 1.0), 4: (0.0, 0.1, 1.0)}
"""Weights of a model's products by the number of models; the largest weight of each combination is 1."""

_COMBINED = 4
"""Number of the best models that are combined at most."""


@dataclass(frozen=True, eq=False)
class Explained:
    """What models explain of the responses to held-out stimuli, alone and together.

    - `total` (stimuli × neuroids): squared deviations from the mean response to the training stimuli.
    - `errors` (dict from tuple of int to array, stimuli × neuroids): squared errors of the predictions from the models
      of each combination, by their numbers.
    - `noise` (stimuli × neuroids): variance of the mean responses over repetitions of the same experiment, as far as it
      enters `total` and `errors`; 0 if unknown.
    - `groups`: groups of stimuli over which the intervals generalise.
    """

    total: Array
    errors: dict[Members, Array]
    noise: Array
    groups: Rows

    @cached_property
    def signal(self) -> Array:
        """Deviations without noise: the variance that can be explained. Single values may be negative."""
        return self.total - self.noise

    def share(self, values: Array, *, level: float = 0.95) -> tuple[float, Interval]:
        """Sum of values (stimuli × neuroids) as a share of the signal, with an interval over stimuli and neuroids.

        The interval is Student's t, from the derivatives of the ratio by the weights of stimuli and of neuroids; what
        depends on both is subtracted once. It is for maps fitted to these training stimuli.
        """
        divisor = self.signal.mean()
        if not divisor > 0:
            return np.nan, Interval(np.nan, np.nan, np.nan, "influence", len(values), "the responses have no signal")
        estimate = float(values.mean() / divisor)
        influence = _group_means((values - estimate * self.signal) / divisor, self.groups)
        variance, df = influence_variance(influence if influence.shape[1] > 2 else influence.mean(axis=1))
        return estimate, student_interval(estimate, variance**0.5, df=df, n=len(influence), level=level)

    def explained(self, members: Members) -> Array:
        """What a combination explains (stimuli × neuroids): the deviations less the squared errors."""
        return self.total - self.errors[members] if members else np.zeros_like(self.total)

    def parts(self) -> dict[Members, Array]:
        """Variance that exactly the models of each combination share, by inclusion and exclusion; may be negative.

        The values of all combinations sum to what all models together explain.
        """
        together = max(self.errors, key=len)
        return {members: self._shared_by(members, together) for members in self.errors}

    def _shared_by(self, members: Members, together: Members) -> Array:
        others = [number for number in together if number not in members]
        result = np.zeros_like(self.total)
        for size in range(len(members) + 1):
            for chosen in itertools.combinations(members, size):
                sign = (-1) ** (size + 1)
                result += sign * self.explained(tuple(sorted([*others, *chosen])))
        return result


def explain(
    kernels: Sequence[ArrayLike],
    Y: ArrayLike,
    splits: Iterable[Split],
    *,
    noise: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Explained:
    """Predict held-out responses from each combination of one to four models.

    - `kernels` (n × n): products XXᵀ of each model's features, or (X − m)(X − m)ᵀ for any m.
    - `Y` (n × q): mean responses, without NaN.
    - `splits`: training and test rows; each row is tested once.
    - `noise` (n × q): variance of the mean response of each stimulus and neuroid: the variance over repetitions divided
      by their number.
    - `groups`: stimuli of one group are held out together when penalties are chosen, and are one unit of the intervals.

    Banded ridge regression [1]_: a combination is fitted to the weighted sum of its models' products, each divided by
    its mean diagonal. Weights and the penalty are chosen for each neuroid by the squared error of training stimuli (or
    groups) that are left out, which follows from one eigendecomposition [2]_; weights of 0 are among them, so that no
    combination is chosen with a larger error than one that it contains. What a model explains uniquely is the
    difference of two such fits, not one of stored predictions, which is biased.

    What is estimated is the variance that maps fitted to so many stimuli explain of new stimuli.

    References
    ----------
    .. [1] Dupré la Tour et al. (2022). NeuroImage 264, 119728. https://doi.org/10.1016/j.neuroimage.2022.119728
    .. [2] Golub, Heath & Wahba (1979). Technometrics 21, 215–223. https://doi.org/10.1080/00401706.1979.10489751

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.standard_normal((2, 200, 5))
    >>> Y = first @ rng.standard_normal((5, 30)) + second @ rng.standard_normal((5, 30))
    >>> folds = np.array_split(np.arange(200), 5)
    >>> splits = [(np.setdiff1d(np.arange(200), fold), fold) for fold in folds]
    >>> result = explain([first @ first.T, second @ second.T], Y, splits)
    >>> {members: round(result.share(part)[0], 2) for members, part in result.parts().items()}
    {(0,): 0.47, (1,): 0.58, (0, 1): -0.05}
    """
    if not 1 <= len(kernels) <= max(_WEIGHTS):
        raise ValueError(f"there are {len(kernels)} models; variance is divided among at most {max(_WEIGHTS)}")
    K, Y, codes = _checked(kernels, Y, groups)
    combinations = list(_combinations(len(K)))
    total = np.full_like(Y, np.nan)
    errors = {members: np.full_like(Y, np.nan) for members in combinations}
    factor = np.ones((len(Y), 1))
    weights_tried = [weights for weights in itertools.product(_WEIGHTS[len(K)], repeat=len(K)) if max(weights) == 1.0]

    def fitted(task: tuple[Split, tuple[float, ...]]) -> tuple[Array, Array]:
        (train, test), weights = task
        return _fit(np.tensordot(weights, K, axes=1), Y - Y[train].mean(axis=0), train, test, codes)

    splits = list(splits)
    fits = evaluate(fitted, list(itertools.product(splits, weights_tried)))
    for train, test in splits:
        y_mean = Y[train].mean(axis=0)
        total[test] = (Y[test] - y_mean) ** 2
        factor[test] = 1 + 1 / len(train)
        best = {members: np.full(Y.shape[1], np.inf) for members in combinations}
        for weights, (error, predicted) in zip(weights_tried, itertools.islice(fits, len(weights_tried)), strict=True):
            used = {number for number, weight in enumerate(weights) if weight}
            for members in combinations:
                if used <= set(members):
                    better = error < best[members]
                    best[members][better] = error[better]
                    errors[members][np.ix_(test, better)] = (
                        Y[test][:, better] - y_mean[better] - predicted[:, better]
                    ) ** 2
    _require_tested(total)
    variance = np.zeros_like(Y) if noise is None else np.asarray(noise, dtype=np.float64)
    return Explained(total, errors, variance * factor, codes)


@dataclass(frozen=True, eq=False)
class Unexplained:
    """Variance that no model explains, for each neuroid and each stimulus.

    - `total`, `noise` (stimuli × neuroids): as for :class:`Explained`.
    - `best`, `combined` (stimuli × neuroids): squared errors of the model with the smallest error on the training
      stimuli, and of the best combination; the mean response is one of the models.
    - `chosen` (splits × neuroids): number of the best model of each split and neuroid; −1: the mean response.
    - `groups`: units of the tests.
    """

    total: Array
    noise: Array
    best: Array
    combined: Array
    chosen: Rows
    groups: Rows

    def neuroids(self, *, margin: float = 0.1, level: float = 0.05) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which neuroids have a reliable signal, and of which of these more than `margin` of it is unexplained.

        One-sided t tests over stimuli (or groups); those of the second kind are corrected by the method of Benjamini
        and Hochberg, so that at most `level` of the neuroids found are expected to be false.
        """
        return self._tested(self.total - self.noise, self.combined - self.noise, margin, level)

    def stimuli(self, *, margin: float = 0.1, level: float = 0.05) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """As :meth:`neuroids`, of stimuli: tests over neuroids, whose signals are divided by their variance."""
        signal = self.total - self.noise
        scale = np.maximum(signal.mean(axis=0), np.finfo(np.float64).tiny)
        used = self.neuroids(margin=margin, level=level)[0]
        if used.sum() < 3:
            nothing = np.zeros(len(signal), dtype=bool)
            return nothing, nothing
        signal, residual = ((values / scale)[:, used].T for values in (signal, self.combined - self.noise))
        return self._tested(signal, residual, margin, level, groups=np.arange(len(signal)))

    def _tested(
        self, signal: Array, residual: Array, margin: float, level: float, groups: Rows | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        codes = self.groups if groups is None else groups
        reliable = _p_of_positive(_group_means(signal, codes)) < level
        p_values = _p_of_positive(_group_means(residual - margin * signal, codes))
        found = np.zeros(len(reliable), dtype=bool)
        if reliable.any():
            found[reliable] = corrected(p_values[reliable], "benjamini-hochberg") <= level
        return reliable, found


def unexplained(
    kernels: Sequence[ArrayLike],
    Y: ArrayLike,
    splits: Sequence[Split],
    *,
    noise: ArrayLike,
    groups: ArrayLike | None = None,
) -> Unexplained:
    """Predict held-out responses by the best model of each neuroid, and by the best combination of models.

    Arguments are those of :func:`explain`, for any number of models. The best model is that with the smallest error on
    training stimuli that are left out, for each split and neuroid; so are combinations, the sums of the products of
    the two, three and four models with the smallest mean error.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, hidden = rng.standard_normal((2, 200, 5))
    >>> signal = X @ rng.standard_normal((5, 20))
    >>> signal[:, 10:] += hidden @ rng.standard_normal((5, 10))
    >>> repetitions = signal + rng.standard_normal((2, 200, 20))
    >>> folds = np.array_split(np.arange(200), 5)
    >>> splits = [(np.setdiff1d(np.arange(200), fold), fold) for fold in folds]
    >>> noise = repetitions.var(axis=0, ddof=1) / 2
    >>> reliable, found = unexplained([X @ X.T], repetitions.mean(axis=0), splits, noise=noise).neuroids()
    >>> int(reliable.sum()), found.astype(int).tolist()
    (20, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    K, Y, codes = _checked(kernels, Y, groups)
    total, best, combined = (np.full_like(Y, np.nan) for _ in range(3))
    factor, chosen = np.ones((len(Y), 1)), []

    def fitted(task: tuple[Split, int]) -> tuple[Array, Array]:
        (train, test), index = task
        return _fit(K[index], Y - Y[train].mean(axis=0), train, test, codes)

    fits = evaluate(fitted, list(itertools.product(splits, range(len(K)))))
    for train, test in splits:
        centred = Y - Y[train].mean(axis=0)
        total[test], factor[test] = centred[test] ** 2, 1 + 1 / len(train)
        of_mean = np.mean((centred[train] * len(train) / (len(train) - 1)) ** 2, axis=0)
        smallest = of_mean
        number, predicted = np.full(Y.shape[1], -1), np.zeros((len(test), Y.shape[1]))
        mean_errors = []
        for index, (error, prediction) in enumerate(itertools.islice(fits, len(K))):
            mean_errors.append(np.mean(error / np.maximum(of_mean, np.finfo(np.float64).tiny)))
            smallest, number, predicted = _better(smallest, number, predicted, error, index, prediction)
        best[test] = (centred[test] - predicted) ** 2
        chosen.append(number)
        order = np.argsort(mean_errors, kind="stable")
        for size in range(2, min(len(K), _COMBINED) + 1):
            error, prediction = _fit(sum(K[index] for index in order[:size]), centred, train, test, codes)
            smallest, number, predicted = _better(smallest, number, predicted, error, -1, prediction)
        combined[test] = (centred[test] - predicted) ** 2
    _require_tested(total)
    return Unexplained(total, np.asarray(noise, dtype=np.float64) * factor, best, combined, np.array(chosen), codes)


def _better(
    smallest: Array, number: Rows, predicted: Array, error: Array, index: int, prediction: Array
) -> tuple[Array, Rows, Array]:
    """Replace what belongs to a larger error."""
    better = error < smallest
    return np.minimum(smallest, error), np.where(better, index, number), np.where(better, prediction, predicted)


def _require_tested(total: Array) -> None:
    missing = np.flatnonzero(np.isnan(total).any(axis=1))
    if missing.size:
        raise ValueError(f"row {missing[0]} is not in the test rows of any split")


def _group_means(values: Array, codes: Rows) -> Array:
    """Sums over each group (groups × columns), in units of the mean number of rows of a group."""
    sizes = np.bincount(codes)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, codes, values)
    return sums * (len(sizes) / len(values))


def _p_of_positive(values: Array) -> Array:
    """One-sided p-value of each column's mean by Student's t."""
    error = values.std(axis=0, ddof=1) / len(values) ** 0.5
    ratio = np.divide(values.mean(axis=0), error, out=np.zeros(values.shape[1]), where=error > 0)
    return np.asarray(stdtr(len(values) - 1, -ratio))


def _combinations(n: int) -> Iterator[Members]:
    for size in range(1, n + 1):
        yield from itertools.combinations(range(n), size)


def _checked(kernels: Sequence[ArrayLike], Y: ArrayLike, groups: ArrayLike | None) -> tuple[list[Array], Array, Rows]:
    """Kernels, responses, and the group of each stimulus."""
    responses = np.asarray(Y, dtype=np.float64)
    n = len(responses)
    codes = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    return [_scaled(kernel, n) for kernel in kernels], responses, codes


def _scaled(kernel: ArrayLike, n: int) -> Array:
    """A kernel with mean diagonal 1, after centring."""
    K = np.array(kernel, dtype=np.float64)
    if K.shape != (n, n):
        raise ValueError(f"products have the shape {K.shape}; {n} stimuli need {(n, n)}")
    K -= K.mean(axis=0)
    K -= K.mean(axis=1, keepdims=True)
    scale = K.trace() / n
    return K / scale if scale > 0 else K


def _fit(K: Array, Y: Array, train: Rows, test: Rows, groups: Rows) -> tuple[Array, Array]:
    """Smallest mean squared error of left-out training groups for each neuroid, and predictions of the test rows."""
    inner, outer = centred_blocks(K, train, test)
    unit = max(inner.trace() / len(train), np.finfo(np.float64).tiny)
    centred = Y[train] - Y[train].mean(axis=0)
    values, vectors = centred_eigh(inner, np)
    Q, basis = product(vectors.T, centred), product(outer, vectors)
    blocks = _blocks(groups[train])
    best, predicted = np.full(Y.shape[1], np.inf), np.zeros((len(test), Y.shape[1]))
    for penalty in unit * PENALTIES:
        error = left_out_errors(vectors, values, Q, penalty, blocks)
        better = error < best
        best[better] = error[better]
        predicted[:, better] = product(basis / (values + penalty), Q[:, better])
    return best, predicted


def left_out_errors(vectors: Array, values: Array, Q: Array, penalty: float, blocks: list[Rows] | None) -> Array:
    """Mean squared error of each response at rows that are left out, one at a time or block by block.

    `vectors` and `values` are the decomposition of the centred products, `Q` the product of the transposed vectors with
    the centred responses. With M = (K + penalty · I)⁻¹ on the space orthogonal to the constant, the errors of rows R
    are M_RR⁻¹ (M Y)_R.
    """
    shrinkage = 1 / (values + penalty)
    residuals = product(vectors * shrinkage, Q)
    if blocks is None:
        residuals /= (vectors**2 @ shrinkage)[:, None]
    else:
        for rows in blocks:
            block = vectors[rows]
            residuals[rows] = np.linalg.solve((block * shrinkage) @ block.T, residuals[rows])
    return np.asarray(np.einsum("ij,ij->j", residuals, residuals) / len(vectors))


def _blocks(codes: Rows) -> list[Rows] | None:
    """Rows of each group; None if each row is a group of its own."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return None if len(starts) == len(codes) else np.split(order, starts[1:])
