import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from brainscore_core.numerics import (
    _matrices,
    cka,
    compare_rdms,
    correlation,
    influence_interval,
    noise_ceiling,
    rdm,
    shape_similarity,
    similarity,
)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 90)) + 5
    return x, x[:, :20] @ rng.standard_normal((20, 30)) + rng.standard_normal((40, 30))


@pytest.mark.parametrize("chunk", [2**10, 2**26])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rdm_equals_scipy(pair, monkeypatch, chunk, dtype):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", chunk)
    x = pair[0].astype(dtype)
    np.testing.assert_allclose(rdm(x), pdist(x.astype(np.float64), "correlation"), atol=1e-12)


def test_rdm_of_a_flat_stimulus_is_nan_there(pair):
    x = pair[0].copy()
    x[3] = 1 / 3
    square = squareform(rdm(x), checks=False)
    np.fill_diagonal(square, 0)
    assert np.isnan(np.delete(square[3], 3)).all()
    assert np.isfinite(np.delete(np.delete(square, 3, 0), 3, 1)).all()


@pytest.mark.parametrize("digits", [1, 12])  # with ties, and without
def test_comparison_equals_scipy(pair, digits):
    a, b = (np.round(rdm(x), digits) for x in pair)
    assert compare_rdms(a, b).value == pytest.approx(spearmanr(a, b)[0], abs=1e-12)


def _resampled(a, b, rows):
    """Spearman over a resample of stimuli, without pairs of identical ones."""
    upper = np.triu_indices(len(rows), k=1)
    keep = rows[upper[0]] != rows[upper[1]]
    return spearmanr(a[np.ix_(rows, rows)][upper][keep], b[np.ix_(rows, rows)][upper][keep])[0]


@pytest.mark.parametrize("digits", [1, 12])
def test_influence_agrees_with_jackknife_and_bootstrap_over_stimuli(pair, digits):
    a, b = (squareform(np.round(rdm(x), digits)) for x in pair)
    n = len(a)
    similarity = compare_rdms(squareform(a), squareform(b))
    left_out = np.array([_resampled(a, b, np.delete(np.arange(n), i)) for i in range(n)])
    jackknife = (n - 1) * (left_out.mean() - left_out)
    assert np.corrcoef(jackknife, similarity.influence)[0, 1] > 0.999
    assert abs(similarity.influence.mean()) < 1e-12
    rng = np.random.default_rng(0)
    bootstrap = np.std([_resampled(a, b, rng.integers(0, n, n)) for _ in range(300)])
    assert influence_interval(similarity.value, similarity.influence).error == pytest.approx(bootstrap, rel=0.2)


@pytest.mark.parametrize("digits", [1, 3, 12])
def test_blocks_of_ranks_change_only_rounding(pair, digits, monkeypatch):
    a, b = (np.round(rdm(x), digits) for x in pair)
    whole = compare_rdms(a, b)
    for module in (correlation, similarity):
        monkeypatch.setattr(module, "BLOCK", 10)
    found = compare_rdms(a, b)
    assert found.value == pytest.approx(whole.value, abs=1e-14)
    np.testing.assert_allclose(found.influence, whole.influence, atol=1e-12)
    assert compare_rdms(a, a**3).value == 1


def test_undefined_comparison_says_why(pair):
    a = rdm(pair[0])
    flat = np.ones_like(a)
    holed = a.copy()
    holed[3] = np.nan
    for bad, message in ((flat, "first RDM are equal"), (holed, "first RDM holds NaN")):
        similarity = compare_rdms(bad, a)
        assert np.isnan(similarity.value)
        assert message in similarity.reason
    assert "second" in compare_rdms(a, flat).reason


def test_no_upper_triangle_is_refused():
    with pytest.raises(ValueError, match="4 values"):
        compare_rdms(np.arange(4.0), np.arange(4.0))
    with pytest.raises(ValueError, match="shapes"):
        compare_rdms(np.arange(3.0), np.arange(6.0))


def _unbiased_hsic(K, L):
    """Song et al. 2012, equation 4."""
    n = len(K)
    K, L = (M - np.diag(np.diag(M)) for M in (K, L))
    one = np.ones(n)
    trace = np.trace(K @ L)
    return (trace + one @ K @ one * (one @ L @ one) / ((n - 1) * (n - 2)) - 2 / (n - 2) * (one @ K @ L @ one)) / (
        n * (n - 3)
    )


def _unbiased_cka(x, y):
    K, L = x @ x.T, y @ y.T
    return _unbiased_hsic(K, L) / np.sqrt(_unbiased_hsic(K, K) * _unbiased_hsic(L, L))


