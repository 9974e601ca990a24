"""The rows of this plugin's tables."""

import pytest

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import load_stimulus_set
from brainscore_vision.testing import stand_in


@pytest.mark.sampled(2)
@pytest.mark.parametrize("identifier", table_keys(__file__, "stimulus_sets.csv"))
def test_stand_in(identifier):
    assert stand_in(identifier)["stimulus_id"].is_unique


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", table_keys(__file__, "stimulus_sets.csv"))
def test_published_stimuli(identifier):
    stimuli = load_stimulus_set(identifier)
    assert stimuli["stimulus_id"].is_unique
    assert stimuli.get_stimulus(stimuli["stimulus_id"].iloc[0]).is_file()
