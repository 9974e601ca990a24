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
        assert score.attrs["ci"][0] < float(score) - score.attrs["bias"] < score.attrs["ci"][1]
        stimuli, neuroids = score.attrs["influence"].values, score.attrs["further_influence"].values
        variance = stimuli.var(ddof=1) / 40 + neuroids.var(ddof=1) / 20
        assert np.sqrt(variance) == pytest.approx(score.attrs["error"])
    first = score.attrs["influence"].sortby("stimulus_id").values
    straight = load_metric(name)(_assembly(X), _assembly(Y)).attrs["influence"].values
    np.testing.assert_allclose(first, straight, atol=1e-10)


def test_interval_of_the_biased_estimate_is_that_of_the_unbiased_one(data):
    X, Y = map(_assembly, data)
    biased, unbiased = (load_metric(name)(X, Y) for name in ("cka_biased", "cka"))
    assert biased.attrs["bias"] == pytest.approx(float(biased) - float(unbiased), abs=1e-12)
    assert biased.attrs["ci"] == pytest.approx(unbiased.attrs["ci"], abs=1e-12)
    assert unbiased.attrs["bias"] == 0


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


def _cross_validated_pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    return X, X[:, :20] + rng.standard_normal((60, 20))


def test_cross_validated_equals_the_existing_platform():
    """Values of brainscore-vision 2.4.2 on the same assemblies, one a split."""
    X, Y = _cross_validated_pair()
    expected = [
        0.4289083840734031, 0.4162407388387481, 0.42879588363795496, 0.40621607289878947, 0.40847858886655647,
        0.4322370144105843, 0.4130549312411507, 0.40045835594956464, 0.4187590859361759, 0.38388663186593264,
    ]  # fmt: skip
    for order in (None, np.random.default_rng(1).permutation(60)):
        score = load_metric("cka_cv")(_assembly(X, order), _assembly(Y))
        np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-9)
        assert float(score) == pytest.approx(0.4137035687718861, abs=1e-9)
        assert score.attrs["split_error"] == pytest.approx(0.00445277, abs=1e-8)
    whole = load_metric("cka")(_assembly(X), _assembly(Y))
    # every stimulus is tested in nine of ten splits or so: the intervals over stimuli are alike
    assert np.ptp(score.attrs["ci"]) == pytest.approx(np.ptp(whole.attrs["ci"]), rel=0.15)
    assert np.corrcoef(score.attrs["influence"], whole.attrs["influence"])[0, 1] > 0.95
    assert score.attrs["scale"] == "similarity"


def test_cross_validation_can_be_changed_and_needs_enough_stimuli():
    X, Y = map(_assembly, _cross_validated_pair())
    kfold = load_metric("cka_cv", crossvalidation_kwargs={"kfold": True, "splits": 5, "stratification_coord": None})
    score = kfold(X, Y)
    assert score.attrs["raw"].sizes == {"split": 5}
    few = load_metric("cka_cv", crossvalidation_kwargs={"test_size": 3, "stratification_coord": None})
    with pytest.raises(MetricInputError, match="a split tests 3 stimuli"):
        few(X, Y)
    constant = load_metric("cka_cv")(_assembly(np.ones((60, 2))), Y)
    assert np.isnan(float(constant))
    assert constant.attrs["undefined"] == 10
    assert "undefined in every split: the source does not vary" in constant.attrs["error_reason"]


def test_rbf(data):
    from scipy.spatial.distance import pdist, squareform

    X, Y = data
    kernels = [
        np.exp(-(squareform(pdist(values)) ** 2) / (2 * (0.4 * np.median(pdist(values))) ** 2)) for values in (X, Y)
    ]
    H = np.eye(40) - 1 / 40
    K, L = (H @ kernel @ H for kernel in kernels)
    expected = (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())
    score = load_metric("cka_rbf", unbiased=False, bandwidth=0.4)(_assembly(X, np.arange(40)[::-1]), _assembly(Y))
    assert float(score) == pytest.approx(expected, abs=1e-12)
    assert score.attrs["ci"][0] < expected - score.attrs["bias"] < score.attrs["ci"][1]
    assert float(load_metric("cka_rbf")(_assembly(X), _assembly(X))) == pytest.approx(1)
    with pytest.raises(ValueError, match="bandwidth is -1"):
        load_metric("cka_rbf", bandwidth=-1)


@pytest.mark.parametrize("name", ["cka", "cka_biased", "cka_rbf"])
def test_one_neuroid(data, name):
    score = load_metric(name)(_assembly(data[0][:, :1]), _assembly(data[1][:, :1]))
    assert np.isfinite(float(score))


@pytest.mark.parametrize("name", ["cka", "cka_biased"])
@pytest.mark.parametrize("wide", [False, True])
def test_stimuli_and_neuroids_are_left_out_exactly(name, wide):
    rng = np.random.default_rng(0)
    n, m = (16, 40) if wide else (40, 18)
    X = rng.standard_normal((n, 30)) + 2
    Y = X[:, :6] @ rng.standard_normal((6, m)) + rng.standard_normal((n, m)) + 5
    without = np.array([_unbiased(X, np.delete(Y, i, axis=1)) for i in range(m)])
    influence = load_metric(name)(_assembly(X), _assembly(Y)).attrs["further_influence"].values
    np.testing.assert_allclose(influence, (m - 1) * (without.mean() - without), atol=1e-9)
    objects, subjects = np.arange(n) % 5, np.arange(m) % 6
    target = _assembly(Y).assign_coords(object_name=("presentation", objects), subject=("neuroid", subjects))
    score = load_metric(name)(_assembly(X, np.random.default_rng(1).permutation(n)), target)
    without = np.array([_unbiased(X[objects != i], Y[objects != i]) for i in range(5)])
    np.testing.assert_allclose(score.attrs["influence"].values, 4 * (without.mean() - without), atol=1e-9)
    without = np.array([_unbiased(X, Y[:, subjects != i]) for i in range(6)])
    np.testing.assert_allclose(score.attrs["further_influence"].values, 5 * (without.mean() - without), atol=1e-9)


def test_rbf_leaves_out_blocks_of_neuroids(data):
    score = load_metric("cka_rbf")(_assembly(data[0]), _assembly(np.hstack([data[1]] * 2)))
    assert score.attrs["further_influence"].sizes == {"block of neuroids": 20}
    assert "40 neuroids in 20 blocks" in score.attrs["ci_estimates"]


def test_one_or_two_neuroids_are_fixed(data):
    score = load_metric("cka")(_assembly(data[0]), _assembly(data[1][:, :2]))
    assert "further_influence" not in score.attrs
    assert "for these 2 neuroids; 40 stimuli" in score.attrs["ci_estimates"]
