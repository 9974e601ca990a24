import json
import warnings

import numpy as np
import pytest
import scipy.stats
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from brainscore_core.benchmarks import normalise
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.xarray_utils import XarrayCorrelation, XarrayRegression
from brainscore_core.numerics import pearson
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.metrics.regression_correlation.metric import (
    ALPHA_LIST,
    CrossRegressedCorrelation,
    pearsonr_correlation,
)


def _data(n=120, p=200, q=10, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 40)) / np.sqrt(np.arange(1, 41))
    X = latent @ rng.standard_normal((40, p)) + 0.2 * rng.standard_normal((n, p)) + 3
    return X, latent @ rng.standard_normal((40, q)) + rng.standard_normal((n, q))


def _assembly(values, *, prefix="n", order=None, objects=8):
    order = np.arange(len(values)) if order is None else order
    coords = {
        "stimulus_id": ("presentation", [f"stimulus{i:04}" for i in order]),
        "neuroid_id": ("neuroid", [f"{prefix}{i}" for i in range(np.shape(values)[1])]),
        "region": ("neuroid", ["IT"] * np.shape(values)[1]),
    }
    if objects:
        coords["object_name"] = ("presentation", [f"object{i % objects}" for i in order])
    return NeuroidAssembly(np.asarray(values)[order], coords=coords, dims=["presentation", "neuroid"])


def _reference(X, Y, regression, splitter, strata=None):
    """The published definition, one split and neuroid after the other; NaN where scipy says so."""
    raw = []
    for train, test in splitter.split(np.zeros(len(X)), strata):
        predicted = regression.fit(X[train], Y[train]).predict(X[test]).reshape(len(test), -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
            raw.append([scipy.stats.pearsonr(a, b)[0] for a, b in zip(predicted.T, Y[test].T, strict=True)])
    centers = np.nanmedian(raw, axis=1)
    return np.mean(centers), np.std(centers) / np.sqrt(len(centers)), np.array(raw)


class _BestFeature:
    """The feature with the largest signed correlation, one neuroid after the other."""

    def fit(self, X, Y):
        with np.errstate(invalid="ignore"):  # constant features
            r = np.corrcoef(X.T, Y.T)[X.shape[1] :, : X.shape[1]]
        self.best = np.nanargmax(r, axis=1)
        return self

    def predict(self, X):
        return X[:, self.best]


REFERENCES = {
    "pls": PLSRegression(25, scale=False, tol=1e-24, max_iter=500_000),
    "ridge": SklearnRidge(1.0),
    "dual_ridge": SklearnRidge(1.0),
    "linear_predictivity": LinearRegression(),
    "ridgecv": RidgeCV(ALPHA_LIST),
    "dual_ridgecv": RidgeCV(ALPHA_LIST),
    "neuron_to_neuron": _BestFeature(),
}


@pytest.mark.parametrize("p", [200, 60])
@pytest.mark.parametrize("name", REFERENCES)
def test_equals_the_published_definition(name, p):
    X, Y = _data(p=p)
    order = np.random.default_rng(5).permutation(len(X))
    strata = [f"object{i % 8}" for i in range(len(X))]
    value, error, raw = _reference(
        X, Y, REFERENCES[name], StratifiedShuffleSplit(10, train_size=0.9, random_state=1), strata
    )
    for source in (_assembly(X, prefix="m"), _assembly(X, prefix="m", order=order)):
        score = load_metric(name)(source, _assembly(Y))
        assert float(score) == pytest.approx(value, abs=1e-7)
        assert score.attrs["split_error"] == pytest.approx(error, abs=1e-7)
        assert score.attrs["raw"].dims == ("split", "neuroid")
        np.testing.assert_allclose(score.attrs["raw"].values, raw, atol=1e-7)
        assert score.attrs["raw"]["neuroid_id"].values.tolist() == [f"n{i}" for i in range(10)]
        assert score.attrs["scale"] == "correlation"


def test_is_close_to_scikit_learns_default_tolerance():
    """The published metric stops its power iterations early."""
    X, Y = _data(n=300, q=40)
    reference = PLSRegression(25, scale=False)
    value, _, _ = _reference(X, Y, reference, ShuffleSplit(10, train_size=0.9, random_state=1))
    score = load_metric("pls")(_assembly(X, objects=None), _assembly(Y, objects=None))
    assert float(score) == pytest.approx(value, abs=5e-3)


@pytest.mark.parametrize("name", REFERENCES)
def test_aliases_and_arguments(name):
    X, Y = _data()
    source, target = _assembly(X), _assembly(Y)
    assert float(load_metric(f"{name}_cv")(source, target)) == float(load_metric(name)(source, target))
    score = load_metric(name, crossvalidation_kwargs={"splits": 3, "stratification_coord": None})(source, target)
    value, _, _ = _reference(X, Y, REFERENCES[name], ShuffleSplit(3, train_size=0.9, random_state=1))
    assert float(score) == pytest.approx(value, abs=1e-7)
    with pytest.raises(TypeError):
        load_metric(name, cross_validation=3)


def test_regression_kwargs():
    X, Y = _data(p=12)
    with pytest.raises(MetricInputError, match=r"25 components.*12 features(.|\n)*n_components"):
        load_metric("pls")(_assembly(X), _assembly(Y))
    score = load_metric("pls", regression_kwargs={"n_components": 12})(_assembly(X), _assembly(Y))
    strata = [f"object{i % 8}" for i in range(len(X))]
    splitter = StratifiedShuffleSplit(10, train_size=0.9, random_state=1)
    value, _, _ = _reference(X, Y, LinearRegression(), splitter, strata)  # all components: least squares
    assert float(score) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("name", ["pls", "ridgecv", "linear_predictivity"])
def test_predictions_reproduce_the_score(name):
    X, Y = _data()
    score = load_metric(name)(_assembly(X), _assembly(Y))
    predictions, targets = score.attrs["predictions"], score.attrs["targets"]
    assert predictions.shape == targets.shape == (120, 10)
    np.testing.assert_array_equal(predictions["stimulus_id"].values, targets["stimulus_id"].values)
    for split in range(10):
        rows = targets["split"].values == split
        found = pearson(predictions.values[rows], targets.values[rows])
        np.testing.assert_allclose(found, score.attrs["raw"].values[split], atol=1e-12)
    row = dict(zip(_assembly(Y)["stimulus_id"].values, Y, strict=True))
    np.testing.assert_array_equal(targets.values, [row[s] for s in targets["stimulus_id"].values])


@pytest.mark.parametrize("name", REFERENCES)
def test_split_metric(name):
    X, Y = _data()
    train, test = slice(0, 90), slice(90, 120)
    parts = [_assembly(values).isel(presentation=side) for values in (X, Y) for side in (train, test)]
    score = load_metric(f"{name}_split")(parts[0], parts[1], parts[2], parts[3])
    predicted = REFERENCES[name].fit(X[train], Y[train]).predict(X[test])
    expected = [scipy.stats.pearsonr(a, b)[0] for a, b in zip(predicted.T, Y[test].T, strict=True)]
    np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-7)
    assert float(score) == pytest.approx(np.median(expected), abs=1e-7)
    assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
    with pytest.warns(UserWarning, match="90 stimuli are fitted and tested on"):
        load_metric(f"{name}_split")(parts[0], parts[0], parts[2], parts[2])


