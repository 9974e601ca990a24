"""Language: registries of benchmarks, data, metrics and models, and the functions that load from them.

A plugin registers what it offers, and is imported only when one of its entries is loaded::

    from brainscore_language import model_registry

    model_registry["my-model"] = lambda: MySubject()
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.plugins import PluginIndex, Registry, Resolver
from brainscore_core.plugins.registry import registry_of
from brainscore_core.provenance import note
from brainscore_language.artificial_subject import ArtificialSubject

if TYPE_CHECKING:
    import os

    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.metrics import Score
    from brainscore_core.results.store import ResultsStore

__all__ = [
    "ArtificialSubject",
    "benchmark_registry",
    "data_registry",
    "load_benchmark",
    "load_dataset",
    "load_metric",
    "load_model",
    "metric_registry",
    "model_registry",
    "plugin_index",
    "score",
]

plugin_index = PluginIndex(
    "brainscore_language",
    folder=Path(__file__).parent,
    kinds=("benchmarks", "data", "metrics", "models"),
    registries=("benchmark_registry", "data_registry", "metric_registry", "model_registry"),
    variable="BRAINSCORE_PLUGINS",
    earlier_variable="BRAINSCORE_LANGUAGE_PLUGINS",
    entry_points="brainscore_language.plugins",
)
plugin_index.install()

_OPTION = " --domain language"
benchmark_registry: Registry[Benchmark] = registry_of("benchmark", plugin_index, _OPTION)
data_registry: Registry[Any] = registry_of("data", plugin_index, _OPTION)
metric_registry: Registry[Any] = registry_of("metric", plugin_index, _OPTION)
model_registry: Registry[ArtificialSubject] = registry_of("model", plugin_index, _OPTION)

REGISTRIES: dict[str, Registry[Any]] = {
    "benchmark": benchmark_registry,
    "data": data_registry,
    "metric": metric_registry,
    "model": model_registry,
}
"""Registry of each kind of object; kinds are named as in receipts."""


def _hub_subject(identifier: str) -> ArtificialSubject:
    from brainscore_language.model_helpers.hub import hub_subject

    subject: ArtificialSubject = hub_subject(identifier)
    return subject


model_registry.resolver = Resolver(
    "model of the Hugging Face hub",
    matches=lambda name: name.startswith("huggingface:"),
    require=lambda name: None,  # known when it is loaded
    folder=lambda name: None,
    make=_hub_subject,
)


def load_dataset(identifier: str) -> Any:
    """Load measurements, or other data such as the stimuli of a localizer.

    Groups of stimuli that the plugin declares (``STIMULUS_GROUPS``) are in ``attrs['stimulus_groups']``.

    Parameters
    ----------
    identifier : str
        Key of `data_registry`.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        Nothing is registered under this name; the message lists the nearest names.
    """
    loaded = data_registry.make(identifier)
    if hasattr(loaded, "attrs") and (groups := data_registry.declared_groups(identifier)) is not None:
        loaded.attrs.setdefault("stimulus_groups", groups)
    note("data", identifier=identifier)
    return loaded


def load_metric(identifier: str, *args: Any, **kwargs: Any) -> Any:
    """Make a metric: key of `metric_registry`, and its arguments."""
    metric = metric_registry.make(identifier, *args, **kwargs)
    note("metric", identifier=identifier)
    return metric


def load_benchmark(identifier: str) -> Benchmark:
    """Make a benchmark: key of `benchmark_registry`. Called with a subject, it returns a `Score`."""
    return benchmark_registry.make(identifier)


def load_model(identifier: str) -> ArtificialSubject:
    """Make a model: key of `model_registry`, or ``huggingface:NAME``. Its ``identifier`` is then this name."""
    model = model_registry.make(identifier)
    model.identifier = identifier  # type: ignore[method-assign,assignment] # as published plugins expect
    return model


def score(
    model_identifier: str,
    benchmark_identifier: str,
    conda_active: bool = False,
    *,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Score:
    """Score a model on a benchmark.

    Parameters
    ----------
    model_identifier : str
        Key of `model_registry`.
    benchmark_identifier : str
        Key of `benchmark_registry`.
    conda_active : bool
        Has no effect; accepted for scripts written for the earlier platform.
    results : ResultsStore or path, optional
        Where to write the receipt.

    Returns
    -------
    Score
        With ``raw``, ``ceiling``, ``error``, ``ci``, ``model_identifier`` and ``benchmark_identifier`` in its
        attributes, as far as the benchmark states them.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        The model or benchmark does not exist.
    Exception
        Any error of the model or the benchmark.
    """
    from brainscore_core.domains import domain
    from brainscore_core.runner.scoring import run_pair

    return run_pair(domain("language"), model_identifier, benchmark_identifier, results=results).score
