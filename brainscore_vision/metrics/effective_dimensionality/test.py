import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric


def _assembly(values, order=None):
    order = np.arange(len(values)) if order is None else order
    return NeuroidAssembly(
        np.asarray(values)[order],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in order]),
            "neuroid_id": ("neuroid", np.arange(np.shape(values)[1])),
            "region": ("neuroid", ["IT"] * np.shape(values)[1]),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((60, 90)) + 2, rng.standard_normal((60, 8)) * np.arange(1, 9)


def _ratio(values):
    eigenvalues = np.linalg.eigvalsh(np.atleast_2d(np.cov(values.T)))
    return eigenvalues.sum() ** 2 / (eigenvalues**2).sum()


def test_equals_the_definition_in_any_order(data):
    X, Y = data
    expected = _ratio(Y) / _ratio(X)
    for order in (None, np.random.default_rng(0).permutation(60)):
        for pair in ((_assembly(X, order), _assembly(Y)), (_assembly(Y, order), _assembly(X))):
            score = load_metric("effective_dimensionality")(*pair)
            assert float(score) == pytest.approx(expected, abs=1e-12)
            low, high = score.attrs["ci"]
            assert 0 < low < high < expected  # sixty stimuli show fewer of the ninety directions than there are
            assert score.attrs["scale"] == "similarity"
    np.testing.assert_allclose(score.attrs["raw"].sel(side="target").values, _ratio(X))


def test_error_agrees_with_the_jackknife(data):
    X, Y = data
    score = load_metric("effective_dimensionality")(_assembly(X), _assembly(Y))
    left_out = np.array([_ratio(np.delete(Y, i, 0)) / _ratio(np.delete(X, i, 0)) for i in range(60)])
    jackknife = np.sqrt(59 / 60 * np.sum((left_out - left_out.mean()) ** 2))
    assert score.attrs["error"] == pytest.approx(jackknife, rel=0.15)


def test_interval_that_contains_equality_ends_at_1(data):
    Y = data[1]
    assert load_metric("effective_dimensionality")(_assembly(Y[::-1]), _assembly(Y)).attrs["ci"][1] == 1


def test_constant_side_gives_nan_with_a_reason(data):
    score = load_metric("effective_dimensionality")(_assembly(np.ones((60, 5))), _assembly(data[1]))
    assert np.isnan(float(score))
    assert score.attrs["error_reason"] == score.attrs["ci_reason"] == "the source does not vary over stimuli"
    assert np.isfinite(score.attrs["raw"].sel(side="target").values)


def test_one_neuroid(data):
    one = _assembly(data[0][:, :1])
    assert float(load_metric("effective_dimensionality")(one, one)) == pytest.approx(1)


def test_what_cannot_be_compared_is_refused(data):
    X, Y = data
    with pytest.raises(MetricInputError, match="1 only in the target"):
        load_metric("effective_dimensionality")(_assembly(X[1:], np.arange(59)), _assembly(Y))
    with pytest.raises(MetricInputError, match="2 stimuli"):
        load_metric("effective_dimensionality")(_assembly(X[:2]), _assembly(Y[:2]))
    with pytest.raises(MetricInputError, match="more than once in the target"):
        load_metric("effective_dimensionality")(_assembly(X), _assembly(Y, [0, 0, 1]))
    X = X.copy()
    X[3, 2] = np.nan
    with pytest.raises(MetricInputError, match="source holds NaN"):
        load_metric("effective_dimensionality")(_assembly(X), _assembly(Y))
