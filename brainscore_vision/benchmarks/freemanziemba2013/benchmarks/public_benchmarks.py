"""Benchmarks on the public part of the data, on which models can be tried without being submitted."""

from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
from brainscore_vision.benchmarks.freemanziemba2013.benchmarks.benchmark import pls_benchmark


def public_benchmark(region: str) -> NeuralBenchmark:
    """``FreemanZiemba2013public.<region>-pls``, region V1 or V2."""
    return pls_benchmark(
        region, access="public", identifier=f"FreemanZiemba2013.{region}.public-pls", version=1, parent=None
    )


def FreemanZiembaV1PublicBenchmark() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``FreemanZiemba2013public.V1-pls``."""
    return public_benchmark("V1")


def FreemanZiembaV2PublicBenchmark() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``FreemanZiemba2013public.V2-pls``."""
    return public_benchmark("V2")
