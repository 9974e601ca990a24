import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Allen2022_fmri.V1-ridge": 0.5673,
    "Allen2022_fmri.V1-rdm": 0.1474,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ALEXNET = {
    "Allen2022_fmri.V1-ridge": 0.4019,
    "Allen2022_fmri.V2-ridge": 0.4366,
    "Allen2022_fmri.V4-ridge": 0.3482,
    "Allen2022_fmri.IT-ridge": 0.287,
    "Allen2022_fmri.V4-rdm": 0.2358,
    "Allen2022_fmri_4subj.V1-ridge": 0.3965,
    "Allen2022_fmri_4subj.V2-ridge": 0.408,
    "Allen2022_fmri_4subj.V4-ridge": 0.3208,
    "Allen2022_fmri_4subj.IT-ridge": 0.2599,
    "Allen2022_fmri_4subj.V4-rdm": 0.22,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8.4)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize("identifier", OF_ALEXNET)
def test_published_score_of_alexnet(identifier):
    score = load_benchmark(identifier)(load_model("alexnet"))
    tolerance = 0.01 if identifier.endswith("IT-ridge") else 0.005
    assert float(score) == pytest.approx(OF_ALEXNET[identifier], abs=tolerance)
