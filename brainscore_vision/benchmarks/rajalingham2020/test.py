import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.testing import small_models

SIMULATED = {
    "Rajalingham2020.IT-pls": 0.7615,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

CEILINGS = {
    "Rajalingham2020.IT-pls": 0.561013,
}

OF_ITSELF = {
    "Rajalingham2020.IT-pls": 0.693463,
}

OF_ALEXNET = {
    "Rajalingham2020.IT-pls": 0.147549,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", CEILINGS)
def test_published_ceiling(identifier):
    assert float(load_benchmark(identifier).ceiling) == pytest.approx(CEILINGS[identifier], abs=0.001)


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", OF_ITSELF)
def test_published_score_of_the_recordings(identifier):
    benchmark = load_benchmark(identifier)
    model = PrecomputedFeatures(benchmark._assembly.content, visual_degrees=benchmark._visual_degrees)
    assert float(benchmark(model).attrs["raw"]) == pytest.approx(OF_ITSELF[identifier], abs=0.005)


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert float(score.attrs["raw"]) == pytest.approx(OF_ALEXNET[identifier], abs=0.01)
