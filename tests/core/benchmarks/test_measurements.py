"""What benchmarks say they measure."""

import numpy as np
import pytest

from brainscore_core.benchmarks.measurements import Measurements, measurements_of, measurements_or_none
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

RECORDINGS = NeuroidAssembly([[1.0], [2.0]], dims=["presentation", "neuroid"])


class Lab:
    identifier = "Lab2026-rdm"

    def __init__(self, define):
        self.measurements = define


def test_a_benchmark_may_say_nothing():
    assert measurements_or_none(object()) is None
    assert measurements_or_none(Lab(lambda: None)) is None
    with pytest.raises(UserError, match="'Lab2026-rdm' does not say what it measures"):
        measurements_of(Lab(lambda: None))


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (dict, "returned a dict"),
        (lambda: 1 / 0, "failed: ZeroDivisionError: division by zero"),
        (lambda: Measurements(benchmark="a", measured=RECORDINGS, region=1), "region of the measurements of 'a' is 1"),
        (lambda: Measurements(benchmark="a", measured=RECORDINGS, number_of_trials=None), "number_of_trials of"),
    ],
)
def test_what_is_wrong_is_named(define, message):
    with pytest.raises(UserError, match=message):
        measurements_or_none(Lab(define))


@pytest.mark.parametrize("measured", [None, np.ones((5, 3))])
def test_measured_is_an_assembly(measured):
    with pytest.raises(UserError, match="not an assembly or a stimulus set"):
        Measurements(benchmark="a", measured=measured).averaged()
