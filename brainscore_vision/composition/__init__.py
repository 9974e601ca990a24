"""Composed benchmarks: any metric and ceiling on the recordings of a registered benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision.composition.names import base_keys
from brainscore_vision.registries import Resolver, add_resolver, benchmark_registry

if TYPE_CHECKING:
    from pathlib import Path

    from brainscore_core.benchmarks import Benchmark


def _folder(identifier: str) -> Path | None:
    return benchmark_registry.location(base_keys(identifier)[0]).folder  # the plugin that provides the recordings


def _make(identifier: str) -> Benchmark:
    from brainscore_vision.composition.benchmarks import compose

    return compose(identifier)


add_resolver("benchmark", Resolver("composed benchmark", lambda name: ":" in name, base_keys, _folder, _make))
