import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Islam2021-shape_v1_dimensionality": 0.2969,
    "Islam2021-texture_v1_dimensionality": 0.1719,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ALEXNET = {
    "Islam2021-shape_v1_dimensionality": 0.18310547,
    "Islam2021-texture_v1_dimensionality": 0.30834961,
    "Islam2021-shape_v2_dimensionality": 0.18310547,
    "Islam2021-texture_v2_dimensionality": 0.30834961,
    "Islam2021-shape_v4_dimensionality": 0.18310547,
    "Islam2021-texture_v4_dimensionality": 0.30834961,
    "Islam2021-shape_it_dimensionality": 0.18310547,
    "Islam2021-texture_it_dimensionality": 0.30834961,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert float(score.attrs["raw"]) == pytest.approx(OF_ALEXNET[identifier], abs=0.001)
