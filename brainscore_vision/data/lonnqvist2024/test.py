"""The rows of this plugin's tables."""

import pytest

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import stand_in


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", table_keys(__file__, "assemblies.csv"))
def test_stand_in(identifier):
    assembly = stand_in(identifier)
    assert assembly.attrs["simulated"] == 1
    assert assembly.size > 0


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", table_keys(__file__, "assemblies.csv"))
def test_published_assembly(identifier):
    """It is loaded, and has the dimensions and coordinates of its stand-in."""
    assembly, simulated = load_dataset(identifier), stand_in(identifier)
    assert type(assembly) is type(simulated)
    assert set(assembly.dims) >= set(simulated.dims)
    assert "stimulus_id" in assembly.coords


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", table_keys(__file__, "stimulus_sets.csv"))
def test_published_stimuli(identifier):
    stimuli = load_stimulus_set(identifier)
    assert stimuli["stimulus_id"].is_unique
    assert stimuli.get_stimulus(stimuli["stimulus_id"].iloc[0]).is_file()
