"""Composed benchmarks, ``<data set>.<region>:<metric>[@<ceiling>]``: any metric on recordings of another benchmark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from brainscore_core.errors import UserError, nearest
from brainscore_core.plugins import Resolver
from brainscore_vision.registries import benchmark_registry, metric_registry

if TYPE_CHECKING:
    from pathlib import Path

    from brainscore_core.benchmarks import Benchmark


NAME_FORM = "<data set>.<region>:<metric>[@<ceiling>]"
"""Form of the name of a composed benchmark."""

NO_CEILING = "none"
"""Used in place of a ceiling's identifier: the score of the metric is not divided by a ceiling."""

_NAME = re.compile(r"([^:@\s]+):([^:@\s]+)(?:@([^:@\s]+))?")
_EXAMPLE = "MajajHong2015public.IT:cka_cv or MajajHong2015public.IT:ridge@internal_consistency"


class ComposedName(NamedTuple):
    """Parts of the identifier of a composed benchmark."""

    measurements: str
    """The part before the last ``-`` of a registered benchmark's identifier."""
    metric: str
    ceiling: str | None


def parse_name(identifier: str) -> ComposedName:
    """Split the identifier of a composed benchmark into its parts.

    A UserError if the identifier does not have the form :data:`NAME_FORM`.

    Examples
    --------
    >>> parse_name("MajajHong2015public.IT:ridge@internal_consistency")
    ComposedName(measurements='MajajHong2015public.IT', metric='ridge', ceiling='internal_consistency')
    """
    match = _NAME.fullmatch(identifier)
    if match is None:
        raise UserError(
            f"{identifier!r} is not a benchmark, and does not have the form {NAME_FORM}",
            remedy=f"write it as {_EXAMPLE}",
        )
    return ComposedName(*match.groups())


def base_keys(identifier: str) -> list[str]:
    """Registered benchmarks that may provide the recordings of a composed benchmark; no plugin is imported.

    `identifier`: identifier of a composed benchmark. Result: keys ``<measurements>-<metric>``, sorted. A UserError if
    there are none, or `identifier` does not have the form; an UnknownIdentifier if the metric or ceiling is not
    registered.

    Examples
    --------
    >>> base_keys("Simulated2026.IT:cka_cv")
    ['Simulated2026.IT-pls', 'Simulated2026.IT-rdm']
    """
    name = parse_name(identifier)
    metric_registry.location(name.metric)
    if name.ceiling not in {None, NO_CEILING}:
        metric_registry.location(str(name.ceiling))
    prefix = f"{name.measurements}-"
    keys = [key for key in benchmark_registry if key.startswith(prefix) and "-" not in key[len(prefix) :]]
    if not keys:
        near = nearest(name.measurements, sorted({key.rpartition("-")[0] for key in benchmark_registry}))
        remedy = f"nearest: {', '.join(near)}" if near else "list all benchmarks with: brainscore list benchmarks"
        if name.measurements in benchmark_registry:
            remedy = f"register {name.measurements!r} under a name that ends in its metric, such as {prefix}rdm"
        raise UserError(
            f"{identifier!r} needs the recordings of a benchmark {prefix}<metric>, but none is registered",
            remedy=remedy,
        )
    return keys


def _folder(identifier: str) -> Path | None:
    return benchmark_registry.location(base_keys(identifier)[0]).folder  # the plugin that provides the recordings


def _make(identifier: str) -> Benchmark:
    from brainscore_vision.composition.benchmarks import compose

    return compose(identifier)


benchmark_registry.resolver = Resolver(
    "composed benchmark",
    lambda name: ":" in name,
    base_keys,
    _folder,
    _make,
    bases=base_keys,
    about=f"Any metric on the recordings of a benchmark is a benchmark, too: {NAME_FORM}",
)
