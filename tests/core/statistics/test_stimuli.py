"""Outcomes by stimulus, against correlations by NumPy."""

import numpy as np
import pytest

from brainscore_core.statistics.stimuli import outcomes_of, response_losses
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def assembly(values, stimuli, *, dims=("presentation", "neuroid"), **coords):
    values = np.asarray(values)
    named = {"stimulus_id": ("presentation", list(stimuli))}
    named |= {name: ("presentation", column) for name, column in coords.items()}
    for dim, size in list(zip(dims, values.shape, strict=True))[1:]:
        named[f"{dim}_id"] = (dim, [f"{dim}{number}" for number in range(size)])
    return DataAssembly(values, coords=named, dims=dims)


def test_losses_average_to_one_minus_the_mean_correlation():
    rng = np.random.default_rng(0)
    measured = rng.normal(3, 2, (40, 5))
    predicted = 10 * measured + rng.normal(0, 20, (40, 5)) - 7
    expected = [np.corrcoef(*columns)[0, 1] for columns in zip(predicted.T, measured.T, strict=True)]
    assert 1 - response_losses(predicted, measured).mean() == pytest.approx(np.mean(expected))
    predicted[:, 2] = 1.0  # constant: no correlation
    del expected[2]
    assert 1 - response_losses(predicted, measured).mean() == pytest.approx(np.mean(expected))


def test_each_split_is_standardised_and_stimuli_are_averaged():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 20, 3))
    names = [f"s{number}" for number in (*range(10), *range(9, -1, -1))]
    split = np.repeat([0, 1], 10)
    sides = [assembly(side + 100 * split[:, None], names, split=split) for side in (x, y)]
    outcomes = outcomes_of(*sides)
    halves = response_losses(x[:10], y[:10]), response_losses(x[10:], y[10:])[::-1]
    assert outcomes.stimuli == tuple(f"s{number}" for number in range(10))
    np.testing.assert_allclose(outcomes.values, np.mean(halves, axis=0))


def test_time_bins_are_further_neuroids_and_missing_values_count_nowhere():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 12, 2, 3))
    names = [f"s{number:02}" for number in range(12)]
    dims = ("presentation", "neuroid", "time_bin")
    flat = response_losses(x.reshape(12, -1), y.reshape(12, -1))
    np.testing.assert_allclose(outcomes_of(*(assembly(side, names, dims=dims) for side in (x, y))).values, flat)
    y[0] = np.nan
    values = outcomes_of(*(assembly(side, names, dims=dims) for side in (x, y))).values
    assert np.isnan(values[0])
    np.testing.assert_allclose(values[1:], response_losses(x[1:].reshape(11, -1), y[1:].reshape(11, -1)))


def test_choices_are_shares_of_right_ones():
    names = ["b", "a", "b", "b"]
    model, people = ([True, False, True, False], [True, True, False, False])
    outcomes = outcomes_of(*(assembly(side, names, dims=("presentation",)) for side in (model, people)))
    assert (outcomes.kind, outcomes.stimuli) == ("choice", ("a", "b"))
    np.testing.assert_allclose(outcomes.values, [0, 2 / 3])
    np.testing.assert_allclose(outcomes.reference, [1, 1 / 3])


@pytest.mark.parametrize("unsuitable", ["dimension", "unmatched neuroids", "followed cues"])
def test_predictions_without_outcomes_by_stimulus(unsuitable):
    rng = np.random.default_rng(3)
    x, y = (assembly(rng.normal(size=(6, 2)), "abcdef") for _ in range(2))
    if unsuitable == "dimension":
        x, y = (side.rename({"neuroid": "choice"}) for side in (x, y))
    elif unsuitable == "unmatched neuroids":
        x.attrs["units"] = "model neuroids"
    else:
        y = y.copy(data=(y.values > 0).astype(float))
    assert outcomes_of(x, y) is None
