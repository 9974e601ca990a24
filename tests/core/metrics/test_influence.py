"""What units do to a score follows the score through arithmetic and ceilings."""

import numpy as np
import pytest

from brainscore_core.benchmarks import bound_score, ceil_score, explained_variance, normalise
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


@pytest.fixture
def score():
    score = Score(-0.4)
    score.attrs["scale"] = "correlation"
    influence = DataAssembly(
        [0.3, -0.1, -0.2], coords={"stimulus_id": ("presentation", list("abc"))}, dims=["presentation"]
    )
    influence.attrs = {"bias": 0.05, "paired": 1}
    score.attrs["influence"] = influence
    return score


def test_multiples(score):
    before = score.attrs["influence"].copy()
    for result in (score * -2, -2 * score, score / -0.5, -(score * 2)):
        found = result.attrs["influence"]
        np.testing.assert_allclose(found.values, [-0.6, 0.2, 0.4])
        assert found.attrs == {"bias": pytest.approx(-0.1), "paired": 1}
        assert found["stimulus_id"].values.tolist() == list("abc")
    assert before.identical(score.attrs["influence"])


@pytest.mark.parametrize("operation", [lambda x: x + 1, lambda x: x + x, lambda x: x.mean(keep_attrs=True)])
def test_other_arithmetic_forgets_it(score, operation):
    assert "influence" not in operation(score).attrs


@pytest.mark.parametrize(
    ("relate", "slope"),
    [
        (lambda score: ceil_score(score, 0.8), 1 / 0.8),
        (lambda score: explained_variance(score, 0.8), 2 * 0.4 / 0.8),
        (lambda score: bound_score(ceil_score(score, 0.8)), 1 / 0.8),
    ],
)
def test_ceilings(score, relate, slope):
    found = relate(score).attrs["influence"]
    np.testing.assert_allclose(found.values, slope * np.array([0.3, -0.1, -0.2]), rtol=1e-6)
    assert found.attrs["bias"] == pytest.approx(slope * 0.05)


@pytest.mark.parametrize("relate", [lambda score: score * -2, lambda score: bound_score(ceil_score(score, 0.5))])
def test_further_units_follow(score, relate):
    score.attrs["further_influence"] = 10 * score.attrs["influence"]
    result = relate(score)
    assert len(result.attrs["further_influence"]) == 3
    np.testing.assert_allclose(result.attrs["further_influence"], 10 * result.attrs["influence"])
    assert "further_influence" not in (score + 1).attrs
    unceiled = Score(1.0)
    unceiled.attrs["meaning"] = "none"
    assert normalise(score, unceiled).attrs["further_influence"].identical(score.attrs["further_influence"])


def test_without_a_ceiling(score):
    ceiling = Score(1.0)
    ceiling.attrs["meaning"] = "none"
    assert normalise(score, ceiling).attrs["influence"].identical(score.attrs["influence"])


def test_a_score_without_it(score):
    del score.attrs["influence"]
    assert "influence" not in ceil_score(score * 2, 0.8).attrs
