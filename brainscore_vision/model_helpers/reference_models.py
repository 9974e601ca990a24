"""Published networks as models: built, then loaded with their weights or left as initialised."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.layers import load_region_layer_map
from brainscore_vision.model_helpers.hub import HubFile, read_weights
from brainscore_vision.model_helpers.libraries import library
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, load_weights, seeded

if TYPE_CHECKING:
    import torch

__all__ = [
    "ReferenceModel",
    "load_timm_vit",
    "regions_of",
    "seeded",
    "timm_network",
    "torchvision_network",
    "torchvision_weights",
]


@dataclass(frozen=True, kw_only=True)
class ReferenceModel:
    """A published network: how to build it, where its weights are, and which layers to use.

    Parameters
    ----------
    build : callable
        Without arguments; returns the network with random weights.
    weights : WeightFile or HubFile
        The file with its weights.
    layers : sequence of str
        Candidate layers.
    preprocessing : ImagePreprocessing
        Image file → input.
    region_layer_map : path, optional
        JSON. Without it, layers are selected on benchmarks.
    behavioral_readout_layer : str, optional
        By default the last of `layers`.
    load : callable, optional
        ``load(network, path)``; by default
        :func:`~brainscore_vision.model_helpers.weights.load_weights`.
    read : callable, optional
        ``read(path)`` returns the network with its weights: instead of `build` and `load`, if the file defines the
        network.
    visual_degrees : float, optional
        Visual angle that the input spans, in degrees, if the publication states it.
    time_mapping : mapping, optional
        Region → time step → milliseconds after stimulus onset.
    batch_size : int
        Number of images that pass the network together.
    activations_identifier : str, optional
        Name in the recordings of the trained model, if it differs from the model's.
    """

    build: Callable[[], torch.nn.Module]
    weights: WeightFile | HubFile
    layers: Sequence[str]
    preprocessing: ImagePreprocessing
    region_layer_map: Path | None = None
    behavioral_readout_layer: str | None = None
    load: Callable[[torch.nn.Module, str | os.PathLike[str]], None] = load_weights
    read: Callable[[str | os.PathLike[str]], torch.nn.Module] | None = None
    visual_degrees: float | None = None
    time_mapping: Mapping[str, Mapping[int, tuple[int, int]]] | None = None
    batch_size: int = 64
    activations_identifier: str | None = None

    def subject(
        self, network: torch.nn.Module, identifier: str, *, activations_identifier: str | None = None
    ) -> ModelCommitment:
        """Make a model from a network of this architecture with any weights."""
        return ModelCommitment(
            identifier=identifier,
            activations_model=PytorchWrapper(
                identifier=activations_identifier or identifier,
                model=network,
                preprocessing=self.preprocessing,
                batch_size=self.batch_size,
            ),
            layers=self.layers,
            behavioral_readout_layer=self.behavioral_readout_layer,
            region_layer_map=None if self.region_layer_map is None else regions_of(self.region_layer_map, identifier),
            visual_degrees=self.visual_degrees,
            time_mapping=self.time_mapping,
        )

    def trained(self, identifier: str) -> ModelCommitment:
        """Make the model with its published weights.

        Raises
        ------
        DataUnavailable
            If the weights are not available locally and cannot be fetched.
        UserError
            If a library is missing, or the weights do not fit.
        """
        if self.read is not None:
            network = self.read(self.weights.path())
        else:
            with seeded(0):
                network = self.build()  # before the download, which is useless without the library
            self.load(network, self.weights.path())
        return self.subject(network, identifier, activations_identifier=self.activations_identifier)

    def untrained(self, identifier: str, *, seed: int = 0) -> ModelCommitment:
        """Make a model with the same network, layers and preprocessing, and weights as initialised.

        Returns
        -------
        ModelCommitment
            Weights are the same in each call with the same versions of torch and the library.
        """
        with seeded(seed):
            network = self.build()
        return self.subject(network, identifier)


def regions_of(path: Path, identifier: str) -> dict[str, str | list[str]] | None:
    """Region → layers in a plugin's JSON, for a model whose name differs from that of the file.

    None if the names are equal: :class:`~brainscore_vision.model_helpers.brain_transformation.ModelCommitment` then
    finds the file, and notes it with its recordings.
    """
    return None if path.stem == identifier else load_region_layer_map(path)


def torchvision_network(name: str, *, needed_by: str) -> Any:
    """Make a network of torchvision with random weights.

    Parameters
    ----------
    name : str
        Function of ``torchvision.models``, such as ``'alexnet'``.
    needed_by : str
        Identifier of the model, for messages.

    Raises
    ------
    UserError
        If torchvision cannot be imported.
    """
    return getattr(library("torchvision.models", needed_by=needed_by), name)(weights=None)


def torchvision_weights(name: str) -> WeightFile:
    """Weights at ``download.pytorch.org``, in a file whose name ends with the first digits of its sha256.

    Examples
    --------
    >>> torchvision_weights("vgg16-397923af.pth").sha256_prefix
    '397923af'
    """
    prefix = Path(name).stem.rpartition("-")[2]
    return WeightFile(name=name, url=f"https://download.pytorch.org/models/{name}", sha256_prefix=prefix)


def timm_network(name: str, *, needed_by: str) -> Any:
    """Make a network of timm with random weights.

    Raises
    ------
    UserError
        If timm cannot be imported.
    """
    return library("timm", needed_by=needed_by).create_model(name, pretrained=False)


def load_timm_vit(network: torch.nn.Module, path: str | os.PathLike[str], *, needed_by: str) -> None:
    """Load the weights of a vision transformer from the Hub into timm's network, mapping names if they differ.

    Raises
    ------
    UserError
        If timm cannot be imported, or the weights do not fit.
    """
    vision_transformer = library("timm.models.vision_transformer", needed_by=needed_by)
    weights = vision_transformer.checkpoint_filter_fn(dict(read_weights(path)), network)
    load_state_dict(network, weights, source=os.fspath(path))
