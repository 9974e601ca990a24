"""The field's own libraries where they define the same: himalaya, rsatoolbox."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV as SklearnRidgeCV
from sklearn.model_selection import KFold

from brainscore_core.numerics import (
    Ridge,
    RidgeCV,
    compare_rdms,
    compare_rdms_whitened,
    crossnobis_rdm,
    mahalanobis_rdm,
    noise_ceiling,
    rdm,
)
from brainscore_vision.metrics.regression_correlation.metric import ALPHA_LIST
from tests.optional import require_package

ABSENT = "not installed: pip install 'brainscore[test]'"
require_package("rsatoolbox", f"rsatoolbox is {ABSENT}")


@pytest.fixture
def himalaya():
    """Ridge regressions of himalaya, on NumPy."""
    pytest.importorskip("himalaya", reason=f"himalaya is {ABSENT}")
    from himalaya import kernel_ridge, ridge
    from himalaya.backend import set_backend

    set_backend("numpy")
    return kernel_ridge, ridge


def _regression(n, p, q=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) / np.sqrt(np.arange(1, p + 1))
    noise = np.geomspace(0.1, 30, q) * rng.standard_normal((n, q))
    return X - X.mean(axis=0), X @ rng.standard_normal((p, q)) + noise


@pytest.mark.parametrize(("n", "p"), [(60, 200), (90, 30)])
def test_ridge_equals_himalaya(himalaya, n, p):
    kernel_ridge, _ = himalaya
    X, Y = _regression(n, p)
    new = _regression(20, p, seed=1)[0]
    centred = Y - Y.mean(axis=0)
    for alpha in (0.3, 1.0, 50.0):
        theirs = kernel_ridge.KernelRidge(alpha=alpha, warn=False).fit(X, centred).predict(new) + Y.mean(axis=0)
        np.testing.assert_allclose(Ridge(alpha).fit(X, Y).predict(new), theirs, atol=1e-8)


@pytest.mark.parametrize(("n", "p"), [(60, 200), (90, 30)])
def test_penalties_of_leave_one_out_equal_scikit_learn_and_predictions_himalaya(himalaya, n, p):
    """99 penalties, each neuroid its own."""
    kernel_ridge, _ = himalaya
    X, Y = _regression(n, p)
    new = _regression(20, p, seed=1)[0]
    Y = Y - Y.mean(axis=0)
    own = RidgeCV(ALPHA_LIST, alpha_per_target=True).fit(X, Y)
    theirs = SklearnRidgeCV(ALPHA_LIST, alpha_per_target=True).fit(X, Y)
    np.testing.assert_allclose(own.alpha, theirs.alpha_)
    assert len(set(np.ravel(own.alpha))) > 2
    np.testing.assert_allclose(own.predict(new), theirs.predict(new), atol=1e-8)
    # himalaya has no leave-one-out that refits the intercept: what follows from these penalties is compared
    fitted = kernel_ridge.KernelRidge(alpha=np.ravel(own.alpha), solver="eigenvalues", warn=False).fit(X, Y)
    np.testing.assert_allclose(own.predict(new), fitted.predict(new), atol=1e-8)


def _patterns(folds=4, n=12, p=7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((folds, n, p))


def _dataset(folds):
    from rsatoolbox.data import Dataset

    k, n, p = folds.shape
    descriptors = {"stimulus": np.tile(np.arange(n), k), "run": np.repeat(np.arange(k), n)}
    return Dataset(folds.reshape(k * n, p), obs_descriptors=descriptors)


def _precision(p=7):
    mix = np.random.default_rng(9).standard_normal((3 * p, p))
    return np.linalg.inv(mix.T @ mix / (3 * p))


@pytest.mark.parametrize(
    ("ours", "theirs", "convert"),
    [
        ("correlation", "correlation", lambda d, p: d),
        ("sqeuclidean", "euclidean", lambda d, p: d * p),  # theirs: squared, divided by the number of features
        ("euclidean", "euclidean", lambda d, p: np.sqrt(d * p)),
    ],
)
def test_dissimilarities_equal_rsatoolbox(ours, theirs, convert):
    from rsatoolbox.rdm import calc_rdm

    X = _patterns(1)
    reference = calc_rdm(_dataset(X), method=theirs, descriptor="stimulus").dissimilarities[0]
    np.testing.assert_allclose(rdm(X[0], dissimilarity=ours), convert(reference, 7), atol=1e-10)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # in rsatoolbox
def test_mahalanobis_and_crossnobis_equal_rsatoolbox():
    from rsatoolbox.rdm import calc_rdm

    folds, precision = _patterns(), _precision()
    data = _dataset(folds)
    reference = calc_rdm(data, method="mahalanobis", descriptor="stimulus", noise=precision).dissimilarities[0]
    np.testing.assert_allclose(mahalanobis_rdm(folds.mean(axis=0), precision), reference, atol=1e-10)
    reference = calc_rdm(
        data, method="crossnobis", descriptor="stimulus", noise=precision, cv_descriptor="run"
    ).dissimilarities[0]
    np.testing.assert_allclose(crossnobis_rdm(folds, precision), reference, atol=1e-10)


def _rdms(seed=0, subjects=6):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((10, 8))
    return np.stack([rdm(shared + rng.standard_normal((10, 8)), dissimilarity="sqeuclidean") for _ in range(subjects)])


def test_comparisons_equal_rsatoolbox():
    from rsatoolbox.rdm import RDMs, compare

    rdms = _rdms()
    for a, b in ((0, 1), (2, 5)):
        one, other = RDMs(rdms[a]), RDMs(rdms[b])
        assert compare_rdms(rdms[a], rdms[b]).value == pytest.approx(compare(one, other, "spearman").item(), abs=1e-10)
        whitened = compare(one, other, "cosine_cov").item()
        assert compare_rdms_whitened(rdms[a], rdms[b]).value == pytest.approx(whitened, abs=1e-6)


def test_noise_ceiling_equals_rsatoolbox():
    """Its upper bound is that of a mean of ranks, its lower bound one of the others' ranks."""
    from rsatoolbox.inference.noise_ceiling import boot_noise_ceiling
    from rsatoolbox.rdm import RDMs

    rdms = _rdms()
    lower, upper = boot_noise_ceiling(RDMs(rdms), method="spearman")
    bounds = noise_ceiling(rdms)
    assert bounds.upper == pytest.approx(float(upper), abs=1e-10)
    assert bounds.lower == pytest.approx(float(lower), abs=1e-10)


def test_five_folds_equal_himalaya(himalaya):
    """The penalty with the least squared error over five folds, as himalaya chooses it and as these fits do."""
    kernel_ridge, _ = himalaya
    X, Y = _regression(60, 200)
    Y = Y - Y.mean(axis=0)
    alphas = np.geomspace(0.01, 1e4, 13)
    folds = KFold(5, shuffle=True, random_state=0)
    theirs = kernel_ridge.KernelRidgeCV(alphas=alphas, cv=folds, warn=False).fit(X, Y)
    errors = np.zeros((len(alphas), Y.shape[1]))
    for train, test in folds.split(X):
        for i, alpha in enumerate(alphas):
            # himalaya fits no intercept: reflected data have the mean 0, which leaves ours without one
            doubled = np.vstack([X[train], -X[train]]), np.vstack([Y[train], -Y[train]])
            errors[i] += ((Ridge(2 * alpha).fit(*doubled).predict(X[test]) - Y[test]) ** 2).mean(axis=0)
    np.testing.assert_allclose(alphas[errors.argmin(axis=0)], np.ravel(theirs.best_alphas_))
