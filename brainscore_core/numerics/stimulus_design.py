"""Stimuli whose responses tell models apart, and how likely they do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, centred_eigh, product
from brainscore_core.numerics.correlation import pearson

Rows = NDArray[np.intp]

_PENALTIES = 10.0 ** np.arange(-3, 5, 0.25)
"""Penalties, as multiples of the mean squared distance of the features of the training stimuli from their mean."""

_SPREADS = (0.01, 0.25, 0.5, 1.0, 2.0)
"""Possible standard deviations of the penalties' decimal logarithms over neuroids; with the first, all are alike."""


@dataclass(frozen=True, eq=False)
class FittedMaps:
    """What maps from a model's features to neuroids predict for a pool of stimuli, and how certain that is.

    - `products` (pool × pool): of the pool's features, centred by the mean of the training stimuli.
    - `basis` (pool × m): products of the pool's and the training stimuli's features, times the eigenvectors of the
      latter's.
    - `values`: eigenvalues of the products of the training stimuli's features.
    - `Q` (m × neuroids): product of the transposed eigenvectors with the training responses.
    - `mean`: mean training response.
    - `penalties`: possible ratios of the residual variance and the variance of the weights.
    - `probabilities` (neuroids × a): of the penalties, given the training responses.
    """

    products: Array
    basis: Array
    values: Array
    Q: Array
    mean: Array
    penalties: Array
    probabilities: Array

    @cached_property
    def predictions(self) -> Array:
        """Expected responses to the pool (pool × neuroids)."""
        shrinkage = (1 / (self.values[:, None] + self.penalties)) @ self.probabilities.T
        return np.asarray(self.mean + product(self.basis, shrinkage * self.Q))

    @cached_property
    def scale(self) -> Array:
        """Variance of the weights with each penalty (a × neuroids)."""
        shrinkage = 1 / (self.values[:, None] + self.penalties)
        return np.asarray(shrinkage.T @ self.Q**2 / max(len(self.values), 1))

    @cached_property
    def uncertainty(self) -> Array:
        """Variance of each prediction's error (pool × neuroids)."""
        known = self.basis**2 @ (1 / (self.values[:, None] + self.penalties))
        remaining = np.maximum(self.products.diagonal()[:, None] - known, 0)
        return np.asarray(remaining @ (self.probabilities.T * self.scale))

    def draws(
        self, rows: Rows, rng: np.random.Generator, *, training_noise: Array, noise: Array, number: int
    ) -> Iterator[Array]:
        """Yield responses to stimuli of the pool (rows × neuroids), as they are expected if the model is true.

        `training_noise`: variance of the training responses due to noise; `noise`: that of the new ones; `number`: how
        many are drawn.
        """
        cumulated = self.probabilities.cumsum(axis=1)
        distributions: dict[int, tuple[Array, Array]] = {}
        for _ in range(number):
            chosen = np.minimum((rng.random((len(cumulated), 1)) > cumulated).sum(axis=1), len(self.penalties) - 1)
            result = rng.standard_normal((len(rows), len(chosen)))
            for index in np.unique(chosen).tolist():
                columns, penalty = np.flatnonzero(chosen == index), self.penalties[index]
                if index not in distributions:
                    known = self.basis[rows] * (1 / (self.values + penalty))
                    root = _root(self.products[np.ix_(rows, rows)] - product(known, self.basis[rows].T))
                    distributions[index] = product(known, self.Q), root
                expected, root = distributions[index]
                scale = self.scale[index, columns]
                unexplained = np.maximum(penalty * scale - training_noise[columns], 0)
                result[:, columns] *= np.sqrt(unexplained + noise[columns])
                errors = product(root, rng.standard_normal((len(rows), len(columns))))
                result[:, columns] += self.mean[columns] + expected[:, columns] + np.sqrt(scale) * errors
            yield result


