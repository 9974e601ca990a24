"""Chosen penalties, groups, degenerate input, and predictivity in the other direction and over time."""

import warnings

import numpy as np
import pytest
import scipy.stats
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics import predictivity
from brainscore_core.numerics.predictions import predictivity_interval
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metrics.regression_correlation.metric import (
    ALPHA_LIST,
    DualRidgeCVRegression,
    dual_ridge_cv_regression,
)

BINS = [(70, 90), (90, 110), (110, 130)]


def _data(n=100, p=150, q=6, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 30)) / np.sqrt(np.arange(1, 31))
    X = latent @ rng.standard_normal((30, p)) + 0.2 * rng.standard_normal((n, p)) + 3
    return X, latent @ rng.standard_normal((30, q)) + rng.standard_normal((n, q))


def _assembly(values, *, order=None, bins=None, **coords):
    order = np.arange(len(values)) if order is None else order
    coords = {"stimulus_id": [f"stimulus{i:04}" for i in range(len(values))]} | coords
    coords = {name: ("presentation", np.asarray(value)[order]) for name, value in coords.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(np.shape(values)[1]))
    if bins is not None:
        coords |= {
            "time_bin_start": ("time_bin", [b[0] for b in bins]),
            "time_bin_end": ("time_bin", [b[1] for b in bins]),
        }
    dims = ["presentation", "neuroid", "time_bin"][: np.ndim(values)]
    return NeuroidAssembly(np.asarray(values)[order], coords=coords, dims=dims)


def _correlations(predicted, measured):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
        return np.array([scipy.stats.pearsonr(a, b)[0] for a, b in zip(predicted.T, measured.T, strict=True)])


SPLITS = list(ShuffleSplit(10, train_size=0.9, random_state=1).split(np.zeros(100)))


@pytest.mark.parametrize("p", [40, 150])
@pytest.mark.parametrize("per_target", [False, True])
def test_chosen_penalties_are_scikit_learns(p, per_target):
    X, Y = _data(p=p)
    expected = [RidgeCV(ALPHA_LIST, alpha_per_target=per_target).fit(X[train], Y[train]).alpha_ for train, _ in SPLITS]
    score = load_metric("ridgecv", alpha_per_target=per_target)(_assembly(X), _assembly(Y))
    np.testing.assert_array_equal(score.attrs["raw"].attrs["alpha"], expected)
    parts = [_assembly(values).isel(presentation=rows) for values in (X, Y) for rows in SPLITS[0]]
    split = load_metric("dual_ridgecv_split", alpha_per_target=per_target)(*parts)
    np.testing.assert_array_equal(split.attrs["raw"].attrs["alpha"], expected[0])
    assert "alpha" not in load_metric("ridge_split")(*parts).attrs["raw"].attrs


@pytest.mark.parametrize("name", ["ridgecv_split", "dual_ridgecv_split"])
def test_split_metrics_take_alphas(name):
    X, Y = _data()
    parts = [_assembly(values).isel(presentation=rows) for values in (X, Y) for rows in SPLITS[0]]
    assert load_metric(name, alphas=[3.0])(*parts).attrs["raw"].attrs["alpha"] == 3.0
    with pytest.raises(ValueError, match="alphas contains -1"):
        load_metric(name, alphas=[1.0, -1.0])


def test_dual_ridge_cv_regression_is_public():
    X, Y = _data()
    reference = RidgeCV(ALPHA_LIST).fit(X, Y)
    regression = DualRidgeCVRegression()
    with pytest.raises(ValueError, match="nothing was fitted yet"):
        regression.predict(X)
    assert regression.fit(X, Y).alpha_ == reference.alpha_
    np.testing.assert_allclose(regression.predict(X), reference.predict(X), atol=1e-9)
    mapped = dual_ridge_cv_regression().fit(_assembly(X), _assembly(Y))
    assert mapped.alpha == reference.alpha_
    np.testing.assert_allclose(mapped.predict(_assembly(X)).values, reference.predict(X), atol=1e-9)


@pytest.mark.parametrize("name", ["ridgecv", "linear_predictivity", "neuron_to_neuron"])
def test_one_neuroid_and_order(name):
    X, Y = _data(q=1)
    shuffled = np.random.default_rng(1).permutation(100)
    score = load_metric(name)(_assembly(X), _assembly(Y))
    np.testing.assert_allclose(
        load_metric(name)(_assembly(X, order=shuffled), _assembly(Y)).attrs["raw"].values,
        score.attrs["raw"].values,
        atol=1e-9,
    )
    assert np.isfinite(float(score))


