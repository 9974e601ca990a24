import pytest

from brainscore_vision import load_benchmark
from brainscore_vision.testing import small_models

SIMULATED = {"MajajHong2015public.V4-reverse_pls": 0.5269}
"""Raw score of a small model on simulated data of the same form: it says nothing about brains."""


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models()[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("region", ["V4", "IT"])
def test_recordings_are_reliable_predictors(region):
    assert 0.5 < float(load_benchmark(f"MajajHong2015public.{region}-reverse_pls").ceiling) < 1