def _biased_cka(x, y):
    """Kornblith et al. 2019, equation 4, in feature space."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    return np.linalg.norm(y.T @ x) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))


@pytest.mark.parametrize(("unbiased", "reference"), [(True, _unbiased_cka), (False, _biased_cka)])
def test_cka_and_its_jackknife_equal_the_definition(pair, unbiased, reference):
    x, y = pair
    similarity = cka(x, y, unbiased=unbiased)
    assert similarity.value == pytest.approx(reference(x, y), abs=1e-10)
    # both estimate the same, so the biased one's interval is that of the unbiased one
    assert similarity.bias == pytest.approx(0 if unbiased else reference(x, y) - _unbiased_cka(x, y), abs=1e-10)
    left_out = np.array([_unbiased_cka(np.delete(x, i, 0), np.delete(y, i, 0)) for i in range(len(x))])
    np.testing.assert_allclose(similarity.influence, (len(x) - 1) * (left_out.mean() - left_out), atol=1e-8)


@pytest.mark.parametrize("unbiased", [True, False])
def test_cka_is_invariant_to_rotation_scale_and_offset(pair, unbiased):
    x, y = pair
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((90, 90)))[0]
    value = cka(x, y, unbiased=unbiased).value
    assert cka(1e5 * x @ rotation + 1e3, y, unbiased=unbiased).value == pytest.approx(value, abs=1e-9)
    assert cka(x, x, unbiased=unbiased).value == pytest.approx(1)


def test_unbiased_cka_of_unrelated_wide_representations_is_about_0():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 5000)), rng.standard_normal((30, 5000))
    assert abs(cka(x, y).value) < 0.2
    assert cka(x, y, unbiased=False).value > 0.9


@pytest.mark.parametrize("unbiased", [True, False])
def test_cka_of_a_constant_representation_is_nan_with_a_reason(pair, unbiased):
    similarity = cka(np.full((40, 3), 1 / 3), pair[1], unbiased=unbiased)
    assert np.isnan(similarity.value)
    assert "first representation" in similarity.reason


def test_cka_needs_4_stimuli(pair):
    with pytest.raises(ValueError, match=r"3 stimuli.*at least 4"):
        cka(pair[0][:3], pair[1][:3])
    assert np.isfinite(cka(pair[0][:4], pair[1][:4]).value) or cka(pair[0][:4], pair[1][:4]).reason


def test_cka_names_what_is_not_finite(pair):
    x = pair[0].copy()
    x[5, 2] = np.nan
    with pytest.raises(ValueError, match="X is not finite in row 5"):
        cka(x, pair[1])


@pytest.mark.parametrize("rank", [True, False])
def test_noise_ceiling_equals_the_definition(rank):
    rng = np.random.default_rng(0)
    rdms = rng.random(45) + 0.5 * rng.random((5, 45))
    averaged = np.argsort(np.argsort(rdms, axis=1), axis=1) if rank else rdms
    bounds = noise_ceiling(rdms, rank=rank)
    upper = [spearmanr(one, averaged.mean(axis=0))[0] for one in rdms]
    lower = [spearmanr(one, np.delete(averaged, i, 0).mean(axis=0))[0] for i, one in enumerate(rdms)]
    np.testing.assert_allclose(bounds.upper_values, upper, atol=1e-12)
    np.testing.assert_allclose(bounds.lower_values, lower, atol=1e-12)
    assert bounds.lower < bounds.upper


def test_noise_ceiling_needs_two():
    with pytest.raises(ValueError, match="at least two subjects; there is 1"):
        noise_ceiling(np.ones((1, 3)))


@pytest.mark.slow(reason="estimates coverage from many simulations")
def test_intervals_cover_the_value_of_all_stimuli():
    """Stimuli drawn from a population: how often does the interval hold the population's value?"""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 8))
    Y = X @ rng.standard_normal((8, 6)) + rng.standard_normal((2000, 6))
    measures = {
        "rdm": lambda x, y: compare_rdms(rdm(x), rdm(y)),
        "cka": cka,
        "cka_biased": lambda x, y: cka(x, y, unbiased=False),
        "cka_rbf": lambda x, y: cka(x, y, kernel="rbf"),
        "procrustes": lambda x, y: shape_similarity(x, y).similarity,
    }
    truth = {name: measure(X, Y).value for name, measure in measures.items()}
    covered = dict.fromkeys(truth, 0)
    runs = 300
    for _ in range(runs):
        rows = rng.choice(2000, 60, replace=False)
        for name, measure in measures.items():
            found = measure(X[rows], Y[rows])
            interval = influence_interval(found.value - found.bias, found.influence, correlation=True)
            covered[name] += interval.low <= truth[name] <= interval.high
    # those that are biased have intervals that are a little too narrow
    assert all(0.9 <= count / runs <= 0.99 for count in covered.values()), covered
