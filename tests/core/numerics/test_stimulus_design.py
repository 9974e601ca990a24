"""Maps beside Gaussian processes of scikit-learn, and choices of stimuli beside all possible ones."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel

from brainscore_core.numerics.stimulus_design import choose_stimuli, fit_maps, probability_of_truth


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def maps_of(rng, pool=12, q=6, n=50, p=8):
    """Two models, the first of which is true, with responses to 50 training stimuli."""
    models = rng.standard_normal((2, n + pool, p))
    Y = (models[0] @ rng.standard_normal((p, q)))[:n] + rng.standard_normal((n, q))
    return [fit_maps(X @ X.T, Y) for X in models], models, Y


def test_a_map_with_one_penalty_is_a_gaussian_process(rng):
    (fitted, _), (X, _), Y = maps_of(rng)
    at = 4
    one = replace(fitted, probabilities=np.eye(len(fitted.penalties))[[at] * Y.shape[1]])
    X = X - X[:50].mean(axis=0)
    scale, residual = one.scale[at, 0], one.scale[at, 0] * one.penalties[at]
    kernel = ConstantKernel(scale) * DotProduct(0.0, "fixed") + WhiteKernel(residual)
    process = GaussianProcessRegressor(kernel, optimizer=None).fit(X[:50], Y[:, 0] - Y[:, 0].mean())
    mean, covariance = process.predict(X[50:], return_cov=True)
    np.testing.assert_allclose(one.predictions[:, 0], mean + Y[:, 0].mean(), rtol=1e-6)
    covariance -= residual * np.eye(len(covariance))
    np.testing.assert_allclose(one.uncertainty[:, 0], covariance.diagonal(), rtol=1e-6)
    zero = np.zeros(Y.shape[1])
    drawn = one.draws(np.arange(12), rng, training_noise=np.full(6, residual), noise=zero, number=4000)
    draws = np.array([responses[:, 0] for responses in drawn])
    np.testing.assert_allclose(draws.mean(axis=0), one.predictions[:, 0], atol=0.1)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.1 * covariance.max())


def test_neuroids_without_signal_are_hardly_predicted(rng):
    X = rng.standard_normal((160, 30))
    Y = rng.standard_normal((100, 40))
    Y[:, :20] += X[:100] @ rng.standard_normal((30, 20))
    spread = fit_maps(X @ X.T, Y).predictions.var(axis=0)
    assert spread[20:].max() < 0.1 < 5 < spread[:20].min()


def test_without_diversity_the_stimuli_differ_most_of_all_sets(rng):
    maps, _, _ = maps_of(rng)
    noise = np.ones(6)
    difference = maps[0].predictions - maps[1].predictions
    variance = noise + maps[0].uncertainty + maps[1].uncertainty
    gain = np.sum((difference - difference.mean(axis=0)) ** 2 / variance, axis=1)
    best = max(itertools.combinations(range(12), 4), key=lambda rows: gain[list(rows)].sum())
    assert set(choose_stimuli(maps, 4, noise=noise, diversity=0).tolist()) == set(best)


def test_copies_of_a_stimulus_are_not_chosen_together(rng):
    maps, models, Y = maps_of(rng)
    doubled = [np.concatenate([X, X[50:]]) for X in models]
    maps = [fit_maps(X @ X.T, Y) for X in doubled]
    rows = choose_stimuli(maps, 6, noise=np.ones(6), diversity=1)
    assert len(set((rows % 12).tolist())) == 6


@pytest.mark.parametrize("k", [1, 13])
def test_a_number_of_stimuli_that_is_impossible_is_refused(rng, k):
    maps, _, _ = maps_of(rng)
    with pytest.raises(ValueError, match=f"{k} stimuli cannot be chosen from a pool of 12"):
        choose_stimuli(maps, k, noise=np.ones(6))


def test_the_truth_is_found_more_often_with_less_noise_and_by_chance_if_no_model_is_true(rng):
    maps, _, _ = maps_of(rng, pool=40)
    rows = np.arange(20)
    shares, by_chance = zip(
        *(
            probability_of_truth(maps, rows, noise=np.full(6, noise), training_noise=np.ones(6), draws=200)
            for noise in (0.1, 1e6)
        ),
        strict=True,
    )
    assert shares[0][0] > 0.95 > 0.65 > shares[1][0] > 0.4
    assert 0.35 < by_chance[1] < 0.65
