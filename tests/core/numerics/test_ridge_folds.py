"""The choice of a penalty by folds."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.numerics import RidgeCV, ridge_cv
from brainscore_vision.metrics.regression_correlation.metric import ALPHA_LIST

torch = pytest.importorskip("torch")

DEVICES = [
    None,
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; none is here")
    ),
]
N = 47
ROWS = np.arange(N)
FOLDS = {
    "five": 5,
    "shuffled": KFold(6, shuffle=True, random_state=1),
    "of unequal size": [(ROWS[20:], ROWS[:20]), (ROWS[:46], ROWS[46:]), (np.r_[ROWS[:3], ROWS[11:]], ROWS[3:11])],
    "not all trained on": [(ROWS[5:20], ROWS[30:]), (ROWS[25:], ROWS[:9]), (np.r_[ROWS[9:], ROWS[9:12]], ROWS[:9])],
    "mostly tested": ShuffleSplit(3, test_size=30, random_state=2),
}


def _data(p, q=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, p)) / np.sqrt(np.arange(1, p + 1)) + 4
    noise = np.geomspace(0.1, 30, q) * rng.standard_normal((N, q))
    return X, X @ rng.standard_normal((p, q)) + noise - 7


def _pairs(cv):
    if isinstance(cv, int):
        return list(KFold(cv).split(ROWS))
    return list(cv.split(ROWS)) if hasattr(cv, "split") else cv


def _refitted(X, Y, cv, alphas):
    """Errors by one fit for each fold and penalty."""
    errors = np.zeros((len(alphas), Y.shape[1]))
    for train, test in _pairs(cv):
        U, s, V = np.linalg.svd(X[train] - X[train].mean(axis=0), full_matrices=False)
        kept = s > 1e-12 * s[0]
        U, s, V = U[:, kept], s[kept], V[kept]
        y_mean = Y[train].mean(axis=0)
        for i, alpha in enumerate(alphas):
            weights = V.T @ ((s / (s**2 + alpha))[:, None] * (U.T @ (Y[train] - y_mean)))
            errors[i] += ((Y[test] - y_mean - (X[test] - X[train].mean(axis=0)) @ weights) ** 2).mean(axis=0)
    return errors / len(_pairs(cv))


@pytest.fixture
def errors(monkeypatch):
    """What the errors of the last choice were."""
    seen = []
    for name in ("errors_dual", "errors_primal"):
        inner = getattr(ridge_cv, name)

        def spy(*args, inner=inner):
            seen.append(inner(*args))
            return seen[-1]

        monkeypatch.setattr(f"brainscore_core.numerics.ridge_cv.{name}", spy)
    return seen


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cv", FOLDS.values(), ids=FOLDS.keys())
@pytest.mark.parametrize("p", [8, 40, 90])
def test_errors_are_those_of_refitting(errors, p, cv, device):
    """All of them, not only the smallest; which form and which way of leaving out, depends on the shapes."""
    _check_choices(errors, *_data(p), cv, device)


def _check_choices(errors, X, Y, cv, device):
    expected = _refitted(X, Y, cv, ALPHA_LIST)
    found = RidgeCV(ALPHA_LIST, alpha_per_target=True, cv=cv, device=device).fit(X, Y)
    np.testing.assert_allclose(errors[0], expected, rtol=1e-9)
    np.testing.assert_array_equal(found.alpha, np.array(ALPHA_LIST)[expected.argmin(axis=0)])
    assert len(set(found.alpha)) > 2 or Y.shape[1] < 3
    for i, alpha in enumerate(found.alpha):
        reference = SklearnRidge(alpha).fit(X, Y[:, i])
        np.testing.assert_allclose(found.predict(X)[:, i], reference.predict(X), atol=1e-8)
    whole = RidgeCV(ALPHA_LIST, cv=cv, device=device).fit(X, Y)
    assert whole.alpha == ALPHA_LIST[expected.mean(axis=1).argmin()]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("strong", [0, 3, 90])
def test_errors_with_eigenvalues_of_very_different_size(errors, strong, device):
    """A few strong features; and features from weak to strong, so that no penalty determines those of the others."""
    X, Y = _data(90)
    X *= np.geomspace(1e3, 1e-1, 90) if strong == 90 else np.where(np.arange(90) < strong, 100.0, 1.0)
    RidgeCV(ALPHA_LIST, cv=5, device=device).fit(X, Y)
    np.testing.assert_allclose(errors[0], _refitted(X, Y, 5, ALPHA_LIST), rtol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_systems_that_amplify_errors_are_computed_to_rounding(errors, monkeypatch, device):
    """Whatever the precision of the others, which is made low here."""
    monkeypatch.setattr(ridge_cv, "_WELL_CONDITIONED", (1e-2, 0.1))
    X, Y = _data(90)
    X *= np.geomspace(1e3, 1e-1, 90)
    RidgeCV(ALPHA_LIST, cv=5, device=device).fit(X, Y)
    np.testing.assert_allclose(errors[0], _refitted(X, Y, 5, ALPHA_LIST), rtol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_errors_of_many_stimuli(errors, monkeypatch, device):
    """More eigenvalues than are compared one by one, more test stimuli than one block has, and several chunks."""
    monkeypatch.setattr(ridge_cv, "_SMALLER", 32)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 500)) / np.sqrt(np.arange(1, 501)) * np.where(np.arange(500) < 9, 30, 1)
    Y = X[:, :20] @ rng.standard_normal((20, 4)) + rng.standard_normal((400, 4))
    splits = list(KFold(4).split(X))
    RidgeCV(ALPHA_LIST, cv=splits, device=device).fit(X, Y)
    np.testing.assert_allclose(errors[0], _refitted(X, Y, splits, ALPHA_LIST), rtol=1e-9)


@pytest.mark.parametrize("p", [20, 90])
def test_grid_search_of_scikit_learn_chooses_the_same(p):
    X, Y = _data(p)
    grid = {"alpha": np.geomspace(1e-2, 1e4, 25)}
    search = GridSearchCV(SklearnRidge(), grid, scoring="neg_mean_squared_error", cv=5).fit(X, Y)
    ours = RidgeCV(grid["alpha"], cv=5).fit(X, Y)
    assert ours.alpha == search.best_params_["alpha"]
    np.testing.assert_allclose(ours.predict(X), search.predict(X), atol=1e-8)


@pytest.mark.parametrize("shift", [0.0, 5.0])
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("p", [20, 90])
def test_himalaya_chooses_the_same(p, local, shift):
    pytest.importorskip("himalaya", reason="not installed: pip install 'brainscore[test]'")
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import KernelRidgeCV

    set_backend("numpy")
    X, Y = _data(p)
    X, Y = X - X.mean(axis=0) + shift, Y - Y.mean(axis=0) + shift
    theirs = KernelRidgeCV(
        alphas=ALPHA_LIST, cv=5, fit_intercept=True, warn=False, solver_params={"local_alpha": local}
    ).fit(X, Y)
    ours = RidgeCV(ALPHA_LIST, alpha_per_target=local, cv=5).fit(X, Y)
    np.testing.assert_allclose(np.broadcast_to(ours.alpha, len(theirs.best_alphas_)), theirs.best_alphas_, rtol=1e-12)
    # its products of features are taken before these are centred, and keep fewer digits
    np.testing.assert_allclose(ours.predict(X[:9]), theirs.predict(X[:9]), atol=1e-7 if shift == 0 else 1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [30, 90])
def test_splits_equal_fits(p, device):
    X, Y = _data(p)
    splits = list(KFold(3, shuffle=True, random_state=3).split(ROWS))
    for cv in (None, 4):
        plain, method = (RidgeCV(ALPHA_LIST, alpha_per_target=True, cv=cv, device=where) for where in (None, device))
        for (train, test), (predicted, alpha, _) in zip(splits, method.cross_fit(X, Y, splits), strict=True):
            fit = plain.fit(X[train], Y[train])
            np.testing.assert_array_equal(alpha, fit.alpha)
            np.testing.assert_allclose(predicted, fit.predict(X[test]), atol=1e-8)
            on_device = method.fit(X[train], Y[train])
            np.testing.assert_allclose(on_device.predict(X[test]), predicted, atol=1e-8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [20, 90])
def test_dependent_stimuli_and_hardly_any_penalty(errors, p, device):
    """Stimuli that lie in 12 dimensions, and penalties down to rounding."""
    X, Y = _data(p)
    X = (X[:, :12] - 4) @ np.random.default_rng(4).standard_normal((12, p))
    alphas = [1e-12, 1e-6, 1e-2, 1.0, 100.0]
    fit = RidgeCV(alphas, alpha_per_target=True, cv=5, device=device).fit(X, Y)
    np.testing.assert_allclose(errors[0], _refitted(X, Y, 5, alphas), rtol=1e-6)
    assert np.isfinite(fit.predict(X)).all()
    flat = RidgeCV(alphas, cv=5, device=device).fit(np.ones((N, p)), Y)
    np.testing.assert_allclose(flat.predict(np.ones((2, p))), np.tile(Y.mean(axis=0), (2, 1)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("p", [20, 90])
def test_what_is_not_finite_is_named(p, device):
    X, Y = _data(p)
    for matrix, message in ((X, "X is not finite in row 4"), (Y, "Y is not finite in column 2")):
        kept, matrix[4, 2] = matrix[4, 2], np.nan
        with pytest.raises(ValueError, match=message):
            RidgeCV([1.0, 2.0], cv=5, device=device).fit(X, Y)
        matrix[4, 2] = kept


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "two or more folds"),
        (True, "two or more folds"),
        ("five", "a number of folds"),
        ([], "a number of folds"),
        ([(0, 1, 2)], "a number of folds"),
        (48, "48 folds require at least as many stimuli, not 47"),
        ([([0, 1], [])], "test rows of pair 0"),
        ([([0, 1], [47])], "exceed the 47 training stimuli"),
        ([([0, 1], [2]), ([0.5], [1])], "training rows of pair 1"),
        ([([0, 1], [1, 2])], "uses row 1 for both"),
    ],
)
def test_impossible_folds_are_refused(cv, message):
    X, Y = _data(10)
    with pytest.raises(ValueError, match=message):
        RidgeCV([1.0], cv=cv).fit(X, Y)


def test_a_device_that_is_not_there():
    with pytest.raises(UserError, match="device"):
        RidgeCV([1.0], device="abacus").fit(*_data(10))


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("p", [9, 200])
def test_relative_penalties_do_not_depend_on_the_unit_of_features(p, cv):
    X, Y = _data(p)
    multiples = np.geomspace(1e-4, 1e2, 13)
    unit = np.square(X - X.mean(axis=0)).sum() / N
    expected = RidgeCV(unit * multiples, cv=cv).fit(X, Y)
    train, test = ROWS[:40], ROWS[40:]
    for factor in (1e-5, 1.0, 1e5):
        regression = RidgeCV(multiples, relative=True, cv=cv)
        fit = regression.fit(factor * X, Y)
        np.testing.assert_allclose(fit.alpha * unit, expected.alpha)
        np.testing.assert_allclose(fit.predict(factor * X), expected.predict(X))
        (split,) = regression.cross_fit(factor * X, Y, [(train, test)])
        alone = regression.fit(factor * X[train], Y[train])
        assert split.alpha == alone.alpha
        np.testing.assert_allclose(split.predicted, alone.predict(factor * X[test]))
