import pytest

from brainscore_vision import load_benchmark
from brainscore_vision.testing import small_models

SIMULATED = {
    "Zerbe2026_fmri_persubject.V1-tau-ridgecv": 0.8062,
    "Zerbe2026_fmri.V1-rdm-pearson": 0.1192,
    "Zerbe2026_fmri.V1-cka": 0.1892,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""


@pytest.mark.slow(reason="fits the recordings of five subjects")
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=9.2)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1
