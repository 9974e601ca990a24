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
"""Form of the name of a composed benchmark."""

NO_CEILING = "none"
"""Instead of a ceiling's identifier: the score of the metric is not ceiled."""

_NAME = re.compile(r"([^:@\s]+):([^:@\s]+)(?:@([^:@\s]+))?")
_EXAMPLE = "MajajHong2015public.IT:cka_cv or MajajHong2015public.IT:ridge@internal_consistency"


class ComposedName(NamedTuple):
    """Parts of the identifier of a composed benchmark."""

    measurements: str
    """The identifier of a registered benchmark, up to its last ``-``."""
    metric: str
    ceiling: str | None


def parse_name(identifier: str) -> ComposedName:
    """Split the identifier of a composed benchmark into its parts.

    Raises
    ------
    UserError
        If it does not have the form.

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
    """Registered benchmarks that may provide the recordings, in order; no plugin is imported.

    Parameters
    ----------
    identifier : str
        Identifier of a composed benchmark.

    Returns
    -------
    list of str
        Keys ``<measurements>-<metric>``, sorted.

    Raises
    ------
    UserError
        If there are none, or `identifier` does not have the form.
    UnknownIdentifier
        If the metric or ceiling is not registered.

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
            remedy=f"nearest: {', '.join(near)}" if near else "list all benchmarks with: brainscore list benchmarks",
        )
    return keys


def resolve_benchmark(identifier: str) -> str:
    """Key of a registered benchmark, or the name of a composed benchmark that can be made.

    Raises
    ------
    UserError
        If it is neither. No plugin is imported.

    Examples
    --------
    >>> resolve_benchmark("Simulated2026.IT-pls"), resolve_benchmark("Simulated2026.IT:cka_cv")
    ('Simulated2026.IT-pls', 'Simulated2026.IT:cka_cv')
    """
    if ":" not in identifier or identifier in benchmark_registry:
        return benchmark_registry.resolve(identifier)
    base_keys(identifier)
    return identifier
