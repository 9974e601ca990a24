import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Lonnqvist2024_InlabInstructionsBehavioralAccuracyDistance": 0.1851,
    "Lonnqvist2024_EngineeringAccuracy": 0.1333,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

CEILINGS = {
    "Lonnqvist2024_InlabInstructionsBehavioralAccuracyDistance": 0.95646366,
    "Lonnqvist2024_InlabNoInstructionsBehavioralAccuracyDistance": 0.84258475,
    "Lonnqvist2024_OnlineNoInstructionsBehavioralAccuracyDistance": 0.79752907,
}

OF_ALEXNET = {
    "Lonnqvist2024_InlabInstructionsBehavioralAccuracyDistance": 0.58568247,
    "Lonnqvist2024_InlabNoInstructionsBehavioralAccuracyDistance": 0.62883828,
    "Lonnqvist2024_OnlineNoInstructionsBehavioralAccuracyDistance": 0.78192183,
    "Lonnqvist2024_EngineeringAccuracy": 0.45,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=17.70753)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", CEILINGS)
def test_published_ceiling(identifier):
    assert float(load_benchmark(identifier).ceiling) == pytest.approx(CEILINGS[identifier], abs=0.001)


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    assert float(score.attrs["raw"]) == pytest.approx(OF_ALEXNET[identifier], abs=0.001)
