"""Names of composed benchmarks, parsed and resolved without importing a plugin.

A composed benchmark applies any metric and ceiling to the recordings of a registered benchmark; its name is
``<data set>.<region>:<metric>[@<ceiling>]``.
"""

import re
from typing import NamedTuple

from brainscore_core.errors import UserError, nearest
from brainscore_vision import benchmark_registry, metric_registry

__all__ = ["NAME_FORM", "NO_CEILING", "ComposedName", "base_keys", "parse_name", "resolve_benchmark"]

NAME_FORM = "<data set>.<region>:<metric>[@<ceiling>]"
"""How such a benchmark is named."""

NO_CEILING = "none"
"""In place of a ceiling's identifier: the score is that of the metric."""

_NAME = re.compile(r"([^:@\s]+):([^:@\s]+)(?:@([^:@\s]+))?")
_EXAMPLE = "MajajHong2015public.IT:cka_cv or MajajHong2015public.IT:ridge@internal_consistency"


class ComposedName(NamedTuple):
    """What the identifier of such a benchmark says."""

    measurements: str
    """What registered benchmarks are named before their last ``-``."""
    metric: str
    ceiling: str | None


def parse_name(identifier: str) -> ComposedName:
    """Take the identifier of such a benchmark apart.

    Raises
    ------
    UserError
        If it has not the form.

    Examples
    --------
    >>> parse_name("MajajHong2015public.IT:ridge@internal_consistency")
    ComposedName(measurements='MajajHong2015public.IT', metric='ridge', ceiling='internal_consistency')
    """
    match = _NAME.fullmatch(identifier)
    if match is None:
        raise UserError(
            f"{identifier!r} is no benchmark, and does not have the form {NAME_FORM}", remedy=f"write it as {_EXAMPLE}"
        )
    return ComposedName(*match.groups())


def base_keys(identifier: str) -> list[str]:
    """Registered benchmarks that may give the recordings, in order; no plugin is imported.

    Parameters
    ----------
    identifier : str
        Of a composed benchmark.

    Returns
    -------
    list of str
        Keys ``<measurements>-<metric>``, sorted.

    Raises
    ------
    UserError
        If there is none, or `identifier` has not the form.
    UnknownIdentifier
        If there is no such metric or ceiling.

    Examples
    --------
    >>> base_keys("Simulated2026.IT:cka_cv")
    ['Simulated2026.IT-pls', 'Simulated2026.IT-rdm']
    """
    name = parse_name(identifier)
    metric_registry.location(name.metric)
    if name.ceiling not in {None, NO_CEILING}:
        metric_registry.location(str(name.ceiling))
    start = f"{name.measurements}-"
    keys = [key for key in benchmark_registry if key.startswith(start) and "-" not in key[len(start) :]]
    if not keys:
        known = sorted({key.rpartition("-")[0] for key in benchmark_registry})
        near = nearest(name.measurements, known)
        raise UserError(
            f"no benchmark {start}<metric> is registered, from which {identifier!r} could take its recordings",
            remedy=f"nearest: {', '.join(near)}" if near else "list what there is with: brainscore list benchmarks",
        )
    return keys


def resolve_benchmark(identifier: str) -> str:
    """Give the key of a registered benchmark, or the name of a composed one, which then is one that can be made.

    Raises
    ------
    UserError
        If it is neither; before any plugin is imported.

    Examples
    --------
    >>> resolve_benchmark("Simulated2026.IT-pls"), resolve_benchmark("Simulated2026.IT:cka_cv")
    ('Simulated2026.IT-pls', 'Simulated2026.IT:cka_cv')
    """
    if ":" not in identifier or identifier in benchmark_registry:
        return benchmark_registry.resolve(identifier)
    base_keys(identifier)
    return identifier
