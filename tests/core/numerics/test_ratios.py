"""Limits of a score relative to its ceiling against closed forms, a grid over all pairs, and simulations."""

import math

import numpy as np
import pytest
from scipy import stats

from brainscore_core.numerics import Uncertain, ratio_limits, undetermined_by

T = stats.norm.ppf(0.975)


def symmetric(value, error):
    return Uncertain(value, value - T * error, value + T * error)


def fieller(r, c, sr, sc, rho):
    """Roots of (r − θc)² = t²(σr² − 2θσrc + θ²σc²)."""
    covariance = rho * sr * sc
    a, b, d = c**2 - (T * sc) ** 2, r * c - T**2 * covariance, r**2 - (T * sr) ** 2
    roots = np.sort([(b - math.sqrt(b**2 - a * d)) / a, (b + math.sqrt(b**2 - a * d)) / a])
    return a, roots


@pytest.mark.parametrize("rho", [-0.9, 0.0, 0.6, 1.0])
@pytest.mark.parametrize("r", [-0.4, 0.0, 0.1, 0.7])
@pytest.mark.parametrize(("c", "sc"), [(0.8, 0.1), (0.2, 0.08), (0.5, 0.001)])
def test_fieller(r, c, sc, rho):
    a, roots = fieller(r, c, 0.06, sc, rho)
    assert a > 0
    assert ratio_limits(symmetric(r, 0.06), symmetric(c, sc), correlation=rho) == pytest.approx(roots, rel=1e-7)


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5])
def test_fieller_where_the_ceiling_may_be_zero(rho):
    """The set is a half-line if the score differs from 0, and otherwise everything."""
    a, roots = fieller(0.3, 0.1, 0.05, 0.06, rho)
    assert a < 0
    low, high = ratio_limits(symmetric(0.3, 0.05), symmetric(0.1, 0.06), correlation=rho)
    assert (low, high) == (pytest.approx(max(roots), rel=1e-7), math.inf)
    mirrored = ratio_limits(symmetric(-0.3, 0.05), symmetric(0.1, 0.06), correlation=-rho)
    assert mirrored == (-math.inf, pytest.approx(-low))
    assert ratio_limits(symmetric(0.01, 0.05), symmetric(0.05, 0.06), correlation=rho) == (-math.inf, math.inf)


@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.7])
@pytest.mark.parametrize("r", [-0.2, 0.0, 0.1, 0.5])
@pytest.mark.parametrize("c", [0.3, 0.15])
def test_explained_variance_by_the_definition(r, c, rho):
    """θ is inside if min over c of (r − s√(|θ|c), ĉ − c) Σ⁻¹ (…)ᵀ ≤ t²."""
    sr, sc = 0.05, 0.08
    inverse = np.linalg.inv([[sr**2, rho * sr * sc], [rho * sr * sc, sc**2]])
    ceilings = np.concatenate([np.geomspace(1e-9, 1e-3, 2000), np.linspace(1e-3, 1.2, 40_000)])

    def inside(theta):
        apart = np.stack([r - np.sign(theta) * np.sqrt(abs(theta) * ceilings), c - ceilings])
        return np.einsum("in,ij,jn->n", apart, inverse, apart).min() <= T**2

    low, high = ratio_limits(symmetric(r, sr), symmetric(c, sc), correlation=rho, form="explained variance")
    assert low < high
    for limit, outwards in ((low, -1), (high, 1)):
        if math.isinf(limit):
            assert limit == outwards * math.inf
            assert inside(outwards * 1e3)
            continue
        step = 1e-3 * (1 + abs(limit))
        assert inside(limit - outwards * step)
        assert not inside(limit + outwards * step)


def test_an_exact_ceiling_transforms_the_limits_of_the_score():
    score, ceiling = Uncertain(0.3, -0.1, 0.5), Uncertain(0.5, 0.5, 0.5)
    assert ratio_limits(score, ceiling) == pytest.approx((-0.2, 1.0))
    assert ratio_limits(score, ceiling, form="explained variance") == pytest.approx((-0.02, 0.5))


