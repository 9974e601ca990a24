"""Tests of the tables of data plugins, which the ``test.py`` of a plugin imports; they run for each row."""

import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing.stand_ins import check_form, stand_in


@pytest.mark.sampled(2)
def test_stand_in(assembly_key):
    """The stand-in says that it is simulated."""
    assert stand_in(assembly_key).attrs["simulated"] == 1


@pytest.mark.sampled(2)
def test_stand_in_of_stimuli(stimuli_key):
    """Stimuli of the stand-in have different ids."""
    assert stand_in(stimuli_key)["stimulus_id"].is_unique


@pytest.mark.private_access
def test_published_assembly(assembly_key):
    """The published assembly has the form of its stand-in."""
    check_form(load_dataset(assembly_key), stand_in(assembly_key))


@pytest.mark.private_access
def test_published_stimuli(stimuli_key):
    """The published stimuli have the form of their stand-in."""
    check_form(load_stimulus_set(stimuli_key), stand_in(stimuli_key))
