"""A few images, a small network, a store of each test's own."""

import functools

import numpy as np
import pytest
from PIL import Image

from brainscore_core.activation_store import ActivationStore
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.preprocessing import load_preprocess_images


@pytest.fixture
def stimuli(tmp_path):
    """Seven images, of which the sixth has the content of the third."""
    rng = np.random.default_rng(0)
    pixels = [rng.integers(0, 255, (24, 24, 3), dtype=np.uint8) for _ in range(7)]
    pixels[5] = pixels[2]
    paths = {}
    for number, image in enumerate(pixels):
        path = tmp_path / f"image{number}.png"
        Image.fromarray(image).save(path)
        paths[f"s{number}"] = path
    found = StimulusSet({"stimulus_id": list(paths), "object_name": [f"o{number % 2}" for number in range(7)]})
    found.stimulus_paths = paths
    found.identifier = "seven"
    return found


@pytest.fixture
def store(tmp_path):
    return ActivationStore(tmp_path / "store")


@pytest.fixture
def preprocessing():
    return functools.partial(load_preprocess_images, image_size=16)


@pytest.fixture
def network():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 4, 3, stride=2)
            self.relu = torch.nn.ReLU(inplace=True)
            self.block = torch.nn.Conv2d(4, 4, 3, padding=1)
            self.head = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4 * 49, 5))
            self.seen = []

        def forward(self, images):
            self.seen.append(len(images))
            x = self.relu(self.conv(images))
            for _ in range(3):
                x = self.relu(self.block(x))
            return self.head(x)

    return Network().eval()
