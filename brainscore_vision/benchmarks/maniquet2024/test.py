import pytest

from brainscore_vision import load_benchmark
from brainscore_vision.testing import small_models

SIMULATED = {
    "Maniquet2024-confusion_similarity": 0.1244,
    "Maniquet2024-tasks_consistency": -0.1044,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1
