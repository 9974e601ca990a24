import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from brainscore_core.numerics import noise, spearman_brown, split_half_reliability


def _presentations(n=30, r=6, q=4, *, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, q))
    stimuli, repetitions = np.tile(np.arange(n), r), np.repeat(np.arange(r), n)
    return signal[stimuli] + noise * rng.standard_normal((n * r, q)), stimuli, repetitions


def _halves(r, splits=10):
    return list(ShuffleSplit(splits, train_size=0.5, random_state=1).split(np.zeros(r)))


def _reference(values, stimuli, repetitions, halves):
    """One stimulus and neuroid after the other."""
    result = np.empty((len(halves), values.shape[1]))
    for s, half in enumerate(halves):
        for q in range(values.shape[1]):
            means = []
            for stimulus in np.unique(stimuli):
                pair = []
                for labels in half:
                    chosen = values[(stimuli == stimulus) & np.isin(repetitions, labels), q]
                    chosen = chosen[~np.isnan(chosen)]
                    pair.append(chosen.mean() if len(chosen) else np.nan)
                means.append(pair)
            first, second = np.array(means)[~np.isnan(means).any(axis=1)].T
            r = np.corrcoef(first, second)[0, 1]
            result[s, q] = 2 * r / (1 + r)
    return result


@pytest.mark.parametrize("r", [2, 5, 6])
@pytest.mark.parametrize("kind", ["balanced", "unbalanced", "missing values", "shuffled"])
@pytest.mark.parametrize("chunk", [2**12, 2**26])
def test_equals_a_plain_loop(kind, r, chunk, monkeypatch):
    monkeypatch.setattr(noise, "CHUNK_BYTES", chunk)
    values, stimuli, repetitions = _presentations(r=r)
    rng = np.random.default_rng(2)
    if kind == "unbalanced":
        keep = (repetitions < 2) | (rng.random(len(stimuli)) < 0.6)
        values, stimuli, repetitions = values[keep], stimuli[keep], repetitions[keep]
    elif kind == "missing values":
        values[rng.random(values.shape) < 0.1] = np.nan
    elif kind == "shuffled":
        order = rng.permutation(len(stimuli))
        order = np.append(order, order[:7])  # and a few presentations of the same repetition
        values, stimuli, repetitions = values[order], stimuli[order], repetitions[order]
    halves = _halves(r)
    found = split_half_reliability(values, stimuli, repetitions, halves)
    np.testing.assert_allclose(found, _reference(values, stimuli, repetitions, halves), atol=1e-12)


@pytest.mark.parametrize(("r", "noise"), [(2, 1.0), (10, 1.0), (20, 3.0)])
def test_estimates_the_reliability_of_the_mean_over_all_repetitions(r, noise):
    values, stimuli, repetitions = _presentations(n=4000, r=r, q=20, noise=noise)
    found = split_half_reliability(values, stimuli, repetitions, _halves(r, 5)).mean()
    assert found == pytest.approx(1 / (1 + noise**2 / r), abs=0.01)
    means = np.stack([values[repetitions == i] for i in range(r)]).mean(axis=0)
    signal = np.random.default_rng(0).standard_normal((4000, 20))  # what the presentations were made from
    explained = np.mean([np.corrcoef(m, s)[0, 1] ** 2 for m, s in zip(means.T, signal.T, strict=True)])
    assert found == pytest.approx(explained, abs=0.01)  # the best model's squared correlation


def test_constant_neuroid_is_nan():
    values, stimuli, repetitions = _presentations()
    values[:, 1] = 3
    found = split_half_reliability(values, stimuli, repetitions, _halves(6))
    assert np.isnan(found[:, 1]).all()
    assert np.isfinite(found[:, [0, 2, 3]]).all()


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="4 presentations but 3 stimuli"):
        split_half_reliability(np.zeros((4, 1)), [0, 1, 2], [0, 0, 0], [])


def test_spearman_brown():
    assert spearman_brown(0.5) == pytest.approx(2 / 3)
    assert spearman_brown(0.5, factor=3) == pytest.approx(0.75)
    assert spearman_brown([-0.5, 0, 1]).tolist() == [-2, 0, 1]
    assert np.isnan(spearman_brown(-1))


def test_complete_repetitions_equal_one_half_after_the_other():
    """Also where a neuroid is constant, faint beside its mean, or cancels between repetitions."""
    rng = np.random.default_rng(0)
    n, r, q = 40, 6, 8
    cube = rng.standard_normal((n, q)) + 2 * rng.standard_normal((r, n, q))
    cube[:, :, 1], cube[:, :, 2], cube[2, :, 3] = 5.0, 1e7 + 1e-2 * cube[:, :, 2], 1.0
    cube[0::2, :, 4], cube[1::2, :, 4] = cube[0, :, 4], -cube[0, :, 4]
    cube[..., 5] *= 1e200
    cube[3, 5, 6] = np.nan
    halves = [(order[:3], order[3:]) for order in (rng.permutation(r) for _ in range(5))]
    halves.append((np.array([0, 1]), np.array([2, 3])))
    shuffled = rng.permutation(n * r)
    stimuli, repetitions = np.tile(np.arange(n), r)[shuffled], np.repeat(np.arange(r), n)[shuffled]
    found = split_half_reliability(cube.reshape(n * r, q)[shuffled], stimuli, repetitions, halves)
    for values, (one, other) in zip(found, halves, strict=True):
        for i in (0, 2, 3, 5, 7):
            scaled = cube[..., i] / np.abs(cube[..., i]).max()
            x, y = scaled[one].mean(axis=0), scaled[other].mean(axis=0)
            correlation = np.corrcoef(x, y)[0, 1]
            assert values[i] == pytest.approx(2 * correlation / (1 + correlation), rel=1e-6 if i == 2 else 1e-10)
    assert np.isnan(found[:, 1]).all()
    assert np.isnan(found[5, 4])
    assert np.isfinite(found[:, 6]).all()
