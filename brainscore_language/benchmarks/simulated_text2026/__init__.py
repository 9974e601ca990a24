"""Control of the method: recordings that a known subject predicts best."""

from brainscore_language import benchmark_registry


def _benchmark():
    from brainscore_language.benchmarks.simulated_text2026.benchmark import SimulatedText2026

    return SimulatedText2026()


benchmark_registry["SimulatedText2026-ridge"] = _benchmark