def test_interval_holds_the_score_and_says_what_it_estimates():
    X, Y = _data(q=60)
    attrs = load_metric("ridge", stimulus_groups=None)(_assembly(X), _assembly(Y)).attrs
    low, high = attrs["ci"]
    centers = np.median(attrs["raw"].values, axis=1)
    assert low < centers.mean() < high
    assert attrs["ci_estimates"].startswith(
        "new stimuli and new neuroids; 120 stimuli, 77 of them tested, 60 neuroids; "
    )
    assert attrs["ci_method"] == "crossed"
    assert (high - low) / 2 == pytest.approx(2 * attrs["error"], rel=0.05)
    assert attrs["error"] > attrs["split_error"]


def test_interval_of_a_ceiled_score_knows_what_varies_in_both():
    rng = np.random.default_rng(0)
    X, Y = _data(q=60)
    strength = rng.uniform(0.2, 2, 60)  # neuroids that are predicted well are also reliable
    repeated = np.concatenate([strength * Y + rng.standard_normal(Y.shape) for _ in range(4)])
    target = _assembly(repeated.reshape(4, *Y.shape).mean(axis=0))
    coords = {name: ("presentation", np.tile(target[name].values, 4)) for name in ("stimulus_id", "object_name")}
    coords |= {"repetition": ("presentation", np.repeat(np.arange(4), len(Y)))}
    coords |= {"neuroid_id": ("neuroid", target["neuroid_id"].values)}
    ceiling = load_ceiling("internal_consistency")(
        NeuroidAssembly(repeated, coords=coords, dims=["presentation", "neuroid"])
    )
    score = load_metric("ridge")(_assembly(X), target)
    joint = normalise(score, ceiling)
    assert "varies with the score's" in joint.attrs["ci_estimates"]
    del ceiling.attrs["predictivity"]
    apart = normalise(score, ceiling)
    assert float(joint) == float(apart)
    assert joint.attrs["error"] < 0.95 * apart.attrs["error"]
    assert "predictivity" not in load_metric("reverse_ridge")(_assembly(X), target).attrs


