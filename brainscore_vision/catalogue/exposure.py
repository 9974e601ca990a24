"""Whether models were trained on the stimuli of benchmarks, as far as it is stated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from brainscore_core.errors import UserError
from brainscore_vision.catalogue.contents import catalogue, stated_by
from brainscore_vision.composition import base_keys
from brainscore_vision.registries import benchmark_registry, model_registry, resolve_benchmark
from brainscore_vision.training_data import Exposure, Finding, Training, compare, inherited

__all__ = ["Exposure", "explain_exposure", "exposure", "findings_of", "training_of", "training_sets"]


def training_sets(model: str) -> tuple[str, ...] | None:
    """Names of the data sets that a registered model was trained on, with those of the models it was fine-tuned from.

    Result: empty for untrained models, and for those without trained parameters; None if the metadata of the model, or
    of one that it was fine-tuned from, do not state them.

    Examples
    --------
    >>> training_sets("alexnet"), training_sets("alexnet-untrained"), training_sets("hmax")
    (('ImageNet (ILSVRC 2012)',), (), None)
    >>> training_sets("vit_base_patch16_clip_224:openai_ft_in1k")
    ('ImageNet (ILSVRC 2012)', 'WIT-400M')
    """
    training = training_of(model)
    return training.names if training.complete else None


def training_of(model: str) -> Training:
    """Data sets of a registered model and of those that it was fine-tuned from, and whether all of these are stated."""
    model_registry.location(model)  # raises if it is unknown
    return inherited(model, stated_by())


def exposure(model: str, benchmark: str) -> Exposure:
    """Tell whether a model was trained on the stimuli of a benchmark, as far as it is stated.

    Result: the rule is that of :func:`brainscore_vision.training_data.compare`.

    Notes
    -----
    The names of data sets in the benchmark's ``stimuli.taken_from`` and in the ``trained_on`` of the model, and of
    those that it was fine-tuned from, are compared without regard to case. A name that states a part, such as
    ``'ImageNet (ILSVRC 2012), validation'``, is another data set than the whole. No pictures are compared.

    Examples
    --------
    >>> exposure("alexnet", "Geirhos2021contrast-top1"), exposure("alexnet", "ImageNet-top1")
    ('trained on it', 'clean')
    >>> exposure("clip", "Hebart2023-match")
    'unknown'
    """
    return explain_exposure(model, benchmark).state


def explain_exposure(model: str, benchmark: str) -> Finding:
    """Like :func:`exposure`, with the reason.

    Examples
    --------
    >>> explain_exposure("alexnet", "ImageNet-top1").reason
    'the stimuli are from ImageNet (ILSVRC 2012), validation, held out of ImageNet (ILSVRC 2012)'
    """
    model_registry.location(model)  # raises if it is unknown
    key = resolve_benchmark(benchmark)
    return findings_of([(model, key)])[model, key]


def findings_of(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Finding]:
    """Findings of many pairs; the metadata of each plugin are read once.

    `pairs`: what is not registered counts as not known.

    Examples
    --------
    >>> found = findings_of([("alexnet", "Geirhos2021contrast-top1"), ("my-model", "ImageNet-top1")])
    >>> [finding.state for finding in found.values()]
    ['trained on it', 'unknown']
    """
    pairs = list(dict.fromkeys(pairs))
    stated, compared = stated_by(), cache(compare)
    trainings = {model: inherited(model, stated) for model in {model for model, _ in pairs}}
    registered = frozenset(benchmark_registry)
    names = {benchmark: _recordings(benchmark, registered) for benchmark in {benchmark for _, benchmark in pairs}}
    entries = catalogue(models=[], benchmarks=set(filter(None, names.values()))).benchmarks
    taken_from = {entry.identifier: entry.metadata and entry.metadata.stimuli.taken_from for entry in entries}
    return {
        (model, benchmark): compared(trainings[model], taken_from.get(names[benchmark] or ""))
        for model, benchmark in pairs
    }


def _recordings(benchmark: str, registered: frozenset[str]) -> str | None:
    """The registered benchmark whose stimuli a benchmark has; None if there is none."""
    if benchmark in registered:
        return benchmark
    try:
        return base_keys(benchmark)[0] if ":" in benchmark else None
    except UserError:
        return None
