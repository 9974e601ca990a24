"""Vision: registries of benchmarks, data, metrics and models, and the functions that load from them.

A plugin registers what it offers; nothing is imported before somebody asks for it::

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

# by the kinds under which the provenance of a score names them
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
        A new assembly; its ``attrs['identifier']`` is `identifier` unless the data say otherwise.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under that name; the message has the nearest ones.
    brainscore_core.errors.UserError
        The plugin gives something that is no assembly, or needs what is not installed.
    Exception
        Whatever the plugin raises.
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
        A new table; its ``identifier`` is `identifier` unless the stimuli say otherwise.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under that name; the message has the nearest ones.
    brainscore_core.errors.UserError
        The plugin gives something that is no stimulus set, or needs what is not installed.
    Exception
        Whatever the plugin raises.
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
        For the metric, for instance ``crossvalidation_kwargs=dict(splits=5)``.

    Returns
    -------
    Metric
        Called with a source and a target assembly it gives a `Score`.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under that name; the message has the nearest ones.
    Exception
        Whatever the plugin raises.
    """
    from brainscore_core.provenance import note

    metric = _named(metric_registry.make(identifier, *args, **kwargs), identifier)
    note("metric", identifier=identifier)
    return metric


def load_ceiling(identifier: str, *args: Any, **kwargs: Any) -> Any:
    """Make a ceiling; ceilings stand in `metric_registry`, too.

    Parameters
    ----------
    identifier : str
        Key of `metric_registry`, for instance ``'internal_consistency'``.
    *args, **kwargs
        For the ceiling.

    Returns
    -------
    Ceiling
        Called with an assembly it gives a `Score`.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under that name; the message has the nearest ones.
    Exception
        Whatever the plugin raises.
    """
    return load_metric(identifier, *args, **kwargs)


def load_benchmark(identifier: str) -> Benchmark:
    """Make a benchmark.

    Parameters
    ----------
    identifier : str
        Key of `benchmark_registry`, or the benchmark's own ``identifier``; or for any metric on the recordings of a
        registered benchmark ``<data set>.<region>:<metric>[@<ceiling>]``, such as ``'MajajHong2015public.IT:cka_cv'``.

    Returns
    -------
    Benchmark
        A new benchmark, which scores a model that it is called with.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under that name; the message has the nearest ones.
    brainscore_core.errors.UserError
        Recordings, metric and ceiling do not go together.
    Exception
        Whatever the plugin raises.
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
        Nothing is registered under that name; the message has the nearest ones.
    brainscore_core.plugins.MissingRequirementError
        The plugin needs a module that is not installed.
    Exception
        Whatever the plugin raises.
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
        Key of `model_registry`; ``path/to/file.py:make_model``; or the model itself, which need not be registered:
        a `BrainModel`, a network, an activations model, a function of images.
    benchmark_identifier : str
        As for :func:`load_benchmark`.
    results : path or ResultsStore, optional
        Where to write the receipt.
    identifier : str, optional
        Name in the results of a model that is not registered.
    isolated : bool
        Whether the model answers from a process of its own, in an environment with what its ``requirements.txt`` asks
        for; it must be registered or stand in a file.
    conda_active : bool, optional
        Without effect; accepted for scripts written for brain-score 2.x.
    **how
        For a network or a function: ``layers``, ``region_layer_map``, ``preprocessing``, ``visual_degrees``. What is
        left out is found: layers that cover the network, one of them selected for each region.

    Returns
    -------
    Score
        With ``raw``, ``ceiling``, ``error``, ``ci``, ``model_identifier`` and ``benchmark_identifier`` in its
        attributes; NaN where the model cannot do what the benchmark asks.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        There is no such model or benchmark.
    brainscore_core.errors.UserError
        What was passed is no model.
    Exception
        Whatever the model or the benchmark raises; the receipt then says *failed*.

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
    """Score a model on a benchmark, and give the receipt, too.

    Parameters
    ----------
    model_identifier, benchmark_identifier, results, identifier, isolated
        See :func:`score`.
    how : mapping, optional
        What `score` takes as further keyword arguments.
    cage : mapping, optional
        Has the model run in a cage, isolated, without network and files; which files it sees and how much it may use:
        ``files``, ``memory``, ``processes``, ``scratch``, …. Empty: what is usual.
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
        options["run"] = isolation.run(options.get("run"))
    elif isinstance(model_identifier, str) and ".py:" not in model_identifier:
        if identifier is not None or how:
            raise UserError(
                f"{model_identifier!r} is registered: its plugin says how it is made",
                "leave out " + ", ".join([*(["identifier"] if identifier else []), *(how or {})]),
            )
        model_registry.location(model_identifier)  # a wrong name is said before anything is loaded
        name, load, folders = model_identifier, load_model, registered_folder
    else:
        from brainscore_vision.unregistered_models import load_file_reference, to_unregistered_model

        source = None
        if isinstance(model_identifier, str):
            model_identifier, source = load_file_reference(model_identifier)
        subject = to_unregistered_model(model_identifier, identifier=identifier, source=source, **(how or {}))
        name = subject.identifier

        def load(identifier: str) -> BrainModel:
            for remark in subject.remarks:
                note("remark", text=remark)
            return subject.model

        def folders(kind: str, identifier: str) -> Path | None:
            return subject.source if kind == "model" else registered_folder(kind, identifier)

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
    """Give the folder of the plugin that registers something; None for what is no plugin's."""
    registry = _REGISTRIES.get(kind)
    if registry is benchmark_registry and ":" in identifier and identifier not in registry:
        from brainscore_vision.composed_names import base_keys

        return registry.location(base_keys(identifier)[0]).folder  # its recordings are this plugin's
    return registry.location(identifier).folder if registry is not None and identifier in registry else None


def _checked(registry: Registry[Any], identifier: str, expected: type[T]) -> T:
    """Make something, and refuse it where it is of another type than its registry says."""
    from brainscore_core.errors import UserError

    made = registry.make(identifier)
    if not isinstance(made, expected):
        raise UserError(
            f"The {registry.noun} {identifier!r} ({registry.location(identifier)}) is of type "
            f"{type(made).__name__}, not a {expected.__name__}.",
            f"Its factory must return a {expected.__name__}.",
        )
    return made


def _named(made: T, identifier: str) -> T:
    """Give an object without an identifier the one under which it is registered."""
    if getattr(made, "identifier", None) is None:
        with contextlib.suppress(AttributeError):  # a class that takes no attributes goes without
            made.identifier = identifier  # type: ignore[attr-defined]
    return made
