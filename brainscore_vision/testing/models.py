"""Small models for tests of benchmarks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.testing.pictures import block_means

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

_CLASSES = 1000
_INPUT = 32  # pixels


def small_models(visual_degrees: float = 8) -> list[FeatureModel]:
    """Two fast, different models: `small-grey` (64 grey levels) and `small-edges` (their differences).

    Both can be recorded in every region, and have a readout layer for behavior.

    Parameters
    ----------
    visual_degrees : float
        Visual angle that their input spans, in degrees.

    Examples
    --------
    >>> [model.identifier for model in small_models()]
    ['small-grey', 'small-edges']
    """
    return [
        FeatureModel("small-grey", {"features": _grey}, visual_degrees=visual_degrees, load=load_grey),
        FeatureModel("small-edges", {"features": _edges}, visual_degrees=visual_degrees, load=load_grey),
    ]


def small_labeller(seed: int = 0, *, visual_degrees: int = 8) -> "BrainModel":
    """A fast, untrained network with ImageNet's 1000 outputs, which labels images.

    Its weights are random, so its labels are about as accurate as chance.

    Parameters
    ----------
    seed : int
        Seed of its weights.
    visual_degrees : int
        Visual angle that its input spans, in degrees.

    Examples
    --------
    >>> import torch
    >>> small_labeller().identifier
    'small-labeller-0'
    """
    import torch

    from brainscore_vision.model_helpers.activations import PytorchWrapper
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    random = torch.Generator().manual_seed(seed)
    readout = torch.nn.Linear(192, _CLASSES)
    torch.nn.init.normal_(readout.weight, generator=random)
    torch.nn.init.normal_(readout.bias, generator=random)
    network = torch.nn.Sequential(torch.nn.AvgPool2d(_INPUT // 8), torch.nn.Flatten(), readout)
    identifier = f"small-labeller-{seed}"
    wrapper = PytorchWrapper(
        network, lambda paths: load_preprocess_images(paths, image_size=_INPUT), identifier=identifier
    )
    return ModelCommitment(
        identifier, wrapper, layers=["2"], behavioral_readout_layer="2", visual_degrees=visual_degrees
    )


def _grey(images: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.stack([block_means(image, 8) for image in images])


def _edges(images: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    changes = [np.diff(_grey(images), axis=axis).reshape(len(images), -1) for axis in (1, 2)]
    return np.abs(np.concatenate(changes, axis=1))
