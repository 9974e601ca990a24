"""Vision: registries of benchmarks, data, metrics and models, and the functions that load from them.

A plugin registers what it offers, and is imported only when one of its entries is loaded::

    from brainscore_vision import model_registry

    model_registry['my-model'] = lambda: MyModel()

Listing a registry (``list(model_registry)``) reads the plugins' source and imports none of them.
"""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from brainscore_core.plugins import PluginIndex, Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.metrics import Ceiling, Metric, Score
    from brainscore_core.scoring import Outcome
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.model_interface import BrainModel

__all__ = [
    "Benchmark",
    "BrainModel",
    "Ceiling",
    "Metric",
    "Score",
    "benchmark_registry",
    "data_registry",
    "load_benchmark",
    "load_ceiling",
    "load_dataset",
    "load_metric",
    "load_model",
    "load_stimulus_set",
    "metric_registry",
    "model_registry",
    "plugin_index",
    "run_pair",
    "score",
    "stimulus_set_registry",
    "verify",
]

_LAZY = {
    "Benchmark": "brainscore_core.benchmarks",
    "BrainModel": "brainscore_vision.model_interface",
    "Ceiling": "brainscore_core.metrics",
    "Metric": "brainscore_core.metrics",
    "Score": "brainscore_core.metrics",
    "verify": "brainscore_vision.scoring",
}

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

# keys: the kinds that the provenance of a score uses
_REGISTRIES: dict[str, Registry[Any]] = {
    "benchmark": benchmark_registry,
    "data": data_registry,
    "metric": metric_registry,
    "model": model_registry,
    "stimulus_set": stimulus_set_registry,
}

T = TypeVar("T")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_dataset(identifier: str) -> DataAssembly:
    """Load measurements.

    Parameters
    ----------
    identifier : str
        Key of `data_registry`.

    Returns
    -------
    DataAssembly
        A new assembly; its ``attrs['identifier']`` is `identifier` unless the data set another one.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    brainscore_core.errors.UserError
        The plugin returns something other than an assembly, or needs a module that is not installed.
    Exception
        Any error of the plugin itself.
    """
    from brainscore_core.provenance import note
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_vision.public_variants import suggesting_public_variants

    with suggesting_public_variants(identifier, data_registry):
        assembly = _checked(data_registry, identifier, DataAssembly)
    if assembly.attrs.get("identifier") is None:
        assembly.attrs["identifier"] = identifier
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
    from brainscore_core.provenance import note
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.public_variants import suggesting_public_variants

    with suggesting_public_variants(identifier, stimulus_set_registry):
        stimulus_set = _named(_checked(stimulus_set_registry, identifier, StimulusSet), identifier)
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
    from brainscore_core.provenance import note

    metric = _named(metric_registry.make(identifier, *args, **kwargs), identifier)
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
    from brainscore_vision.composed_names import resolve_benchmark
    from brainscore_vision.public_variants import suggesting_public_variants

    key = resolve_benchmark(identifier)
    if key not in benchmark_registry:
        from brainscore_vision.composed import compose

        return compose(key)
    with suggesting_public_variants(key, benchmark_registry):
        return _named(benchmark_registry.make(key), key)


