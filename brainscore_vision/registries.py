"""Registries of benchmarks, data, metrics and models, and the names that they resolve.

A composed benchmark applies any metric and ceiling to the recordings of a registered benchmark; its name is
``<data set>.<region>:<metric>[@<ceiling>]``. Looking up a name imports no plugin.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from brainscore_core.errors import UserError, nearest
from brainscore_core.plugins import PluginIndex, Registry
from brainscore_core.provenance import note

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.model_interface import BrainModel

__all__ = [
    "NAME_FORM",
    "NO_CEILING",
    "REGISTRIES",
    "ComposedName",
    "base_keys",
    "benchmark_registry",
    "data_registry",
    "make",
    "metric_registry",
    "model_registry",
    "parse_name",
    "plugin_index",
    "registered_folder",
    "resolve_benchmark",
    "set_identifier",
    "stimulus_set_registry",
]

T = TypeVar("T")

plugin_index = PluginIndex(
    "brainscore_vision",
    folder=Path(__file__).parent,
    kinds=("benchmarks", "data", "metrics", "models"),
    registries=(
        "benchmark_registry",
        "data_registry",
        "metric_registry",
        "model_registry",
        "stimulus_set_registry",
    ),
    variable="BRAINSCORE_PLUGINS",
    entry_points="brainscore_vision.plugins",
)
plugin_index.install()

benchmark_registry: Registry[Benchmark] = Registry(
    "benchmark_registry", noun="benchmark", index=plugin_index, list_command="brainscore list benchmarks"
)
data_registry: Registry[DataAssembly] = Registry(
    "data_registry", noun="dataset", index=plugin_index, list_command="brainscore list data"
)
metric_registry: Registry[Any] = Registry(
    "metric_registry", noun="metric", index=plugin_index, list_command="brainscore list metrics"
)
model_registry: Registry[BrainModel] = Registry(
    "model_registry", noun="model", index=plugin_index, list_command="brainscore list models"
)
stimulus_set_registry: Registry[StimulusSet] = Registry(
    "stimulus_set_registry", noun="stimulus set", index=plugin_index, list_command="brainscore list stimulus-sets"
)

REGISTRIES: dict[str, Registry[Any]] = {
    "benchmark": benchmark_registry,
    "data": data_registry,
    "metric": metric_registry,
    "model": model_registry,
    "stimulus_set": stimulus_set_registry,
}
"""Kind, as the provenance of a score names it → registry."""

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


def registered_folder(kind: str, identifier: str) -> Path | None:
    """Folder of the plugin that registers an object; None if no plugin registers it."""
    registry = REGISTRIES.get(kind)
    if registry is benchmark_registry and ":" in identifier and identifier not in registry:
        return registry.location(base_keys(identifier)[0]).folder  # the plugin of its recordings
    return registry.location(identifier).folder if registry is not None and identifier in registry else None


def make(kind: str, identifier: str, *args: Any, **kwargs: Any) -> Any:
    """Make a registered benchmark, metric or model.

    Parameters
    ----------
    kind : str
        Key of `REGISTRIES`. A metric is noted in the provenance of the score.
    identifier : str
        Key of the registry; the ``identifier`` of an object that has none of its own.
    *args, **kwargs
        Arguments of the factory.

    Returns
    -------
    object
        What the factory returned.

    Examples
    --------
    >>> make("metric", "pls").identifier
    'pls'
    """
    made = set_identifier(REGISTRIES[kind].make(identifier, *args, **kwargs), identifier)
    if kind == "metric":
        note(kind, identifier=identifier)
    return made


def set_identifier(loaded: T, identifier: str) -> T:
    """Set the identifier of an object without one, and return the object."""
    if getattr(loaded, "identifier", None) is None:
        with contextlib.suppress(AttributeError):  # objects without a __dict__ stay unnamed
            loaded.identifier = identifier  # type: ignore[attr-defined]
    return loaded
