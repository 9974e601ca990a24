"""What models explain, beside scikit-learn and fits without the left-out rows."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV

from brainscore_core import parallel
from brainscore_core.numerics import explained_variance
from brainscore_core.numerics._matrices import centred_eigh
from brainscore_core.numerics.explained_variance import PENALTIES, explain, left_out_errors, unexplained

N = 60


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def splits(n=N, number=4):
    folds = np.array_split(np.arange(n), number)
    return [(np.setdiff1d(np.arange(n), fold), fold) for fold in folds]


def data(rng, columns=(12, 90), q=5):
    models = [rng.standard_normal((N, p)) for p in columns]
    return models, models[0] @ rng.standard_normal((columns[0], q)) + 3 * rng.standard_normal((N, q))


def reference(X, Y, train, test):
    """Smallest leave-one-out error of each response, and squared errors of the test rows."""
    centred = X - X.mean(axis=0)
    X = X / np.sqrt(np.sum(centred**2) / len(X))
    inner = X[train] - X[train].mean(axis=0)
    unit = np.sum(inner**2) / len(train)
    fit = RidgeCV(alphas=unit * PENALTIES, alpha_per_target=True).fit(X[train], Y[train])
    return -fit.best_score_, (Y[test] - fit.predict(X[test])) ** 2


def test_one_model_is_ridge_with_its_penalty_chosen_by_leaving_one_out(rng):
    models, Y = data(rng)
    result = explain([models[1] @ models[1].T], Y, splits())
    for train, test in splits():
        np.testing.assert_allclose(result.errors[0,][test], reference(models[1], Y, train, test)[1], rtol=1e-6)
        np.testing.assert_allclose(result.total[test], (Y[test] - Y[train].mean(axis=0)) ** 2)


def test_two_models_are_ridge_of_all_features_with_the_weights_of_the_smallest_error(rng):
    models, Y = data(rng)
    result = explain([features @ features.T for features in models], Y, splits())
    scaled = [X / np.sqrt(np.sum((X - X.mean(axis=0)) ** 2) / N) for X in models]
    levels = explained_variance._WEIGHTS[2]
    for train, test in splits():
        unit_errors = []
        for a in levels:
            for b in levels:
                if max(a, b) == 1:
                    X = np.hstack([np.sqrt(a) * scaled[0], np.sqrt(b) * scaled[1]])
                    unit_errors.append(reference(X, Y, train, test))
        left_out, errors = (np.array(values) for values in zip(*unit_errors, strict=True))
        chosen = errors[left_out.argmin(axis=0), :, np.arange(Y.shape[1])].T
        np.testing.assert_allclose(result.errors[0, 1][test], chosen, rtol=1e-5)


def test_left_out_groups_are_predicted_as_by_fits_without_them(rng):
    (X,), Y = data(rng, columns=(80,))
    groups = np.arange(N) // 4
    centred = X - X.mean(axis=0)
    values, vectors = centred_eigh(centred @ centred.T, np)
    blocks = [np.flatnonzero(groups == group) for group in range(15)]
    errors = left_out_errors(vectors, values, vectors.T @ (Y - Y.mean(axis=0)), 7.0, blocks)
    expected = np.zeros(Y.shape[1])
    for rows in blocks:
        others = np.setdiff1d(np.arange(N), rows)
        expected += np.sum((Y[rows] - Ridge(alpha=7.0).fit(X[others], Y[others]).predict(X[rows])) ** 2, axis=0) / N
    np.testing.assert_allclose(errors, expected)


def test_parts_sum_to_what_all_models_explain_and_a_copy_explains_nothing_more(rng):
    models, Y = data(rng)
    rotation = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    products = [X @ X.T for X in (*models, 50 * models[0] @ rotation)]
    result = explain(products, Y, splits())
    parts = result.parts()
    np.testing.assert_allclose(sum(parts.values()), result.explained((0, 1, 2)))
    assert abs(result.share(parts[0,])[0]) < 0.01
    assert result.share(parts[0, 2])[0] > 0.3


def test_noise_is_no_signal(rng):
    models, Y = data(rng)
    alone = explain([models[0] @ models[0].T], Y, splits())
    noise = np.full_like(Y, 4.0)
    corrected = explain([models[0] @ models[0].T], Y, splits(), noise=noise)
    assert corrected.signal.mean() == pytest.approx(alone.signal.mean() - 4 * (1 + 1 / 45))
    assert corrected.share(corrected.explained((0,)))[0] > alone.share(alone.explained((0,)))[0]
    estimate, interval = explain([models[0] @ models[0].T], Y, splits(), noise=noise * 1e3).share(Y)
    assert np.isnan(estimate)
    assert "no signal" in interval.reason


@pytest.mark.parametrize(
    ("count", "rows", "message"),
    [(5, slice(None), "5 models"), (0, slice(None), "0 models"), (1, slice(1, None), r"shape \(60, 60\); 59 stimuli")],
)
def test_unusable_arguments_are_named(rng, count, rows, message):
    models, Y = data(rng)
    with pytest.raises(ValueError, match=message):
        explain([models[0] @ models[0].T] * count, Y[rows], splits())


def test_rows_that_are_never_tested_are_named(rng):
    models, Y = data(rng)
    with pytest.raises(ValueError, match="row 45 is not in the test rows"):
        explain([models[0] @ models[0].T], Y, splits()[:-1])


def test_best_models_are_chosen_within_folds_and_noise_is_not_claimed(rng):
    models = rng.standard_normal((3, N, 3))
    signal = np.hstack([models[1] @ rng.standard_normal((3, 4)), np.zeros((N, 4))])
    single = signal + 0.5 * rng.standard_normal((4, N, 8))
    result = unexplained([X @ X.T for X in models], single.mean(axis=0), splits(), noise=single.var(axis=0, ddof=1) / 4)
    assert (result.chosen[:, :4] == 1).all()
    reliable, found = result.neuroids()
    assert reliable[:4].all()
    assert not found.any()
    assert not result.stimuli()[1].any()


def test_processes_give_the_same_result(rng, monkeypatch):
    models, Y = data(rng)
    kernels = [features @ features.T for features in models]
    alone = explain(kernels, Y, splits()), unexplained(kernels, Y, splits(), noise=np.zeros_like(Y))
    monkeypatch.setattr(parallel, "_processes", lambda: 2)
    monkeypatch.setattr(parallel, "WORTHWHILE", 0)
    copies = explain(kernels, Y, splits()), unexplained(kernels, Y, splits(), noise=np.zeros_like(Y))
    for members, errors in alone[0].errors.items():
        np.testing.assert_allclose(copies[0].errors[members], errors, rtol=1e-9)
    np.testing.assert_allclose(copies[1].combined, alone[1].combined, rtol=1e-9)
    np.testing.assert_array_equal(copies[1].chosen, alone[1].chosen)