@pytest.mark.parametrize("name", ["ridgecv", "linear_predictivity", "neuron_to_neuron"])
def test_constant_neuroids_and_features(name):
    X, Y = _data()
    X[:, [0, 7]], Y[:, 2] = 4.0, 1.5
    score = load_metric(name)(_assembly(X), _assembly(Y))
    assert np.isnan(score.attrs["raw"].values[:, 2]).all()
    assert np.isfinite(np.delete(score.attrs["raw"].values, 2, axis=1)).all()
    assert score.attrs["undefined"] == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = load_metric(name)(_assembly(np.ones((100, 30))), _assembly(Y))
    assert np.isnan(float(nothing))
    assert "undefined everywhere" in nothing.attrs["error_reason"]


def test_splits_with_few_test_stimuli_are_remarked():
    X, Y = _data(n=20)
    advised = r"only 2 of 20 stimuli: .* crossvalidation_kwargs=dict\(kfold=True, splits=5\)"
    with pytest.warns(UserWarning, match=advised):
        load_metric("ridge")(_assembly(X), _assembly(Y))
    with warnings.catch_warnings(action="error"):
        load_metric("ridge", crossvalidation_kwargs={"kfold": True, "splits": 5})(_assembly(X), _assembly(Y))


@pytest.mark.parametrize(("factor", "end"), [(1e-4, "smallest"), (1e4, "largest")])
def test_penalties_at_the_end_of_their_grid_are_remarked(factor, end):
    X, Y = _data()
    Y += 3 * np.random.default_rng(1).standard_normal(Y.shape)
    relative = load_metric("ridgecv_relative")
    with warnings.catch_warnings(action="error"):
        expected, found = relative(_assembly(X), _assembly(Y)), relative(_assembly(factor * X), _assembly(Y))
    assert float(found) == pytest.approx(float(expected))
    with pytest.warns(UserWarning, match=f"the {end} of 99 penalties, .* 100% of the fits: .*unit of the features"):
        assert float(load_metric("ridgecv")(_assembly(factor * X), _assembly(Y))) != pytest.approx(float(expected))


@pytest.mark.parametrize("name", ["ridgecv_split", "neuron_to_neuron_split"])
def test_too_few_stimuli_are_refused(name):
    X, Y = _data(n=6)
    parts = [_assembly(values).isel(presentation=rows) for values in (X, Y) for rows in ([0], [1, 2, 3])]
    with pytest.raises(MetricInputError, match="at least two") as caught:
        load_metric(name)(*parts)
    assert caught.value.remedy == "use more training stimuli"


def test_a_feature_that_is_the_neuroid_predicts_it():
    X, _ = _data()
    score = load_metric("neuron_to_neuron")(_assembly(X), _assembly(2 * X[:, [5, 9]] - 1))
    np.testing.assert_allclose(score.attrs["raw"].values, 1)
    negative = load_metric("neuron_to_neuron")(_assembly(X[:, :1]), _assembly(-X[:, :1]))  # the sign counts
    assert float(negative) == pytest.approx(-1)


def test_groups_and_kfold():
    X, Y = _data()
    scene = np.arange(100) // 4
    target = _assembly(Y, scene=scene, object_name=scene % 2)
    score = load_metric("ridge", crossvalidation_kwargs={"group_coord": "scene"})(_assembly(X), target)
    tested = score.attrs["targets"]
    for split in range(10):
        inside = set(tested["stimulus_id"].values[tested["split"].values == split])
        whole = target["scene"].values[np.isin(target["stimulus_id"].values, list(inside))]
        assert len(inside) == 4 * len(set(whole))
    score = load_metric("ridge", crossvalidation_kwargs={"kfold": True, "splits": 5})(_assembly(X), target)
    raw = [
        _correlations(SklearnRidge().fit(X[train], Y[train]).predict(X[test]), Y[test])
        for train, test in StratifiedKFold(5, shuffle=True, random_state=1).split(X, scene % 2)
    ]
    np.testing.assert_allclose(score.attrs["raw"].values, raw, atol=1e-9)


REVERSED = {
    "reverse_pls": (PLSRegression(5, scale=False, tol=1e-24, max_iter=100_000), {"n_components": 5}),
    "reverse_ridge": (SklearnRidge(), None),
    "reverse_linear_predictivity": (LinearRegression(), None),
    "reverse_ridgecv": (RidgeCV(ALPHA_LIST), None),
}


@pytest.mark.parametrize("name", REVERSED)
def test_reverse_predicts_features_from_responses(name):
    X, Y = _data(p=30, q=12)
    reference, kwargs = REVERSED[name]
    raw = np.array(
        [_correlations(reference.fit(Y[train], X[train]).predict(Y[test]), X[test]) for train, test in SPLITS]
    )
    score = load_metric(name, regression_kwargs=kwargs)(_assembly(X), _assembly(Y))
    np.testing.assert_allclose(score.attrs["raw"].values, raw, atol=1e-8)
    assert score.attrs["raw"].sizes["neuroid"] == 30
    assert float(score) == pytest.approx(np.median(raw, axis=1).mean(), abs=1e-8)
    assert float(load_metric(f"{name}_cv", regression_kwargs=kwargs)(_assembly(X), _assembly(Y))) == float(score)
    parts = [_assembly(values).isel(presentation=rows) for values in (X, Y) for rows in SPLITS[0]]
    split = load_metric(f"{name}_split", regression_kwargs=kwargs)(*parts)
    np.testing.assert_allclose(split.attrs["raw"].values, raw[0], atol=1e-8)