def test_few_animals_and_objects_are_said():
    X, Y = _data(q=60)
    strata = [f"object{i % 8}" for i in range(len(X))]
    target = _assembly(Y).assign_coords(
        object_name=("presentation", strata), subject=("neuroid", np.where(np.arange(60) < 20, "Ada", "Bob"))
    )
    estimates = load_metric("ridge")(_assembly(X), target).attrs["ci_estimates"]
    assert estimates.startswith("new groups of stimuli (object_name) and new neuroids of these 2 subjects; 8 groups")
    assert "8 groups of 120 stimuli, 77 of them tested" in estimates
    alone = load_metric("ridge", stimulus_groups=None, neuroid_groups=None)(_assembly(X), target).attrs
    assert alone["ci_estimates"].startswith("new stimuli and new neuroids;")
    with pytest.raises(MetricInputError, match="no coordinate 'session'"):
        load_metric("ridge", neuroid_groups="session")(_assembly(X), target)


@pytest.mark.parametrize(
    ("q", "varied"),
    [(1, "for this neuroid"), (2, "for these 2 neuroids"), (5, "and new neuroids")],
)
def test_few_neuroids(q, varied):
    X, Y = _data(q=q)
    score = load_metric("ridge")(_assembly(X), _assembly(Y))
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert score.attrs["ci_estimates"].startswith(f"new groups of stimuli (object_name) {varied};")


def test_constant_neuroid_is_left_out_and_counted():
    X, Y = _data()
    Y[:, 3] = 2.0
    splitter = StratifiedShuffleSplit(10, train_size=0.9, random_state=1)
    value, _, _ = _reference(X, Y, SklearnRidge(), splitter, [i % 8 for i in range(120)])
    score = load_metric("ridge")(_assembly(X), _assembly(Y))
    assert np.isnan(score.attrs["raw"].values[:, 3]).all()
    assert score.attrs["undefined"] == 10
    assert float(score) == pytest.approx(value, abs=1e-7)
    assert score.attrs["ci"][0] <= value <= score.attrs["ci"][1]


def test_constant_features_give_nan_with_a_reason():
    _, Y = _data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = load_metric("ridge")(_assembly(np.ones((120, 30))), _assembly(Y))
    assert np.isnan(float(score))
    assert "undefined everywhere" in score.attrs["error_reason"]
    assert "undefined everywhere" in score.attrs["ci_reason"]


@pytest.mark.parametrize("side", ["source", "target"])
def test_nan_is_refused(side):
    parts = dict(zip(("source", "target"), _data(), strict=True))
    parts[side][7, 4] = np.nan
    with pytest.raises(MetricInputError, match=f"{side} holds NaN.*neuroid 'n4'.*'stimulus0007'"):
        load_metric("pls")(*(_assembly(values) for values in parts.values()))


def test_inputs_are_not_changed():
    X, Y = _data()
    source, target = _assembly(X, order=np.arange(120)[::-1]), _assembly(Y)
    before = source.copy(deep=True), target.copy(deep=True)
    load_metric("pls")(source, target)
    for assembly, copy in zip((source, target), before, strict=True):
        assert assembly.identical(copy)


def test_any_scikit_learn_regression_serves():
    X, Y = _data(p=30)
    metric = CrossRegressedCorrelation(XarrayRegression(LinearRegression()), XarrayCorrelation(scipy.stats.pearsonr))
    splitter = StratifiedShuffleSplit(10, train_size=0.9, random_state=1)
    value, _, _ = _reference(X, Y, LinearRegression(), splitter, [i % 8 for i in range(120)])
    assert float(metric(_assembly(X), _assembly(Y))) == pytest.approx(value, abs=1e-10)


def test_subclasses_may_change_apply_and_aggregate():
    class Best(CrossRegressedCorrelation):
        def apply(self, source_train, target_train, source_test, target_test):
            return 0.5 * super().apply(source_train, target_train, source_test, target_test)

        def aggregate(self, scores):
            return scores.max("neuroid")

    X, Y = _data(p=30)
    regression = XarrayRegression(SklearnRidge())
    plain = CrossRegressedCorrelation(regression, pearsonr_correlation())(_assembly(X), _assembly(Y))
    best = Best(regression, pearsonr_correlation())(_assembly(X), _assembly(Y))
    assert float(best) == pytest.approx(0.5 * plain.attrs["raw"].values.max(axis=1).mean())


def test_alphas_are_the_published_ones():
    assert len(ALPHA_LIST) == 99
    assert ALPHA_LIST[:9] == [0.01, 0.1, 0.5, 1.0, 10.0, 32.5, 55.0, 77.5, 100.0]
    assert ALPHA_LIST[-2:] == [9.5e6, 1e7]
    assert sorted(set(ALPHA_LIST)) == ALPHA_LIST
    json.dumps(ALPHA_LIST)
