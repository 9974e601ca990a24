"""The rows of this plugin's tables."""

import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import check_form, stand_in


@pytest.mark.sampled(2)
def test_stand_in(assembly_key):
    assert stand_in(assembly_key).attrs["simulated"] == 1


@pytest.mark.private_access
def test_published_assembly(assembly_key):
    check_form(load_dataset(assembly_key), stand_in(assembly_key))


@pytest.mark.private_access
def test_published_stimuli(stimuli_key):
    check_form(load_stimulus_set(stimuli_key), stand_in(stimuli_key))
