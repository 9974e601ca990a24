import numpy as np
import pytest

from brainscore_core.numerics import noise_ceiling_fraction, signal_to_noise


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
