"""Metadata of the models and benchmarks of this package and its plugins, and which were trained on which stimuli.

>>> known = catalogue(models=[], benchmarks=["Geirhos2021edge-top1", "Kar2019-ost"])
>>> [(entry.identifier, entry.version, entry.parent) for entry in known.benchmarks]
[('Geirhos2021edge-top1', 1, 'Geirhos2021-top1'), ('Kar2019-ost', 2, 'IT')]
>>> known.benchmarks[1].metadata.data.species
'macaque'
>>> known.as_dict()["problems"]
[]
>>> found = findings_of([("alexnet", "Geirhos2021contrast-top1"), ("my-model", "ImageNet-top1")])
>>> [finding.state for finding in found.values()]
['trained on it', 'unknown']
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from brainscore_core.benchmarks.metadata import BenchmarkMetadata
from brainscore_core.benchmarks.model_metadata import ModelMetadata
from brainscore_core.catalogue import BenchmarkEntry, Catalogue, DomainCatalogue, ModelEntry, Problem
from brainscore_core.errors import UserError
from brainscore_vision.composition import base_keys
from brainscore_vision.model_sources.tables import table_regions
from brainscore_vision.registries import model_registry, resolve_benchmark
from brainscore_vision.training_data import packaged_models, packaged_stimuli

if TYPE_CHECKING:
    from brainscore_core.catalogue import ReadPlugin
    from brainscore_core.training_data import Exposure, Finding

__all__ = [
    "BenchmarkEntry",
    "Catalogue",
    "ModelEntry",
    "Problem",
    "catalogue",
    "explain_exposure",
    "exposure",
    "findings_of",
    "training_of",
    "training_sets",
]


def _with_training(identifier: str, metadata: ModelMetadata) -> ModelMetadata:
    """The metadata of a model, with what this package knows about its training."""
    packaged = packaged_models().get(identifier)
    if packaged is None:
        return metadata
    origin = metadata.fine_tuned_from or packaged.fine_tuned_from
    return replace(metadata, trained_on=packaged.trained_on, fine_tuned_from=origin)


def _with_origin(identifier: str, metadata: BenchmarkMetadata) -> BenchmarkMetadata:
    """The metadata of a benchmark, with what this package knows about its stimuli."""
    return replace(metadata, stimuli=replace(metadata.stimuli, taken_from=packaged_stimuli(identifier)))


def _layers(identifier: str, plugin: ReadPlugin) -> dict[str, tuple[str, ...]] | None:
    """Layers in the plugin's table, or its file for the model or for another identifier with equal metadata."""
    if plugin.place.folder is None:
        return None
    if plugin.built_in and (of_row := table_regions(plugin.place.folder, identifier)):
        return of_row
    table = plugin.metadata.table
    same = [name for name, metadata in table.items() if metadata == table.get(identifier)]
    names = (re.sub(r"[:/]", "_", name) for name in (identifier, *same))
    files = [plugin.place.folder / "region_layer_map" / f"{name}.json" for name in names]
    for file in [file for file in files if file.is_file()]:
        try:
            return {
                str(region): (layers,) if isinstance(layers, str) else tuple(map(str, layers))
                for region, layers in json.loads(file.read_text(encoding="utf-8")).items()
            }
        except (OSError, ValueError, AttributeError, TypeError):
            return None  # running the model raises the error
    return None


def _recordings(benchmark: str) -> str | None:
    """The registered benchmark whose stimuli a composed benchmark has; None if there is none."""
    try:
        return base_keys(benchmark)[0] if ":" in benchmark else None
    except UserError:
        return None


catalogue = DomainCatalogue("vision", _with_training, _with_origin, _layers, _recordings)
training_of = catalogue.training_of
findings_of = catalogue.findings_of


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
