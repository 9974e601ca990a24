"""HMAX as a subject."""

import os
from pathlib import Path
from typing import Final

import torch

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.models.hmax.architecture import HMAX, S2Layer, read_patches


def load_weights(module: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Put the universal set of patches, a MATLAB file, into `module`.

    A UserError if the file has another layout, or other patches than 400 of each size.
    """
    units = [child for child in module.children() if isinstance(child, S2Layer)]
    patch_sets = [torch.from_numpy(patches) for patches in read_patches(path)]
    shapes = [tuple(unit.patches.shape) for unit in units]
    if [tuple(patches.shape) for patches in patch_sets] != shapes:
        raise UserError(
            f"{os.fspath(path)} has patches of shapes {[tuple(patches.shape) for patches in patch_sets]}, not {shapes}",
            remedy="pass universal_patch_set.mat",
        )
    with torch.no_grad():
        for unit, patches in zip(units, patch_sets, strict=True):
            unit.patches.copy_(patches)


MODEL: Final = ReferenceModel(
    build=HMAX,
    weights=WeightFile(
        name="universal_patch_set.mat",
        bucket="brainscore-storage",
        key="brainscore-vision/models/hmax/universal_patch_set.mat",
        version_id="null",
        sha1="acc7316fcb0d1797486bb62753b71e158216a92a",
    ),
    layers=tuple(f"c2_{number}" for number in range(8)),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
    region_layer_map=Path(__file__).with_name("region_layer_map") / "hmax.json",
    load=load_weights,
    batch_size=16,
)
"""Layers: by size of the patches, 2 to 16."""
