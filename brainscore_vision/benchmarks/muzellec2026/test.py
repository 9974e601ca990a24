import numpy as np
import pytest

from brainscore_core.plugins import Registry
from brainscore_vision import data_registry, load_benchmark
from brainscore_vision.testing import small_models, stand_in
from brainscore_vision.testing.generators import recordings

SIMULATED = {"MajajHong2015public.V4-reverse_pls": 0.5688}
"""Raw score of a small model on simulated data of the same form: it says nothing about brains."""


@pytest.fixture
def more_neuroids(stand_ins, monkeypatch):
    """As many as the regression has components: the stand-in of these recordings has fewer."""
    make = Registry.make

    def made(self, key, *args, **kwargs):
        if self is not data_registry or key != "MajajHong2015.public":
            return make(self, key, *args, **kwargs)
        stimuli = stand_in("hvm-public")
        assembly = recordings(stimuli, name=key, subjects=("animal",), regions=("V4", "IT"), neuroids=30, repetitions=2)
        assembly["object_name"] = "presentation", np.repeat(stimuli["object_name"].to_numpy(), 2)
        assembly.attrs["stimulus_set"] = stimuli
        return assembly

    monkeypatch.setattr(Registry, "make", made)


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(more_neuroids, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models()[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0.9 < float(benchmark.ceiling) < 1


@pytest.mark.private_access
@pytest.mark.parametrize("region", ["V4", "IT"])
def test_recordings_are_reliable_predictors(region):
    assert 0.5 < float(load_benchmark(f"MajajHong2015public.{region}-reverse_pls").ceiling) < 1
