import math

import numpy as np
import pytest

from brainscore_core.benchmarks import Benchmark, BenchmarkBase
from brainscore_core.metrics import Score


class Constant(BenchmarkBase):
    def __call__(self, candidate):
        return Score(1.0)


def make(ceiling_func):
    return Constant(identifier="Author2024-accuracy", version=1, ceiling_func=ceiling_func, parent="behavior")


@pytest.mark.parametrize("number", [1, 0.5, np.float32(0.5)])
def test_ceiling_may_be_a_plain_number(number):
    ceiling = make(lambda: number).ceiling
    assert isinstance(ceiling, Score)
    assert float(ceiling) == number
    assert math.isnan(ceiling.attrs["error"])
    assert "constant" in ceiling.attrs["error_reason"]


def test_ceiling_is_estimated_once():
    calls = []
    benchmark = make(lambda: calls.append(1) or Score(0.7))
    assert float(benchmark.ceiling) == float(benchmark.ceiling) == 0.7
    assert len(calls) == 1


def test_ceiling_of_a_wrong_type_names_the_benchmark():
    with pytest.raises(TypeError, match="Author2024-accuracy"):
        _ = make(lambda: "0.5").ceiling


@pytest.mark.parametrize("ceiling", [Score(0.5), None])
def test_the_ceiling_itself(ceiling):
    assert Constant(identifier="Author2024", ceiling=ceiling, version=1, parent=None).ceiling is ceiling


def test_a_benchmark_has_a_version_and_one_ceiling():
    with pytest.raises(TypeError, match=r"Author2024.* version"):
        Constant(identifier="Author2024", ceiling=None)
    with pytest.raises(TypeError, match="not both"):
        Constant(identifier="Author2024", ceiling_func=lambda: 1.0, ceiling=None, version=1)


def test_ceiling_func_must_be_callable():
    with pytest.raises(TypeError, match="lambda"):
        make(0.5)


def test_attributes():
    benchmark = make(lambda: 1)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == ("Author2024-accuracy", 1, "behavior")
    assert benchmark.bibtex is None
    assert benchmark.control is False
    assert "Author2024-accuracy" in repr(benchmark)


def test_the_contract_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Benchmark()
