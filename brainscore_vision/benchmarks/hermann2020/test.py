import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_labeller

SIMULATED = {
    "Hermann2020cueconflict-shape_bias": 0.6667,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_RESNET50 = {
    "Hermann2020cueconflict-shape_bias": 0.21392405,
    "Hermann2020cueconflict-shape_match": 0.14083333,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    pytest.importorskip("torch")
    benchmark = load_benchmark(identifier)
    score = benchmark(small_labeller())
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_RESNET50)
def test_published_score_of_resnet50(identifier):
    score = load_benchmark(identifier)(load_model("resnet-50"))
    assert float(score.attrs["raw"]) == pytest.approx(OF_RESNET50[identifier], abs=0.001)
