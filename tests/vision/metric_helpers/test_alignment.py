"""Arguments under earlier names, and coordinates that are missing or misplaced."""

import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError, also_named, as_table, coord_values
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def test_an_argument_under_two_names_is_refused():
    @also_named(assembly1="source")
    def compare(source):
        return source

    assert compare(assembly1=1) == compare(source=1) == 1
    with pytest.raises(TypeError, match="given an argument under two names"):
        compare(assembly1=1, source=2)


def test_coordinates_that_are_missing_or_misplaced_are_named():
    assembly = DataAssembly(
        [[1, 2]],
        coords={"stimulus_id": ("presentation", ["a"]), "subject": ("neuroid", ["x", "y"])},
        dims=["presentation", "neuroid"],
    )
    assert coord_values(assembly, "stimulus_id", role="target").tolist() == ["a"]
    with pytest.raises(MetricInputError, match="the source is a list, not an assembly"):
        as_table([1], ("presentation",), role="source")
    with pytest.raises(MetricInputError, match=r"the target has no coordinate 'truth'; its coordinates: .*stimulus_id"):
        coord_values(assembly, "truth", role="target")
    with pytest.raises(MetricInputError, match=r"'subject' of the target lies along \('neuroid',\), not along"):
        coord_values(assembly, "subject", role="target")