def load_model(identifier: str) -> BrainModel:
    """Make a model.

    Parameters
    ----------
    identifier : str
        Key of `model_registry`.

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
    return _named(model_registry.make(identifier), identifier)


def score(
    model_identifier: Any,
    benchmark_identifier: str,
    *,
    results: Any = None,
    identifier: str | None = None,
    isolated: bool = False,
    conda_active: bool | None = None,
    **how: Any,
) -> Score:
    """Score a model on a benchmark.

    Parameters
    ----------
    model_identifier : str, BrainModel, torch.nn.Module or callable
        Key of `model_registry`; ``path/to/file.py:make_model``; or the model itself, which does not have to be
        registered: a `BrainModel`, a network, an activations model, or a function of images.
    benchmark_identifier : str
        As for :func:`load_benchmark`.
    results : path or ResultsStore, optional
        Where to write the receipt.
    identifier : str, optional
        Name in the results, for a model that is not registered.
    isolated : bool
        Whether the model runs in a process of its own, in an environment with the packages of its
        ``requirements.txt``; the model must be registered or defined in a file.
    conda_active : bool, optional
        Has no effect; accepted for scripts written for brain-score 2.x.
    **how
        For a network or a function: ``layers``, ``region_layer_map``, ``preprocessing``, ``visual_degrees``. Missing
        layers are determined automatically: candidates cover the network, and one is selected for each region.

    Returns
    -------
    Score
        With ``raw``, ``ceiling``, ``error``, ``ci``, ``model_identifier`` and ``benchmark_identifier`` in its
        attributes; NaN if the model cannot do what the benchmark requires.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        The model or benchmark does not exist.
    brainscore_core.errors.UserError
        The object passed is not a model.
    Exception
        Any error of the model or the benchmark; the state in the receipt is then *failed*.

    Examples
    --------
    >>> import numpy as np
    >>> def coarse(images):
    ...     return np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])
    >>> result = score(coarse, "Simulated2026.V1-rdm")
    >>> bool(result.attrs["ci"][0] < float(result) < result.attrs["ci"][1])
    True
    """
    outcome: Outcome = run_pair(
        model_identifier, benchmark_identifier, results=results, identifier=identifier, how=how, isolated=isolated
    )
    return outcome.score


def run_pair(
    model_identifier: Any,
    benchmark_identifier: str,
    *,
    results: Any = None,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    isolated: bool = False,
    cage: Mapping[str, Any] | None = None,
    **options: Any,
) -> Outcome:
    """Score a model on a benchmark, and return the score together with its receipt.

    Parameters
    ----------
    model_identifier, benchmark_identifier, results, identifier, isolated
        See :func:`score`.
    how : mapping, optional
        The further keyword arguments of :func:`score`.
    cage : mapping, optional
        Runs the model isolated and in a sandbox without network: which files the model sees, and its limits
        (``files``, ``memory``, ``processes``, ``scratch``, …). An empty mapping: the defaults.
    **options
        As for `brainscore_core.scoring.run_pair`.

    Returns
    -------
    Outcome
        ``score`` and ``receipt``.
    """
    from brainscore_core import scoring
    from brainscore_core.errors import UserError
    from brainscore_core.provenance import note
    from brainscore_vision.composed_names import resolve_benchmark

    benchmark_identifier = resolve_benchmark(benchmark_identifier)
    closing: Any = contextlib.nullcontext()
    if isolated or cage is not None:
        from brainscore_vision.isolation import Isolation

        closing = isolation = Isolation(model_identifier, identifier=identifier, how=how, cage=cage)
        name, load, folders = isolation.name, isolation.load, isolation.folder
        options["run"] = isolation.add_run_info(options.get("run"))
    elif isinstance(model_identifier, str) and ".py:" not in model_identifier:
        if identifier is not None or how:
            raise UserError(
                f"{model_identifier!r} is registered: its plugin defines how it is made",
                "leave out " + ", ".join([*(["identifier"] if identifier else []), *(how or {})]),
            )
        model_registry.location(model_identifier)  # a wrong name raises before anything is loaded
        name, load, folders = model_identifier, load_model, registered_folder
    else:
        from brainscore_vision.unregistered_models import load_file_reference, to_unregistered_model

        source = None
        if isinstance(model_identifier, str):
            model_identifier, source = load_file_reference(model_identifier)
        unregistered = to_unregistered_model(model_identifier, identifier=identifier, source=source, **(how or {}))
        name = unregistered.identifier

        def load(identifier: str) -> BrainModel:
            for remark in unregistered.remarks:
                note("remark", text=remark)
            return unregistered.model

        def folders(kind: str, identifier: str) -> Path | None:
            return unregistered.source if kind == "model" else registered_folder(kind, identifier)

    from brainscore_vision.public_variants import scored_benchmark

    with closing, scored_benchmark(benchmark_identifier, benchmark_registry):
        return scoring.run_pair(
            name,
            benchmark_identifier,
            load_model=load,
            load_benchmark=load_benchmark,
            results=results,
            plugins=folders,
            **options,
        )


def registered_folder(kind: str, identifier: str) -> Path | None:
    """Folder of the plugin that registers an object; None if no plugin registers it."""
    registry = _REGISTRIES.get(kind)
    if registry is benchmark_registry and ":" in identifier and identifier not in registry:
        from brainscore_vision.composed_names import base_keys

        return registry.location(base_keys(identifier)[0]).folder  # the plugin of its recordings
    return registry.location(identifier).folder if registry is not None and identifier in registry else None


def _checked(registry: Registry[Any], identifier: str, expected: type[T]) -> T:
    """Make a registered object, and raise an error if it does not have the type of its registry."""
    from brainscore_core.errors import UserError

    loaded = registry.make(identifier)
    if not isinstance(loaded, expected):
        raise UserError(
            f"The {registry.noun} {identifier!r} ({registry.location(identifier)}) is of type "
            f"{type(loaded).__name__}, not a {expected.__name__}.",
            f"Its factory must return a {expected.__name__}.",
        )
    return loaded


def _named(loaded: T, identifier: str) -> T:
    """Set the identifier of an object without one to its registry key."""
    if getattr(loaded, "identifier", None) is None:
        with contextlib.suppress(AttributeError):  # objects without a __dict__ stay unnamed
            loaded.identifier = identifier  # type: ignore[attr-defined]
    return loaded
