import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Gifford2022.IT-ridge": 0.6577,
    "Gifford2022.IT-ridgecv": 0.6718,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ALEXNET = {
    "Gifford2022.IT-ridgecv": 0.2868879,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=7)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert float(score) == pytest.approx(OF_ALEXNET[identifier], abs=0.001)
