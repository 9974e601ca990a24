import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Hebart2023_fmri.V1-ridge": 0.7594,
    "Hebart2023_fmri.V1-ridgecv": 0.6901,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ALEXNET = {
    "Hebart2023_fmri.V1-ridgecv": 0.61209661,
    "Hebart2023_fmri.V2-ridgecv": 0.52677881,
    "Hebart2023_fmri.V4-ridgecv": 0.31539148,
    "Hebart2023_fmri.IT-ridgecv": 0.22902846,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=10)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert float(score) == pytest.approx(OF_ALEXNET[identifier], abs=0.001)
