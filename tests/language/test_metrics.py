"""Metrics of recordings, beside scikit-learn, SciPy and the definitions in NumPy."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language import load_metric
from brainscore_language.metrics.cka.metric import kernel_CKA
from brainscore_language.metrics.linear_predictivity.metric import (
    ScaledCrossRegressedCorrelation,
    linear_regression,
    pearsonr_correlation,
)
from brainscore_language.utils.transformations import CrossValidationSingle, Split, standard_error_of_the_mean

STORIES = np.repeat(np.arange(6), 10)


def assembly(values):
    n, units = values.shape
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", np.arange(n)),
            "story": ("presentation", STORIES[:n]),
            "neuroid_id": ("neuroid", np.arange(units)),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(1)
    features = random.standard_normal((60, 20))
    return features, features[:, :5] + random.standard_normal((60, 5))


def median_correlation(data, splits, regression):
    features, responses = data
    medians = []
    for train, test in splits:
        predicted = regression().fit(features[train], responses[train]).predict(features[test])
        medians.append(
            np.median([np.corrcoef(p, r)[0, 1] for p, r in zip(predicted.T, responses[test].T, strict=True)])
        )
    return np.mean(medians)


REGRESSIONS = {"linear_pearsonr": LinearRegression, "ridge_pearsonr": lambda: RidgeCV(alphas=np.logspace(-3, 3, 7))}
SPLITS = {
    "shuffled": ({}, lambda n: ShuffleSplit(10, train_size=0.9, random_state=1).split(np.zeros(n))),
    "folds": ({"kfold": True, "splits": 5}, lambda n: KFold(5, shuffle=True, random_state=1).split(np.zeros(n))),
    "stories": (
        {"kfold": "group", "splits": 6, "split_coord": "story"},
        lambda n: GroupKFold(6, shuffle=True, random_state=1).split(np.zeros(n), groups=STORIES),
    ),
    "strata": (
        {"stratification_coord": "story", "splits": 4},
        lambda n: StratifiedShuffleSplit(4, train_size=0.9, random_state=1).split(np.zeros(n), STORIES),
    ),
}


@pytest.mark.parametrize("metric", REGRESSIONS)
@pytest.mark.parametrize("splits", SPLITS)
def test_predicted_recordings(data, metric, splits):
    options, expected = SPLITS[splits]
    source = assembly(data[0]).isel(presentation=np.random.default_rng(2).permutation(60))  # its order does not matter
    score = load_metric(metric, crossvalidation_kwargs=options)(source, assembly(data[1]))
    assert score.raw.dims == ("split", "neuroid")
    assert float(score) == pytest.approx(median_correlation(data, expected(60), REGRESSIONS[metric]), abs=1e-6)


def test_a_published_value():
    random = np.random.RandomState(1)
    source = assembly((np.arange(750) + random.standard_normal(750)).reshape(30, 25))
    score = load_metric("linear_pearsonr")(source, assembly(random.poisson(lam=1, size=(30, 25)).astype(float)))
    assert float(score) == pytest.approx(0.03686426, abs=1e-5)


@pytest.mark.parametrize("metric", REGRESSIONS)
def test_stored_weights_predict_what_was_predicted(data, metric):
    features, responses = data
    score = load_metric(metric, store_regression_weights=True)(assembly(features), assembly(responses))
    slopes, intercepts = score.attrs["raw_regression_coef"], score.attrs["raw_regression_intercept"]
    assert slopes.dims == ("split", "source_neuroid", "target_neuroid")
    assert slopes.shape == (10, 20, 5)
    train, _ = next(iter(SPLITS["shuffled"][1](60)))
    fitted = REGRESSIONS[metric]().fit(features[train], responses[train])
    np.testing.assert_allclose(slopes.values[0], fitted.coef_.T, atol=1e-6)
    np.testing.assert_allclose(intercepts.values[0], fitted.intercept_, atol=1e-6)


def test_z_scored_recordings_have_the_same_correlations(data):
    source, target = map(assembly, data)
    scaled = ScaledCrossRegressedCorrelation(linear_regression(), pearsonr_correlation())(source, target)
    assert float(scaled) == pytest.approx(float(load_metric("linear_pearsonr")(source, target)))


def test_dissimilarities(data):
    features, responses = data
    tested = [np.sort(test) for _, test in ShuffleSplit(10, test_size=0.9, random_state=1).split(features)]
    expected = [
        spearmanr(pdist(features[rows], "correlation"), pdist(responses[rows], "correlation")).statistic
        for rows in tested
    ]
    score = load_metric("rdm")(assembly(features), assembly(responses))
    assert float(score) == pytest.approx(np.mean(expected), abs=1e-9)
    np.testing.assert_allclose(score.raw.values, expected)


def test_alignment_of_kernels(data):
    features, responses = data

    def alignment(rows):
        n = len(rows)
        centre = np.eye(n) - 1 / n
        first, second = (centre @ values[rows] @ values[rows].T @ centre for values in data)
        return (first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum())

    tested = [test for _, test in ShuffleSplit(10, test_size=0.9, random_state=1).split(features)]
    score = load_metric("cka")(assembly(features), assembly(responses))
    assert float(score) == pytest.approx(np.mean([alignment(rows) for rows in tested]), abs=1e-9)
    assert kernel_CKA(features, features) == pytest.approx(1)


def test_splits_that_do_not_fit(data):
    with pytest.raises(AssertionError, match="different values of 'stimulus_id'"):
        load_metric("linear_pearsonr")(assembly(data[0][:50]), assembly(data[1]))
    with pytest.raises(UserError, match="no meaning with kfold"):
        Split(kfold=True, test_size=0.2)


def test_one_assembly_is_divided_and_its_scores_joined(data):
    from brainscore_core.metrics import Score

    def difference(train, test):
        return Score(float(train.mean()) - float(test.mean()))

    score = CrossValidationSingle(splits=3, kfold=True)(assembly(data[0]), apply=difference)
    assert score.raw.dims == ("split",)
    assert float(score) == pytest.approx(score.raw.values.mean())
    spread = standard_error_of_the_mean(score.raw, "split")
    assert float(spread) == pytest.approx(score.raw.values.std() / np.sqrt(3))
