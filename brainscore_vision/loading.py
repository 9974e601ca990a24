"""Loading of what the registries name.

An error about denied access to private data suggests its public variants.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, TypeVar

from brainscore_core.errors import UserError
from brainscore_core.plugins import Registry
from brainscore_core.provenance import note
from brainscore_vision.registries import (
    benchmark_registry,
    data_registry,
    make,
    model_registry,
    resolve_benchmark,
    set_identifier,
    stimulus_set_registry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.model_interface import BrainModel

__all__ = [
    "LOADERS",
    "load_benchmark",
    "load_ceiling",
    "load_dataset",
    "load_metric",
    "load_model",
    "load_stimulus_set",
    "public_variants",
    "require_registered_model",
    "suggesting_public_variants",
]

_WORD = re.compile("private|public", re.IGNORECASE)

T = TypeVar("T")


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
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

    with suggesting_public_variants(identifier, data_registry):
        assembly = _make(data_registry, identifier, DataAssembly)
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
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    with suggesting_public_variants(identifier, stimulus_set_registry):
        stimulus_set = set_identifier(_make(stimulus_set_registry, identifier, StimulusSet), identifier)
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
    return make("metric", identifier, *args, **kwargs)


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
    key = resolve_benchmark(identifier)
    if key not in benchmark_registry:
        from brainscore_vision.composed import compose

        return compose(key)
    with suggesting_public_variants(key, benchmark_registry):
        return make("benchmark", key)


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
    return make("model", identifier)


def require_registered_model(model: str, identifier: str | None, how: Mapping[str, Any] | None) -> None:
    """Raise an error if a model is not registered, or is registered and gets options; nothing is imported."""
    superfluous = [*(["identifier"] if identifier is not None else []), *(how or {})]
    if superfluous:
        raise UserError(
            f"{model!r} is registered: its plugin defines how it is made", f"leave out {', '.join(superfluous)}"
        )
    model_registry.location(model)


def _make(registry: Registry[Any], identifier: str, expected: type[T]) -> T:
    """Make a registered object, and raise an error if it does not have the type of its registry."""
    loaded = registry.make(identifier)
    if not isinstance(loaded, expected):
        raise UserError(
            f"The {registry.noun} {identifier!r} ({registry.location(identifier)}) is of type "
            f"{type(loaded).__name__}, not a {expected.__name__}.",
            f"Its factory must return a {expected.__name__}.",
        )
    return loaded


LOADERS: dict[str, Callable[[str], Any]] = {
    "benchmark": load_benchmark,
    "data": load_dataset,
    "metric": load_metric,
    "model": load_model,
    "stimulus_set": load_stimulus_set,
}
"""Key of `brainscore_vision.registries.REGISTRIES` → the function that loads from this registry."""


def public_variants(identifier: str, names: Iterable[str]) -> list[str]:
    """Names that differ from `identifier` only in that they contain the word *public*.

    Examples
    --------
    >>> public_variants("MajajHong2015.private", ["MajajHong2015.public", "MajajHong2015.temporal.public"])
    ['MajajHong2015.public']
    >>> public_variants("MajajHong2015.IT-pls", ["MajajHong2015public.IT-pls", "MajajHong2015public.V4-pls"])
    ['MajajHong2015public.IT-pls']
    """
    if "public" in identifier.lower():
        return []
    wanted = _without_access(identifier)
    return sorted(name for name in names if "public" in name.lower() and _without_access(name) == wanted)


def _without_access(name: str) -> str:
    """The name without *public*, *private* and separators, in lower case."""
    return re.sub(r"[._-]", "", _WORD.sub("", name)).lower()


@contextlib.contextmanager
def suggesting_public_variants(identifier: str, registry: Registry[Any]) -> Iterator[None]:
    """Add the public variants of an object to errors about denied access to data."""
    try:
        yield
    except UserError as error:
        variants = public_variants(identifier, registry) if _is_access_denied(error) else []
        remark = f"A public variant of the {registry.noun} {identifier!r}: {', '.join(map(repr, variants))}."
        if variants and remark not in (error.remedy or ""):
            error.remedy = f"{error.remedy}\n{remark}" if error.remedy else remark
        raise


def _is_access_denied(error: UserError) -> bool:
    from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, SeveralFailures

    if isinstance(error, SeveralFailures):
        return any(isinstance(failure, AccessDenied) for failure in error.errors)
    return isinstance(error, AccessDenied)
