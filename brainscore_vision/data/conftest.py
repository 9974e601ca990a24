"""Tests of data plugins that take a row of the plugin's tables run for each of them."""

import pytest

from brainscore_core.plugins.tables import table_keys

TABLES = {"assembly_key": "assemblies.csv", "stimuli_key": "stimulus_sets.csv"}


def pytest_generate_tests(metafunc):
    marks = pytest.mark.filterwarnings("ignore:Duplicate dimension names")
    for argument in TABLES.keys() & set(metafunc.fixturenames):
        keys = table_keys(metafunc.module.__file__, TABLES[argument])
        metafunc.parametrize(argument, [pytest.param(key, marks=marks, id=key) for key in keys])