def fit_maps(kernel: ArrayLike, Y: ArrayLike) -> FittedMaps:
    """Fit ridge regressions to the first stimuli, and predict all others.

    `kernel` ((training + pool) × (training + pool)): products XXᵀ of the features of training stimuli, followed by
    those of the pool. `Y` (training × neuroids): mean responses.

    A ridge regression is the posterior mean of weights that are drawn from a normal distribution; the penalty is the
    ratio of the residual variance and the variance of the weights [1]_. Each penalty of a grid has a probability for
    each neuroid, from its likelihood and that of other neuroids, so that predictions of neuroids that are hardly
    predictable are not too large: penalties are log-normal over neuroids, whatever their mean and spread are. Before
    the experiment, each share of variance that the model explains of a typical neuroid is equally likely. (If each
    penalty were, small signals would be; and a free distribution over penalties would be wider than the true one, which
    lowers the power that is predicted, because correlations grow with the root of the signal.)

    References
    ----------
    .. [1] Rasmussen & Williams (2006). Gaussian Processes for Machine Learning. MIT Press, chapters 2 and 5.
    """
    K, Y = np.array(kernel, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    n = len(Y)
    means = K[:n].mean(axis=0)
    K -= means
    K -= (means - means[:n].mean())[:, None]
    inner, outer = K[:n, :n].copy(), K[n:, :n]
    penalties = max(inner.trace() / n, np.finfo(np.float64).tiny) * _PENALTIES
    y_mean = Y.mean(axis=0)
    values, vectors = centred_eigh(inner, np)
    Q = product(vectors.T, Y - y_mean)
    shifted = values[:, None] + penalties
    squares = Q.T**2 @ (1 / shifted) / len(values)
    log_likelihood = -0.5 * (
        len(values) * np.log(np.maximum(squares, np.finfo(np.float64).tiny)) + np.log(shifted).sum(axis=0)
    )
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    logs = np.log10(_PENALTIES)
    spread = np.repeat(_SPREADS, len(logs))[:, None]
    distributions = np.exp(-0.5 * ((logs - np.tile(logs, len(_SPREADS))[:, None]) / spread) ** 2)
    distributions /= distributions.sum(axis=1, keepdims=True)
    of_neuroids = np.maximum(likelihood @ distributions.T, np.finfo(np.float64).tiny)
    density = np.tile(_PENALTIES / (1 + _PENALTIES) ** 2, len(_SPREADS))  # of log penalties, if shares are uniform
    weights = np.log(of_neuroids).sum(axis=0) + np.log(density)
    weights = np.exp(weights - weights.max())
    probabilities = likelihood * (weights / weights.sum() / of_neuroids @ distributions)
    return FittedMaps(K[n:, n:], product(outer, vectors), values, Q, y_mean, penalties, probabilities)


def choose_stimuli(
    maps: Sequence[FittedMaps], k: int, *, noise: ArrayLike, diversity: float = 0.5, exchanges: int = 200
) -> Rows:
    """Choose the k stimuli of the pool at which the predictions of the models differ most, over the noise.

    - `maps`: of two or more models, for the same pool and neuroids.
    - `k`: number of stimuli.
    - `noise`: variance of a mean response.
    - `diversity`: by how much a stimulus counts less whose differences are those of a chosen one: 0, not at all; 1, it
      does not count.
    - `exchanges`: how many exchanges of a chosen stimulus for another one are tried at most after the greedy choice.

    Returns: rows of the pool, in the order of their choice.

    The gain of a set is the sum over pairs of models and neuroids of the squared differences of their predictions,
    divided by the noise plus the variance of the predictions, less `diversity` times what each stimulus shares with
    the most similar other one.
    """
    pool = len(maps[0].predictions)
    if not 2 <= k <= pool:
        raise ValueError(f"{k} stimuli cannot be chosen from a pool of {pool}; at least 2 are needed")
    variance = np.asarray(noise, dtype=np.float64)
    differences = []
    for first in range(len(maps)):
        for second in range(first + 1, len(maps)):
            difference = maps[first].predictions - maps[second].predictions
            uncertain = maps[first].uncertainty + maps[second].uncertainty
            differences.append((difference - difference.mean(axis=0)) / np.sqrt(variance + uncertain))
    D = np.concatenate(differences, axis=1)
    gram = D @ D.T
    gain = gram.diagonal().copy()
    length = np.sqrt(np.maximum(gain, np.finfo(np.float64).tiny))
    similarity = np.clip(gram / length / length[:, None], 0, 1)
    np.fill_diagonal(similarity, 0)

    def value(rows: list[int]) -> float:
        return float(np.sum(gain[rows] * (1 - diversity * similarity[np.ix_(rows, rows)].max(axis=1))))

    chosen: list[int] = []
    nearest = np.zeros(pool)
    for _ in range(k):
        scores = gain * (1 - diversity * nearest)
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
        np.maximum(nearest, similarity[chosen[-1]], out=nearest)
    best = value(chosen)
    for _ in range(exchanges):
        redundancy = similarity[np.ix_(chosen, chosen)].max(axis=1)
        weakest = int(np.argmin(gain[chosen] * (1 - diversity * redundancy)))
        others = chosen[:weakest] + chosen[weakest + 1 :]
        scores = gain * (1 - diversity * similarity[:, others].max(axis=1))
        scores[chosen] = -np.inf
        exchanged = [*others[:weakest], int(scores.argmax()), *others[weakest:]]
        if value(exchanged) <= best:
            break
        chosen, best = exchanged, value(exchanged)
    return np.array(chosen)


def probability_of_truth(
    maps: Sequence[FittedMaps],
    rows: Rows,
    *,
    noise: ArrayLike,
    training_noise: ArrayLike,
    draws: int = 400,
    seed: int = 0,
) -> tuple[Array, float]:
    """How often the true model predicts new responses best, if each one of the models is true, or none.

    - `rows`: stimuli of the pool that are shown.
    - `noise`, `training_noise`: variance of a mean response in the new experiment, and in the one that the maps were
      fitted to.
    - `draws`: number of simulated experiments for each case.
    - `seed`: of the random numbers.

    Returns: share of the experiments in which the true model has the largest mean correlation of its predictions and
    the responses over neuroids. Returns: share of experiments in which the first model has the largest one if no model
    is true: the responses are drawn with the mean covariance of all models. 1 / number of models is expected if all are
    alike.

    The true responses are drawn from the distribution that a model and the training responses imply (a Gaussian
    process): its predictions, with the covariance of their errors, plus signal that it does not explain, plus noise.
    """
    rng = np.random.default_rng(seed)
    new_noise, old_noise = (np.asarray(values, dtype=np.float64) for values in (noise, training_noise))
    shown = [side.predictions[rows] for side in maps]
    wins = np.zeros(len(maps))
    spread = np.zeros(shown[0].shape[1])
    for number, side in enumerate(maps):
        for responses in side.draws(rows, rng, training_noise=old_noise, noise=new_noise, number=draws):
            spread += responses.var(axis=0) / (draws * len(maps))
            wins[number] += _best(shown, responses) == number
    none = sum(_best(shown, np.sqrt(spread) * rng.standard_normal(shown[0].shape)) == 0 for _ in range(draws))
    return wins / draws, none / draws


def _best(shown: Sequence[Array], responses: Array) -> int:
    return int(np.argmax([np.nanmean(pearson(predictions, responses)) for predictions in shown]))


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
