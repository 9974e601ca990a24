import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metric_helpers.alignment import MetricInputError


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
    X = rng.standard_normal((40, 60)) + 2
    return X, X[:, :20] + rng.standard_normal((40, 20))


def _biased(x, y):
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


def _unbiased(x, y):
    """U-centred inner products (Székely & Rizzo 2014), which equal Song's estimator."""

    def centred(v):
        n = len(v)
        K = v @ v.T
        np.fill_diagonal(K, 0)
        K = K - K.sum(0) / (n - 2) - K.sum(1)[:, None] / (n - 2) + K.sum() / ((n - 1) * (n - 2))
        np.fill_diagonal(K, 0)
        return K

    K, L = centred(x), centred(y)
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


@pytest.mark.parametrize(("name", "reference"), [("cka", _unbiased), ("cka_biased", _biased)])
def test_equals_the_definition_in_any_order(data, name, reference):
    X, Y = data
    for order in (None, np.random.default_rng(0).permutation(40)):
        score = load_metric(name)(_assembly(X, order), _assembly(Y))
        assert float(score) == pytest.approx(reference(X, Y), abs=1e-12)
        assert score.attrs["scale"] == "similarity"
        assert score.attrs["ci"][0] < float(score) < score.attrs["ci"][1]
        assert score.attrs["influence"].values.std(ddof=1) / np.sqrt(40) == pytest.approx(score.attrs["error"])
    first = score.attrs["influence"].sortby("stimulus_id").values
    straight = load_metric(name)(_assembly(X), _assembly(Y)).attrs["influence"].values
    np.testing.assert_allclose(first, straight, atol=1e-10)


def test_constant_side_gives_nan_with_a_reason(data):
    for pair, side in (((np.ones((40, 5)), data[1]), "source"), ((data[0], np.ones((40, 5))), "target")):
        score = load_metric("cka")(*map(_assembly, pair))
        assert np.isnan(float(score))
        assert f"the {side} does not vary" in score.attrs["error_reason"]


def test_few_stimuli(data):
    X, Y = data
    with pytest.raises(MetricInputError, match="3 stimuli"):
        load_metric("cka")(_assembly(X[:3]), _assembly(Y[:3]))
    score = load_metric("cka_biased")(_assembly(X[:3]), _assembly(Y[:3]))
    assert float(score) == pytest.approx(_biased(X[:3], Y[:3]))
    score = load_metric("cka")(_assembly(X[:4]), _assembly(Y[:4]))
    assert "too few stimuli" in score.attrs["ci_reason"] or np.isnan(float(score))


def test_what_cannot_be_compared_is_refused(data):
    X, Y = data
    with pytest.raises(MetricInputError, match="1 only in the target"):
        load_metric("cka")(_assembly(X[1:], np.arange(39)), _assembly(Y))
    Y = Y.copy()
    Y[3, 2] = np.inf
    with pytest.raises(MetricInputError, match="target holds NaN or infinity"):
        load_metric("cka")(_assembly(X), _assembly(Y))