def test_reverse_neuron_to_neuron_is_the_same_with_sides_exchanged():
    X, Y = (_assembly(values) for values in _data(p=30, q=12))
    score = load_metric("reverse_neuron_to_neuron")(X, Y)
    np.testing.assert_array_equal(score.attrs["raw"].values, load_metric("neuron_to_neuron")(Y, X).attrs["raw"].values)


@pytest.mark.parametrize("name", ["reverse_pls", "reverse_pls_split"])
def test_reverse_names_the_sides_as_the_caller_does(name):
    X, Y = _data()
    Y[3, 2] = np.nan
    sides = (
        [_assembly(X), _assembly(X), _assembly(Y), _assembly(Y)] if "split" in name else [_assembly(X), _assembly(Y)]
    )
    with pytest.raises(MetricInputError, match="target holds NaN"):
        load_metric(name)(*sides)


def _over_time(p=20, q=6):
    parts = [_data(p=p, q=q, seed=i) for i in range(3)]
    return tuple(np.stack(arrays, axis=-1) for arrays in zip(*parts, strict=True))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("spantime_pls", PLSRegression(10, scale=False, tol=1e-24, max_iter=100_000)),
        ("spantime_ridge", SklearnRidge()),
    ],
)
@pytest.mark.parametrize("p", [20, 320])
def test_spantime_fits_all_bins_together_and_tests_each(name, reference, p):
    X, Y = _over_time(p=p)
    raw = []
    for train, test in SPLITS:
        pooled = (np.concatenate([values[train, :, t] for t in range(3)]) for values in (X, Y))
        fitted = reference.fit(*pooled)
        raw.append(np.stack([_correlations(fitted.predict(X[test, :, t]), Y[test, :, t]) for t in range(3)], axis=-1))
    kwargs = {"n_components": 10} if name == "spantime_pls" else None
    backwards = _assembly(X[..., ::-1], bins=BINS[::-1], order=np.random.default_rng(0).permutation(100))
    for source in (_assembly(X, bins=BINS), backwards.transpose("time_bin", "neuroid", "presentation")):
        score = load_metric(name, regression_kwargs=kwargs)(source, _assembly(Y, bins=BINS))
        assert score.attrs["raw"].dims == ("split", "neuroid", "time_bin")
        np.testing.assert_allclose(score.attrs["raw"].values, raw, atol=1e-8)
        np.testing.assert_allclose(score.values, np.median(raw, axis=1).mean(axis=0), atol=1e-8)
        np.testing.assert_array_equal(score["time_bin_start"].values, [70, 90, 110])
        errors = np.median(raw, axis=1).std(axis=0) / np.sqrt(10)
        np.testing.assert_allclose(score.attrs["time_bin_error"].values, errors, atol=1e-8)
        np.testing.assert_array_equal(score.attrs["split_error"].values, score.attrs["time_bin_error"].values)
        predicted, measured = (score.attrs[side].values for side in ("predictions", "targets"))
        stimuli, splits = (score.attrs["targets"][name].values for name in ("stimulus_id", "split"))
        for i, (low, high) in enumerate(zip(*score.attrs["ci"], strict=True)):
            found = predictivity(predicted[..., i], measured[..., i], splits=splits, stimuli=stimuli)
            alone = predictivity_interval(found)
            assert (float(low), float(high)) == pytest.approx((alone.low, alone.high), abs=0.001)
            assert float(score.attrs["error"][i]) == pytest.approx(alone.error, rel=0.01)
        assert score.attrs["ci_estimates"].startswith("new stimuli and new neuroids; ")
        assert score.attrs["predictions"].dims == ("presentation", "neuroid", "time_bin")


def test_spantime_refuses_other_time_bins():
    X, Y = _over_time()
    with pytest.raises(MetricInputError, match=r"different time bins, such as '70–90'(.|\n)*start_recording"):
        load_metric("spantime_ridge")(_assembly(X[..., 1:], bins=BINS[1:]), _assembly(Y, bins=BINS))
    with pytest.raises(MetricInputError, match=r"source has the dimensions presentation: 100, neuroid: 20; .*time_bin"):
        load_metric("spantime_ridge")(_assembly(X[..., 0]), _assembly(Y, bins=BINS))
