import numpy as np
import pytest

from brainscore_core.metric_helpers.uncertainty import attach_influence
from brainscore_core.metrics import Score
from brainscore_vision import load_metric
from brainscore_vision.metrics.shape_bias.metric import CueCounts, bias_influence, shape_bias


def test_units_and_ids():
    score = attach_influence(Score(0.5), np.array([0.1, -0.1]), units="stimuli", ids=["b", "a"], bias=0.02)
    kept = score.attrs["influence"]
    assert kept.dims == ("presentation",)
    assert kept["stimulus_id"].values.tolist() == ["b", "a"]
    assert kept.attrs == {"bias": 0.02, "paired": 1}
    numbered = attach_influence(Score(0.5), np.zeros(3), units="pairs", paired=False).attrs["influence"]
    assert numbered["pair"].values.tolist() == [0, 1, 2]
    assert numbered.attrs["paired"] == 0
    own = attach_influence(Score(0.5), np.zeros(2), units="fold", ids=[4, 5]).attrs["influence"]
    assert own["fold"].values.tolist() == [4, 5]


def test_two_kinds_of_units():
    score = attach_influence(Score(0.5), np.zeros((2, 3)), units=("subjects", "stimuli"), ids=(["x", "y"], list("abc")))
    assert score.attrs["influence"].dims == ("subject", "presentation")
    assert score.attrs["influence"]["stimulus_id"].values.tolist() == list("abc")


def test_of_a_shape_bias_is_the_derivative_by_weights():
    rng = np.random.default_rng(0)
    counts = CueCounts(*rng.integers(0, 3, (2, 4, 6)))
    step, found = 1e-6, bias_influence(counts)

    def weighted(row, column):
        weights = np.ones((4, 6))
        weights[row, column] += step
        return shape_bias((weights * counts.shape).sum(), (weights * counts.texture).sum())

    numeric = np.array([[weighted(row, column) for column in range(6)] for row in range(4)])
    slopes = (numeric - shape_bias(counts.shape.sum(), counts.texture.sum())) / step * 24
    np.testing.assert_allclose(found, slopes, atol=1e-4)
    assert found.mean() == pytest.approx(0)


def test_of_effective_dimensionality_is_that_of_the_score():
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((80, 6)), rng.standard_normal((80, 6)) * np.arange(1, 7)

    def score(rows):
        return load_metric("effective_dimensionality")(
            *(
                NeuroidAssembly(
                    side[rows],
                    coords={"stimulus_id": ("presentation", rows), "neuroid_id": ("neuroid", np.arange(6))},
                    dims=["presentation", "neuroid"],
                )
                for side in (x, y)
            )
        )

    whole = score(np.arange(80))
    left_out = np.array([float(score(np.delete(np.arange(80), i))) for i in range(0, 80, 4)])
    jackknife = 79 * (float(whole) - left_out)
    found = whole.attrs["influence"].sortby("stimulus_id").values[::4]
    assert np.corrcoef(found, jackknife)[0, 1] > 0.97
    assert whole.attrs["influence"].std(ddof=1) / np.sqrt(80) == pytest.approx(whole.attrs["error"])
