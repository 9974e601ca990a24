"""Scores of the layers of a model on a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brainscore_core.errors import UserError
from brainscore_core.plugins.loading import is_file_reference, load_file_reference
from brainscore_core.results.layer_profile import LayerProfile
from brainscore_vision.model_helpers.brain_transformation import LayerSelection, ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.selection import load_selection_benchmark
from brainscore_vision.model_sources.unregistered import to_unregistered_model
from brainscore_vision.registries import load_model


def layer_profile(
    model: str, benchmark: str, layers: Sequence[str] = (), *, halves: int = 5, seed: int = 0
) -> LayerProfile:
    """Score the layers of a model on a benchmark, and on random halves of its stimuli.

    `model`: identifier, or ``path/to/file.py:make_model``. `benchmark`: identifier. `layers`: names or patterns; by
    default the model's candidate layers. `halves`, `seed`: number of random divisions of the stimuli, and their seed. A
    UserError if the model has no layers.
    """
    if is_file_reference(model):
        network, path = load_file_reference(model)
        model, subject, *_ = to_unregistered_model(network, source=path, layers=layers or None)
    else:
        subject = load_model(model)
    if not isinstance(subject, ModelCommitment):
        raise UserError(
            f"the model {model!r} is a {type(subject).__name__} without layers to choose among",
            "choose a model that is a network, such as one made with ModelCommitment",
        )
    selection = LayerSelection(
        model, subject.activations_model, layers or subject.layers, visual_degrees=subject.visual_degrees()
    )
    loaded = load_selection_benchmark(benchmark)
    profile = selection.profile(loaded, halves=halves, seed=seed)
    try:
        committed, source = subject.committed_layers(loaded)
    except UserError as error:  # there are no other data to select on
        committed, source = (), error.message
    return replace(profile, committed=committed, committed_by=source)
