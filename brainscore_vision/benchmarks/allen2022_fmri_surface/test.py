import pytest

from brainscore_vision import load_benchmark, load_model
from brainscore_vision.testing import small_models

SIMULATED = {
    "Allen2022_fmri_surface.V1-ridge": 0.5673,
    "Allen2022_fmri_surface.V1-rdm": 0.1259,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ALEXNET = {
    "Allen2022_fmri_surface.V1-ridge": 0.4129,
    "Allen2022_fmri_surface.V2-ridge": 0.4409,
    "Allen2022_fmri_surface.V4-ridge": 0.4009,
    "Allen2022_fmri_surface.IT-ridge": 0.2975,
    "Allen2022_fmri_surface.V4-rdm": 0.2638,
    "Allen2022_fmri_surface_4subj.V1-ridge": 0.4062,
    "Allen2022_fmri_surface_4subj.V2-ridge": 0.4303,
    "Allen2022_fmri_surface_4subj.V4-ridge": 0.369,
    "Allen2022_fmri_surface_4subj.IT-ridge": 0.2804,
    "Allen2022_fmri_surface_4subj.V4-rdm": 0.2315,
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