def test_an_exact_score_transforms_the_limits_of_the_ceiling():
    assert ratio_limits(Uncertain(0.3, 0.3, 0.3), Uncertain(0.5, 0.3, 0.6)) == pytest.approx((0.5, 1.0))
    assert ratio_limits(Uncertain(0.0, 0.0, 0.0), Uncertain(0.5, 0.3, 0.6)) == (0.0, 0.0)


def test_a_wider_ceiling_never_narrows_the_limits():
    limits = [
        ratio_limits(Uncertain(0.3, 0.2, 0.4), Uncertain(0.1, low, 0.2)) for low in (0.05, 0.01, 0.001, 0.0, -0.01, -1)
    ]
    lows, highs = np.array(limits).T
    assert (np.diff(highs[:3]) > 0).all()
    assert np.isinf(highs[3:]).all()
    assert np.ptp(lows) < 1e-9  # the lower limit comes from the upper half of the ceiling's interval


def test_asymmetric_intervals_keep_their_sides():
    wide_below = ratio_limits(Uncertain(0.5, 0.1, 0.55), Uncertain(0.8, 0.75, 0.85))
    assert wide_below[0] < 0.15
    assert wide_below[1] == pytest.approx(0.707, abs=0.01)
    outside = ratio_limits(Uncertain(0.5, 0.52, 0.6), Uncertain(0.8, 0.8, 0.8))  # as bootstraps may have it
    assert outside == pytest.approx((0.65, 0.75))


def test_correlated_errors_cancel():
    score, ceiling = symmetric(0.4, 0.04), symmetric(0.8, 0.08)
    apart, together = (ratio_limits(score, ceiling, correlation=rho) for rho in (0.0, 1.0))
    assert np.ptp(together) < 1e-6 < np.ptp(apart)


def test_what_cannot_be_related():
    assert np.isnan(ratio_limits(Uncertain(0.3, math.nan, math.nan), symmetric(0.5, 0.1))).all()
    assert np.isnan(ratio_limits(symmetric(0.3, 0.1), Uncertain(math.nan, math.nan, math.nan))).all()
    with pytest.raises(ValueError, match="positive ceiling"):
        ratio_limits(symmetric(0.3, 0.1), symmetric(-0.1, 0.1))
    with pytest.raises(ValueError, match=r"limits of the ceiling.*wrong order"):
        ratio_limits(symmetric(0.3, 0.1), Uncertain(0.5, 0.6, 0.4))
    with pytest.raises(ValueError, match=r"correlation is 1\.5"):
        ratio_limits(symmetric(0.3, 0.1), symmetric(0.5, 0.1), correlation=1.5)


def test_which_ceilings_leave_a_score_undetermined():
    assert "0.100, -0.010 to 0.200, includes 0" in undetermined_by(Uncertain(0.1, -0.01, 0.2))
    assert undetermined_by(Uncertain(0.1, 0.0, 0.2))
    assert undetermined_by(Uncertain(0.1, 0.001, 0.2)) is None
    assert undetermined_by(Uncertain(0.1, math.nan, math.nan)) is None
    assert undetermined_by(Uncertain(0.0, 0.0, 0.0)) is None


@pytest.mark.parametrize("form", ["ratio", "explained variance"])
@pytest.mark.parametrize(
    ("r", "c", "sr", "sc", "rho"),
    [(0.0, 0.2, 0.1, 0.1, 0.0), (0.1, 0.1, 0.03, 0.1, 0.5), (0.3, 0.5, 0.05, 0.2, -0.5), (0.6, 0.9, 0.02, 0.05, 0.7)],
)
def test_coverage(form, r, c, sr, sc, rho):
    """Of 400 experiments with known truth; perf/coverage_cases/ceiled.py counts more, with estimated errors."""
    truth = (r if form == "ratio" else r**2) / c
    drawn = np.random.default_rng(1).multivariate_normal(
        [r, c], [[sr**2, rho * sr * sc], [rho * sr * sc, sc**2]], size=400
    )
    drawn = drawn[drawn[:, 1] > 0]
    limits = np.array([ratio_limits(symmetric(x, sr), symmetric(y, sc), correlation=rho, form=form) for x, y in drawn])
    held = np.mean((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    assert 0.92 <= held <= 0.99  # 0.95 ± 2.7 standard errors; more where an infinite limit holds everything
