"""HMAX as a subject."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.reference_models import regions_of
from brainscore_vision.model_helpers.weights import WeightFile

if TYPE_CHECKING:
    import torch

    from brainscore_vision.models.hmax.architecture import HMAX

__all__ = ["LAYERS", "WEIGHTS", "architecture", "hmax", "load_weights", "subject"]

WEIGHTS: Final = WeightFile(
    name="universal_patch_set.mat",
    bucket="brainscore-storage",
    key="brainscore-vision/models/hmax/universal_patch_set.mat",
    version_id="null",
    sha1="acc7316fcb0d1797486bb62753b71e158216a92a",
)

LAYERS: Final = tuple(f"c2_{number}" for number in range(8))
"""By size of the patches, 2 to 16."""

_REGIONS = Path(__file__).with_name("region_layer_map") / "hmax.json"


def architecture() -> "HMAX":
    """HMAX with random patches.

    Examples
    --------
    >>> import torch
    >>> network: torch.nn.Module = architecture()
    >>> next(network.parameters()).shape
    torch.Size([400, 4, 2, 2])
    """
    from brainscore_vision.models.hmax.architecture import HMAX

    return HMAX()


def load_weights(module: "HMAX", path: str | os.PathLike[str]) -> None:
    """Put the universal set of patches, a MATLAB file, into `module`.

    Raises
    ------
    UserError
        If the file has another layout, or other patches than 400 of each size.
    """
    import torch

    from brainscore_vision.models.hmax.architecture import S2Layer, read_patches

    units = [child for child in module.children() if isinstance(child, S2Layer)]
    found = [torch.from_numpy(patches) for patches in read_patches(path)]
    wanted = [tuple(unit.patches.shape) for unit in units]
    if [tuple(patches.shape) for patches in found] != wanted:
        raise UserError(
            f"{os.fspath(path)} has patches of shapes {[tuple(patches.shape) for patches in found]}, not {wanted}",
            remedy="pass universal_patch_set.mat",
        )
    with torch.no_grad():
        for unit, patches in zip(units, found, strict=True):
            unit.patches.copy_(patches)


def hmax() -> ModelCommitment:
    """HMAX with the universal set of patches.

    Raises
    ------
    DataUnavailable
        If the patches are not here and cannot be fetched.
    """
    path = WEIGHTS.path()
    network = architecture()
    load_weights(network, path)
    return subject(network, "hmax")


def subject(network: "torch.nn.Module", identifier: str) -> ModelCommitment:
    """Make a subject of a network of this architecture, whatever its weights."""
    activations_model = PytorchWrapper(
        identifier=identifier, model=network, preprocessing=ImagePreprocessing(resize=(224, 224)), batch_size=16
    )
    return ModelCommitment(
        identifier=identifier,
        activations_model=activations_model,
        layers=LAYERS,
        behavioral_readout_layer=LAYERS[-1],
        region_layer_map=regions_of(_REGIONS, identifier),
        visual_degrees=8,
    )
