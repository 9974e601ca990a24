import numpy as np
import pytest
from scipy.spatial import procrustes

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric


def _assembly(values, order=None):
    order = np.arange(len(values)) if order is None else order
    return NeuroidAssembly(
        np.asarray(values)[order],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in order]),
            "object_name": ("presentation", [f"o{i % 3}" for i in order]),
            "neuroid_id": ("neuroid", np.arange(np.shape(values)[1])),
            "region": ("neuroid", ["IT"] * np.shape(values)[1]),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) + 2
    return X, X[:, :8] + rng.standard_normal((60, 8))


def test_equals_scipy_in_any_order(data):
    X, Y = data
    expected = np.sqrt(1 - procrustes(X, np.pad(Y, ((0, 0), (0, 4))))[2])
    for order in (None, np.random.default_rng(0).permutation(60)):
        score = load_metric("procrustes")(_assembly(X, order), _assembly(Y))
        assert float(score) == pytest.approx(expected, abs=1e-12)
        assert score.attrs["angle"] == pytest.approx(np.arccos(expected), abs=1e-10)
        assert score.attrs["scale"] == "similarity"
        assert score.attrs["ci"][0] < expected < score.attrs["ci"][1]
        influence = score.attrs["influence"]
        assert influence["stimulus_id"].values.tolist() == [f"s{i:03}" for i in range(60)]
    straight = load_metric("procrustes")(_assembly(X), _assembly(Y)).attrs["influence"].values
    np.testing.assert_allclose(influence.values, straight, atol=1e-9)


def test_error_agrees_with_the_jackknife(data):
    X, Y = data
    score = load_metric("procrustes")(_assembly(X), _assembly(Y))
    kept = [np.delete(np.arange(60), i) for i in range(60)]
    left_out = [float(load_metric("procrustes")(_assembly(X[rows]), _assembly(Y[rows]))) for rows in kept]
    jackknife = np.sqrt(59 / 60 * np.sum((left_out - np.mean(left_out)) ** 2))
    assert score.attrs["error"] == pytest.approx(jackknife, rel=0.15)


def test_constant_side_gives_nan_with_a_reason(data):
    for pair, side in (((np.ones((60, 5)), data[1]), "source"), ((data[0], np.ones((60, 5))), "target")):
        score = load_metric("procrustes")(*map(_assembly, pair))
        assert np.isnan([float(score), score.attrs["angle"]]).all()
        assert f"the {side} does not vary" in score.attrs["error_reason"]


def test_one_neuroid_is_the_absolute_correlation(data):
    X, Y = (values[:, :1] for values in data)
    expected = abs(np.corrcoef(X[:, 0], Y[:, 0])[0, 1])
    assert float(load_metric("procrustes")(_assembly(X), _assembly(-Y))) == pytest.approx(expected)


def test_what_cannot_be_compared_is_refused(data):
    X, Y = data
    with pytest.raises(MetricInputError, match="1 only in the target"):
        load_metric("procrustes")(_assembly(X[1:], np.arange(59)), _assembly(Y))
    with pytest.raises(MetricInputError, match="2 stimuli"):
        load_metric("procrustes")(_assembly(X[:2]), _assembly(Y[:2]))
    with pytest.raises(MetricInputError, match="more than once in the source"):
        load_metric("procrustes")(_assembly(X, [0, 0, 1]), _assembly(Y))
    Y = Y.copy()
    Y[3, 2] = np.nan
    with pytest.raises(MetricInputError, match="target holds NaN"):
        load_metric("procrustes")(_assembly(X), _assembly(Y))
