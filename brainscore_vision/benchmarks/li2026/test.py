import numpy as np
import pytest

from brainscore_vision import load_benchmark
from brainscore_vision.testing import small_models

SIMULATED = {
    "Li2026.V1-ridgecv": 0.7334,
    "Li2026.V1-rdm": 0.0926,
    "Li2026.V1-pls": 0.75,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=11)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "fewest"), [("V1", 2000), ("V2", 2200), ("V4", 3000), ("IT", 20000)])
def test_published_size(region, fewest):
    recordings = load_benchmark(f"Li2026.{region}-ridgecv")._assembly.content
    assert recordings.sizes["presentation"] == 1000
    assert recordings.sizes["neuroid"] >= fewest
    compared = load_benchmark(f"Li2026.{region}-rdm")._assembly.content
    assert compared.sizes == recordings.sizes


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "animals"), [("V1", 2), ("V2", 2), ("V4", 2), ("IT", 5)])
def test_published_number_of_animals(region, animals):
    recordings = load_benchmark(f"Li2026.{region}-rdm")._assembly.content
    assert len(np.unique(recordings["subject"].values)) == animals
