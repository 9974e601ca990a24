"""Whether models were trained on the stimuli of benchmarks, as far as their metadata state it."""

from __future__ import annotations

from typing import Final, Literal

from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata
from brainscore_vision.catalogue import catalogue
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.registries import base_keys, benchmark_registry, model_registry, resolve_benchmark

__all__ = ["PARTS_OF", "Exposure", "exposure", "training_sets"]

Exposure = Literal["clean", "unknown", "trained on it"]

PARTS_OF: Final[dict[str, tuple[str, ...]]] = {
    "imagenet-21k": ("imagenet (ilsvrc 2012)",),
    "imagenet-22k": ("imagenet-21k", "imagenet (ilsvrc 2012)"),
    "lvd-142m": ("imagenet-22k",),
}
"""Data set → data sets that it contains, in lower case (https://doi.org/10.48550/arXiv.2104.10972,
https://doi.org/10.48550/arXiv.2304.07193)."""


def training_sets(model: str) -> tuple[str, ...] | None:
    """Names of the data sets that a registered model was trained on, with those of the models it was fine-tuned from.

    Parameters
    ----------
    model : str
        Identifier.

    Returns
    -------
    tuple of str or None
        Empty for untrained models, and for those without trained parameters; None if the metadata of the model, or of
        one that it was fine-tuned from, do not state them.

    Raises
    ------
    UnknownIdentifier
        If the model is not registered.

    Examples
    --------
    >>> training_sets("pixels"), training_sets("alexnet-untrained"), training_sets("alexnet")
    ((), (), None)
    """
    names, complete = _stated(model)
    return tuple(dict.fromkeys(names)) if complete else None


def exposure(model: str, benchmark: str) -> Exposure:
    """Tell whether a model was trained on the stimuli of a benchmark, as far as their metadata state it.

    Parameters
    ----------
    model, benchmark : str
        Identifiers.

    Returns
    -------
    {'clean', 'unknown', 'trained on it'}
        ``'trained on it'`` if a data set in the benchmark's ``stimuli.taken_from`` is also in the model's
        ``trained_on`` or that of a model it was fine-tuned from, or is a part of one (:data:`PARTS_OF`). ``'clean'``
        if both are stated and have nothing in common, the model was trained on nothing, or the stimuli are in no other
        data set (``taken_from=()``). Otherwise ``'unknown'``.

    Raises
    ------
    UnknownIdentifier
        If one of them is not registered.

    Notes
    -----
    Names are compared without regard to case; data sets with different names count as different. A name that states a
    part, such as ``'ImageNet (ILSVRC 2012), validation'``, is another data set than the whole. No pictures are
    compared.

    Examples
    --------
    >>> exposure("pixels", "Simulated2026.V1-rdm"), exposure("alexnet", "Simulated2026.V1-rdm")
    ('clean', 'unknown')
    """
    metadata = _benchmark(benchmark)
    names, complete = _stated(model)
    if complete and not names:
        return "clean"
    taken_from = None if metadata is None else metadata.stimuli.taken_from
    if taken_from is None:
        return "unknown"
    if {name.lower() for name in taken_from} & _with_parts(names):
        return "trained on it"
    return "clean" if complete or not taken_from else "unknown"


def _stated(model: str) -> tuple[list[str], bool]:
    """Data sets of a model and of those that it was fine-tuned from, and whether all of these models state them."""
    names: list[str] = []
    seen: list[str] = []
    current: str | None = model
    while current is not None:
        metadata = _model(current) if current == model or current in model_registry else None
        if metadata is None or current in seen:
            return names, False
        seen.append(current)
        untrained = metadata.twin_of is not None or metadata.parameters == 0
        if metadata.trained_on is None and not untrained:
            return names, False
        names += metadata.trained_on or ()
        current = metadata.fine_tuned_from
    return names, True


def _with_parts(names: list[str]) -> set[str]:
    found: set[str] = set()
    left = [name.lower() for name in names]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += PARTS_OF.get(name, ())
    return found


def _model(identifier: str) -> ModelMetadata | None:
    model_registry.location(identifier)  # raises if it is unknown
    (entry,) = catalogue(models=[identifier], benchmarks=[]).models
    return entry.metadata


def _benchmark(identifier: str) -> BenchmarkMetadata | None:
    name = resolve_benchmark(identifier)
    if name not in benchmark_registry:
        name = base_keys(name)[0]  # the registered benchmark whose recordings a composed one uses
    (entry,) = catalogue(models=[], benchmarks=[name]).benchmarks
    return entry.metadata
