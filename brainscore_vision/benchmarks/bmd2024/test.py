import pytest

from brainscore_core.errors import UnknownIdentifier
from brainscore_vision import load_benchmark
from brainscore_vision.benchmarks.bmd2024.benchmark import BMD2024AccuracyDistance

CEILINGS = {"texture_1": 0.98283, "texture_2": 0.97337, "dotted_1": 0.97837, "dotted_2": 0.93071}


def test_published_name():
    """How the kind is scored is tested in tests/vision/benchmark_helpers/test_tables.py."""
    benchmark = BMD2024AccuracyDistance("dotted_1")
    assert benchmark.identifier == "BMD2024.dotted_1Behavioral-accuracy_distance"
    assert benchmark.measurements().visual_degrees == 8
    with pytest.raises(UnknownIdentifier, match="texture_3"):
        BMD2024AccuracyDistance("texture_3")


@pytest.mark.private_access
@pytest.mark.parametrize("condition", CEILINGS)
def test_published_ceiling(condition):
    ceiling = load_benchmark(f"BMD2024.{condition}Behavioral-accuracy_distance").ceiling
    assert float(ceiling) == pytest.approx(CEILINGS[condition], abs=0.001)
