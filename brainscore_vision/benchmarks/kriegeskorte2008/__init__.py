"""Representational dissimilarities of 92 objects in human and monkey IT (Kriegeskorte et al. 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark


def _human() -> Benchmark:
    from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import Kriegeskorte2008HumanRDM

    return Kriegeskorte2008HumanRDM()


def _monkey() -> Benchmark:
    from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import Kriegeskorte2008MonkeyRDM

    return Kriegeskorte2008MonkeyRDM()


benchmark_registry["Kriegeskorte2008.IT-human-rdm"] = _human
benchmark_registry["Kriegeskorte2008.IT-monkey-rdm"] = _monkey
