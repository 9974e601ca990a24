import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics.factors import factor_dimensions
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

FACTORS = np.repeat(["texture", "shape", "colour"], [30, 40, 20])


def _pairs(q=64, *, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, len(FACTORS), q)) * rng.uniform(0.1, 4, q) + offset
    shared = {"texture": 20, "shape": 40, "colour": 5}
    for factor, dims in shared.items():
        b[factor == FACTORS, :dims] = a[factor == FACTORS, :dims]
    return a, b


def _assembly(values, factors=FACTORS):
    return NeuroidAssembly(
        values,
        coords={
            "factor": ("presentation", factors),
            "stimulus_id": ("presentation", np.arange(len(factors))),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
            "layer": ("neuroid", ["fc"] * values.shape[1]),
        },
        dims=["presentation", "neuroid"],
    )


def _reference(a, b, factors):
    """One factor after the other, in Python's numbers."""
    center = np.concatenate([a, b]).mean(axis=0)
    variance = np.mean([((x - center) ** 2).sum() for x in (*a, *b)])
    scores = {}
    for factor in sorted(set(factors)):
        own_a, own_b = a[factors == factor], b[factors == factor]
        m = np.concatenate([own_a, own_b]).mean(axis=0)
        scores[factor] = np.mean([(x - m) @ (y - m) for x, y in zip(own_a, own_b, strict=True)]) / variance
    weights = np.exp([*scores.values(), 1.0])
    return scores, weights / weights.sum()


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_equals_the_definition(offset):
    a, b = _pairs(offset=offset)
    scores, shares = _reference(*_pairs(), FACTORS)
    for i, factor in enumerate(["colour", "shape", "texture"]):
        score = load_metric("factor_dimensionality", factor=factor)(_assembly(a), _assembly(b))
        assert float(score) == np.floor(shares[i] * 64) / 64
        assert score.attrs["unrounded"] == pytest.approx(shares[i], abs=1e-9)
        assert float(score.attrs["factor_scores"].sel(factor=factor)) == pytest.approx(scores[factor], abs=1e-9)
        assert score.attrs["scale"] == "similarity"
    assert score.attrs["raw"]["factor"].values.tolist() == ["colour", "shape", "texture", "residual"]
    assert int(score.attrs["dimensions"].sum()) == 64


def test_shares_of_identical_and_of_unrelated_pairs():
    """All pairs equal: scores are 1 as the residual's. None related: scores are 0."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 2000, 3000))
    factors = np.repeat(["shape", "texture"], 1000)
    same = load_metric("factor_dimensionality", "shape")(_assembly(a, factors), _assembly(a, factors))
    unrelated = load_metric("factor_dimensionality", "shape")(_assembly(a, factors), _assembly(b, factors))
    assert float(same) == pytest.approx(1 / 3, abs=2e-3)
    assert float(unrelated) == pytest.approx(1 / (2 + np.e), abs=2e-3)


def test_left_out_pairs_equal_doing_it_again():
    a, b = _pairs(offset=2.0)
    result = factor_dimensions(a, b, FACTORS)
    for i in (0, 35, 89):
        again = factor_dimensions(*(np.delete(x, i, axis=0) for x in (a, b)), np.delete(FACTORS, i))
        np.testing.assert_allclose(result.left_out[i], again.shares[:-1], atol=1e-12)


@pytest.mark.parametrize("factor", ["shape", "residual"])
@pytest.mark.slow(reason="estimates an error from many simulations")
def test_error_is_that_of_repeated_draws(factor):
    rng = np.random.default_rng(0)
    factors = np.repeat(["shape", "texture"], 50)
    values, errors = [], []
    for _ in range(150):
        a, b = rng.standard_normal((2, 100, 30))
        b[:50, :10] = a[:50, :10] = 3 * a[:50, :10]
        score = load_metric("factor_dimensionality", factor=factor)(_assembly(a, factors), _assembly(b, factors))
        values.append(score.attrs["unrounded"])
        errors.append(score.attrs["error"])
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)
    low, high = score.attrs["ci"]
    assert low < score.attrs["unrounded"] < high


def test_model_that_does_not_vary():
    flat = _assembly(np.ones((len(FACTORS), 5)))
    score = load_metric("factor_dimensionality", factor="shape")(flat, flat)
    assert np.isnan(float(score))
    assert "alike to all stimuli" in score.attrs["error_reason"]


def test_single_pair_of_a_factor_has_no_interval():
    a, b = _pairs()
    factors = np.where(np.arange(len(FACTORS)) == 0, "size", FACTORS)
    score = load_metric("factor_dimensionality", factor="shape")(_assembly(a, factors), _assembly(b, factors))
    assert np.isfinite(float(score))
    assert "single pair" in score.attrs["ci_reason"]


def test_what_is_no_pair_is_refused():
    a, b = (_assembly(x) for x in _pairs())
    metric = load_metric("factor_dimensionality", factor="shape")
    with pytest.raises(MetricInputError, match="row i of both is a pair"):
        metric(a, b.isel(presentation=slice(1, None)))
    with pytest.raises(MetricInputError, match="row 0 is a pair of 'texture' in the first"):
        metric(a, b.isel(presentation=slice(None, None, -1)))
    with pytest.raises(MetricInputError, match="no pair has the factor 'size'"):
        load_metric("factor_dimensionality", factor="size")(a, b)
    with pytest.raises(MetricInputError, match="no coordinate 'factor'"):
        metric(a, b.drop_vars(["factor"]))
    b.values[2, 3] = np.nan
    with pytest.raises(MetricInputError, match="second assembly holds NaN"):
        metric(a, b)
