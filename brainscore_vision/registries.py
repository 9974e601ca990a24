"""Registries of benchmarks, data, metrics and models, and functions that load from them.

Looking up a name imports no plugin. Names that no plugin registers are made by the resolver of their kind.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from brainscore_core.errors import UserError
from brainscore_core.plugins import PluginIndex, Registry
from brainscore_core.plugins.registry import registry_of, suggesting_public_variants
from brainscore_core.provenance import note

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.model_interface import BrainModel

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

benchmark_registry: Registry[Benchmark] = registry_of("benchmark", plugin_index)
data_registry: Registry[DataAssembly] = registry_of("data", plugin_index)
metric_registry: Registry[Any] = registry_of("metric", plugin_index)
model_registry: Registry[BrainModel] = registry_of("model", plugin_index)
stimulus_set_registry: Registry[StimulusSet] = registry_of("stimulus_set", plugin_index)

REGISTRIES: dict[str, Registry[Any]] = {
    "benchmark": benchmark_registry,
    "data": data_registry,
    "metric": metric_registry,
    "model": model_registry,
    "stimulus_set": stimulus_set_registry,
}
"""Registry of each kind of object; kinds are named as in the provenance of scores."""


def resolve_benchmark(identifier: str) -> str:
    """Return the key of a registered benchmark, or the name of a composed benchmark; no plugin is imported.

    A UserError if there is neither a registered benchmark nor the parts of a composed benchmark.

    Examples
    --------
    >>> resolve_benchmark("Simulated2026.IT-pls"), resolve_benchmark("Simulated2026.IT:cka_cv")
    ('Simulated2026.IT-pls', 'Simulated2026.IT:cka_cv')
    """
    return benchmark_registry.resolve(identifier)


def registered_folder(kind: str, identifier: str) -> Path | None:
    """Folder of the plugin that registers an object, or of its resolver; None if there is neither."""
    registry = REGISTRIES.get(kind.rpartition(" ")[2])  # such as selection data
    return None if registry is None else registry.folder(identifier)


def load_dataset(identifier: str) -> DataAssembly:
    """Load measurements.

    Parameters
    ----------
    identifier : str
        Key of `data_registry`.

    Returns
    -------
    DataAssembly
        A new assembly; its ``attrs['identifier']`` is `identifier` unless the data set another one, and
        ``attrs['stimulus_groups']`` that of its plugin (`Registry.declared_groups`).

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    brainscore_core.errors.UserError
        The plugin returns something other than an assembly, or needs a module that is not installed.
    Exception
        Any error of the plugin itself.
    """
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

    with suggesting_public_variants(identifier, data_registry):
        assembly = _make(data_registry, identifier, DataAssembly)
    if assembly.attrs.get("identifier") is None:
        assembly.attrs["identifier"] = identifier
    if (groups := data_registry.declared_groups(identifier)) is not None:
        assembly.attrs.setdefault("stimulus_groups", groups)
    note("data", identifier=identifier)
    return assembly


def load_stimulus_set(identifier: str) -> StimulusSet:
    """Load stimuli.

    Parameters
    ----------
    identifier : str
        Key of `stimulus_set_registry`.

    Returns
    -------
    StimulusSet
        A new table; its ``identifier`` is `identifier` unless the stimuli set another one.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    brainscore_core.errors.UserError
        The plugin returns something other than a stimulus set, or needs a module that is not installed.
    Exception
        Any error of the plugin itself.
    """
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    with suggesting_public_variants(identifier, stimulus_set_registry):
        stimulus_set = _with_identifier(_make(stimulus_set_registry, identifier, StimulusSet), identifier)
    note("stimulus_set", identifier=identifier)
    return stimulus_set


def load_metric(identifier: str, *args: Any, **kwargs: Any) -> Any:
    """Make a metric.

    Parameters
    ----------
    identifier : str
        Key of `metric_registry`, for instance ``'pls'``.
    *args, **kwargs
        Arguments of the metric, for instance ``crossvalidation_kwargs=dict(splits=5)``.

    Returns
    -------
    Metric
        Called with a source and a target assembly, it returns a `Score`.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    Exception
        Any error of the plugin itself.
    """
    metric = _with_identifier(metric_registry.make(identifier, *args, **kwargs), identifier)
    note("metric", identifier=identifier)
    return metric


def load_ceiling(identifier: str, *args: Any, **kwargs: Any) -> Any:
    """Make a ceiling; ceilings are registered in `metric_registry`, like metrics.

    Parameters
    ----------
    identifier : str
        Key of `metric_registry`, for instance ``'internal_consistency'``.
    *args, **kwargs
        Arguments of the ceiling.

    Returns
    -------
    Ceiling
        Called with an assembly, it returns a `Score`.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    Exception
        Any error of the plugin itself.
    """
    return load_metric(identifier, *args, **kwargs)


def load_benchmark(identifier: str) -> Benchmark:
    """Make a benchmark.

    Parameters
    ----------
    identifier : str
        Key of `benchmark_registry`, or the benchmark's own ``identifier``; or, for any metric on the recordings of a
        registered benchmark, ``<data set>.<region>:<metric>[@<ceiling>]``, such as ``'MajajHong2015public.IT:cka_cv'``.

    Returns
    -------
    Benchmark
        A new benchmark; call it with a model to score the model.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    brainscore_core.errors.UserError
        Recordings, metric and ceiling of a composed benchmark do not fit together.
    Exception
        Any error of the plugin itself.
    """
    key = benchmark_registry.resolve(identifier)
    with suggesting_public_variants(key, benchmark_registry):
        return _with_identifier(benchmark_registry.make(key), key)


def load_model(identifier: str) -> BrainModel:
    """Make a model.

    Parameters
    ----------
    identifier : str
        Key of `model_registry`; or a model of a library, such as ``'timm:resnet18.a1_in1k'``, as for
        :func:`~brainscore_vision.model_sources.libraries.parse_library_model`.

    Returns
    -------
    BrainModel
        A new model.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    brainscore_core.plugins.MissingRequirementError
        The plugin needs a module that is not installed.
    Exception
        Any error of the plugin itself.
    """
    return _with_identifier(model_registry.make(identifier), identifier)


def _make(registry: Registry[Any], identifier: str, expected: type[T]) -> T:
    """Make a registered object; raise an error if it does not have the expected type."""
    loaded = registry.make(identifier)
    if not isinstance(loaded, expected):
        raise UserError(
            f"The {registry.noun} {identifier!r} ({registry.location(identifier)}) is of type "
            f"{type(loaded).__name__}, not a {expected.__name__}.",
            f"Its factory must return a {expected.__name__}.",
        )
    return loaded


def _with_identifier(loaded: T, identifier: str) -> T:
    """Set the identifier of an object without one, and return the object."""
    if getattr(loaded, "identifier", None) is None:
        with contextlib.suppress(AttributeError):  # an object without a __dict__ gets no identifier
            loaded.identifier = identifier  # type: ignore[attr-defined] # not every object takes one
    return loaded


LOADERS: dict[str, Callable[[str], Any]] = {
    "benchmark": load_benchmark,
    "data": load_dataset,
    "metric": load_metric,
    "model": load_model,
    "stimulus_set": load_stimulus_set,
}
"""The function that loads from each registry, by the keys of `REGISTRIES`."""
