"""Seven small untrained networks. ``$SCALE_PASSES``, a folder, gets a line for each image that passes one of them."""

import hashlib
import os
from pathlib import Path

from brainscore_vision import model_registry


def make(seed: int):
    import torch

    from brainscore_vision.model_helpers.activations import PytorchWrapper
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8 + seed, 7, stride=4),
            torch.nn.ReLU(),
            torch.nn.Conv2d(8 + seed, 12, 3, stride=2),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(12 * 7 * 7, 32),
        )
    identifier = f"scale-network-{seed}"
    if folder := os.environ.get("SCALE_PASSES"):
        network.register_forward_pre_hook(lambda module, inputs: write_down(inputs[0], Path(folder) / identifier))
    wrapper = PytorchWrapper(network, preprocess, identifier=identifier)
    regions = {"V1": "1", "V2": "1", "V4": "3", "IT": "3"}
    return ModelCommitment(
        identifier, wrapper, layers=["1", "3"], behavioral_readout_layer="5", region_layer_map=regions, visual_degrees=8
    )


def preprocess(paths):
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    return load_preprocess_images(paths, image_size=64)


def write_down(images, path: Path) -> None:
    with path.open("a") as file:
        file.writelines(f"{hashlib.sha1(image.numpy().tobytes()).hexdigest()}\n" for image in images)


model_registry["scale-network-0"] = lambda: make(0)
model_registry["scale-network-1"] = lambda: make(1)
model_registry["scale-network-2"] = lambda: make(2)
model_registry["scale-network-3"] = lambda: make(3)
model_registry["scale-network-4"] = lambda: make(4)
model_registry["scale-network-5"] = lambda: make(5)
model_registry["scale-network-6"] = lambda: make(6)
