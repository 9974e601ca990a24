"""Controls of the method: recordings that a known subject predicts best, without and with context."""

from functools import partial

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.simulated_text2026.benchmark import SimulatedText2026

METADATA = read_metadata(__file__)

benchmark_registry["SimulatedText2026-ridge"] = SimulatedText2026
benchmark_registry["SimulatedContext2026-ridge"] = partial(SimulatedText2026, "SimulatedContext2026")
