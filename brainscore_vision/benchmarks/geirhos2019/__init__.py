"""Whether models recognise objects by their shape, as people do, or by their texture (Geirhos et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import benchmark_registry

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark


def _shape_bias() -> Benchmark:
    from brainscore_vision.benchmarks.geirhos2019.benchmark import Geirhos2019ShapeBias

    return Geirhos2019ShapeBias()


benchmark_registry["Geirhos2019-shape_bias"] = _shape_bias
