import numpy as np
import pytest

from brainscore_core.numerics import noise_ceiling_fraction, response_moments, signal_to_noise


def _presentations(n=80, r=3, q=6, *, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    stimuli = rng.permutation(np.tile(np.arange(n), r))
    return rng.standard_normal((n, q))[stimuli] + noise * rng.standard_normal((n * r, q)), stimuli


def test_variance_components_equal_those_of_numpy():
    values, stimuli = _presentations()
    result = signal_to_noise(values, stimuli)
    noise = np.mean([values[stimuli == s].var(axis=0, ddof=1) for s in range(80)], axis=0)
    np.testing.assert_allclose(result.noise, noise, atol=1e-12)
    np.testing.assert_allclose(result.unrectified, values.var(axis=0, ddof=1) - noise, atol=1e-12)
    np.testing.assert_allclose(result.ncsnr, np.sqrt(result.signal / noise), atol=1e-12)
    np.testing.assert_allclose(result.inverse_repetitions, 1 / 3)


def test_stimuli_presented_once_give_no_noise_but_variance():
    values, stimuli = _presentations()
    single = np.concatenate([values, values[:5] + 9]), np.concatenate([stimuli, 80 + np.arange(5)])
    result = signal_to_noise(*single)
    np.testing.assert_allclose(result.noise, signal_to_noise(values, stimuli).noise, atol=1e-12)
    np.testing.assert_allclose(result.inverse_repetitions, (80 / 3 + 5) / 85)
    assert (result.signal > signal_to_noise(values, stimuli).signal).all()


def test_names_of_stimuli_and_units_do_not_matter():
    values, stimuli = _presentations()
    plain, renamed = signal_to_noise(values, stimuli), signal_to_noise(1e-6 * values, [f"s{i}" for i in stimuli])
    np.testing.assert_allclose(plain.ncsnr, renamed.ncsnr, rtol=1e-10)


def test_edges():
    constant = signal_to_noise(np.ones((4, 1)), [0, 0, 1, 1])
    assert np.isnan(constant.ncsnr).all()
    noiseless = signal_to_noise([[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1])
    assert np.isinf(noiseless.ncsnr).all()
    assert noise_ceiling_fraction(noiseless.ncsnr, 0.5).tolist() == [1.0]
    alone = signal_to_noise([[1.0], [2.0]], [0, 1])
    assert np.isnan(alone.ncsnr).all()
    assert signal_to_noise(np.ones((4, 0)), [0, 0, 1, 1]).ncsnr.shape == (0,)
    with pytest.raises(ValueError, match="each presentation must have one"):
        signal_to_noise(np.ones((4, 1)), [0, 0, 1])


def test_moments_equal_covariances_of_numpy():
    values, stimuli = _presentations()
    found = response_moments(values, stimuli)
    means = np.array([values[stimuli == s].mean(axis=0) for s in range(80)])
    within = np.mean([np.cov(values[stimuli == s], rowvar=False) for s in range(80)], axis=0)
    np.testing.assert_allclose(found.total, np.cov(means, rowvar=False), atol=1e-12)
    np.testing.assert_allclose(found.noise, within, atol=1e-12)
    np.testing.assert_allclose(found.mean, means.mean(axis=0), atol=1e-12)
    assert found.counts.tolist() == [3] * 80
    expected = 1 - np.diag(within) / 3 / means.var(axis=0, ddof=1)
    np.testing.assert_allclose(found.reliability, expected, atol=1e-12)


@pytest.mark.parametrize("rank", [3, 30])
def test_signal_keeps_its_trace_and_its_dimensionality(rank):
    rng = np.random.default_rng(rank)
    weights = rng.standard_normal((rank, 30)) / np.sqrt(rank)
    true = weights.T @ weights
    found = []
    for _ in range(40):
        signal = rng.standard_normal((60, rank)) @ weights
        values = np.repeat(signal, 4, axis=0) + 1.5 * rng.standard_normal((240, 30))
        moments = response_moments(values, np.repeat(np.arange(60), 4))
        covariance = moments.signal()
        assert np.trace(covariance) == pytest.approx(np.trace(moments.total - moments.noise_of_means))
        assert np.linalg.eigvalsh(covariance).min() > -1e-9
        found.append((np.trace(covariance), np.vdot(covariance, covariance)))
    np.testing.assert_allclose(np.mean(found, axis=0), (np.trace(true), np.vdot(true, true)), rtol=0.1)


@pytest.mark.parametrize("repetitions", [[2, 3, 9], [1, 1, 2]])  # more, and fewer, presentations than neuroids
def test_simulated_experiments_have_the_same_moments(repetitions):
    rng = np.random.default_rng(0)
    stimuli = np.repeat(np.arange(30), np.resize(repetitions, 30))
    values = rng.standard_normal((30, 20))[stimuli] + rng.standard_normal((len(stimuli), 20))
    moments = response_moments(values, stimuli)
    drawn = [moments.simulate(rng) for _ in range(400)]
    for name in ("total", "noise"):
        average = np.mean([getattr(again, name) for *_, again in drawn], axis=0)
        truth = moments.signal() + moments.noise_of_means if name == "total" else moments.noise
        assert np.linalg.norm(average - truth) < 0.1 * np.linalg.norm(truth)
    noise = np.array([measured - expected for expected, measured, _ in drawn])
    np.testing.assert_allclose(
        noise.var(axis=0).mean(axis=1), np.diag(moments.noise).mean() / moments.counts, rtol=0.15
    )
    _, measured, again = drawn[0]
    np.testing.assert_allclose(again.total, np.cov(measured, rowvar=False), atol=1e-12)


def test_moments_need_repetitions_without_gaps():
    values, stimuli = _presentations()
    with pytest.raises(ValueError, match="repetitions of at least 3 are needed"):
        response_moments(values[:50], np.arange(50))
    values[0, 0] = np.nan
    with pytest.raises(ValueError, match="1 values are missing"):
        response_moments(values, stimuli)
    with pytest.raises(ValueError, match="240 presentations but 3 stimuli"):
        response_moments(values, [0, 1, 2])


def test_noise_alone_has_no_signal():
    rng = np.random.default_rng(0)
    pairs = np.concatenate([rng.standard_normal((10, 4))] * 2)
    pairs[10:] *= -1  # means of opposite values do not vary
    assert not response_moments(pairs, np.tile(np.arange(10), 2)).signal().any()
