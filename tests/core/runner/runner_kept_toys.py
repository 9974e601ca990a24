"""The scorer of `runner_toys` with benchmarks that a template keeps; those named ``rare-…`` take long to load."""

import time

from runner_toys import score

__all__ = ["forget_benchmark", "keep_benchmark", "score"]


def keep_benchmark(benchmark, **options):
    if benchmark.startswith("rare"):
        time.sleep(0.7)
    return {}


def forget_benchmark(benchmark):
    pass
