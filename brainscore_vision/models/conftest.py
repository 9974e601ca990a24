"""Fixtures for the tests of model plugins."""

import dataclasses
import hashlib
import re
import zipfile

import numpy as np
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


@pytest.fixture
def two_stimuli(tmp_path):
    """Two images of noise."""
    random = np.random.default_rng(0)
    stimuli = StimulusSet({"stimulus_id": ["first", "second"], "image_label": ["a", "b"]})
    stimuli.stimulus_paths = {name: tmp_path / f"{name}.png" for name in stimuli["stimulus_id"]}
    for path in stimuli.stimulus_paths.values():
        Image.fromarray(random.integers(0, 256, (60, 60, 3), dtype=np.uint8)).save(path)
    stimuli.identifier = "two-of-noise"
    return stimuli


@pytest.fixture
def constant_weights():
    """``constant_weights(module)``: a state dict that fits, each tensor of one value, small as a file."""
    import torch

    def make(module, prefix=""):
        weights = {}
        for number, (name, value) in enumerate(module.state_dict().items()):
            level = 0.001 * (number % 7 + 1) if value.is_floating_point() else 0
            constant = torch.tensor(level, dtype=value.dtype, device="cpu")  # the module may be on the device "meta"
            weights[prefix + name] = constant.expand(value.shape)  # its file holds one number
        return weights

    return make


@pytest.fixture
def place_reference(tmp_path, monkeypatch):
    """``place_reference(plugin_module, content)`` saves the weights file that a `ReferenceModel` loads.

    `change` is called with the path of the file before its hash is taken.
    """
    import torch

    def place(plugin, content, name="MODEL", suffix=None, change=None):
        model = getattr(plugin, name)
        folder = tmp_path / "weights"
        folder.mkdir(exist_ok=True)
        path = folder / (model.weights.name + (suffix or ""))
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif suffix == ".safetensors":
            from safetensors.torch import save_file

            save_file(content, path)
        else:
            torch.save(content, path)
        if change is not None:
            change(path)
        monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(folder))
        if hasattr(model.weights, "sha1"):  # replaced, since the model checks the hash of the published file
            kinds = {kind: getattr(model.weights, kind) for kind in ("sha1", "sha256_prefix")}
            digests = {
                "sha1": hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest(),
                "sha256_prefix": hashlib.sha256(path.read_bytes()).hexdigest()[:8],
            }
            weights = dataclasses.replace(model.weights, **{kind: digests[kind] for kind in kinds if kinds[kind]})
            monkeypatch.setattr(plugin, name, dataclasses.replace(model, weights=weights))
        return path

    return place


@pytest.fixture
def loads_weights(constant_weights, place_reference):
    """``loads_weights(identifier, plugin)`` loads a model with the weights of a file, and returns it."""
    import torch

    from brainscore_vision import load_model

    def load(identifier, plugin, name="MODEL", content=dict, **options):
        with torch.device("meta"):
            weights = constant_weights(getattr(plugin, name).build())
        place_reference(plugin, content(weights), name, **options)
        subject = load_model(identifier)
        assert subject.identifier == identifier
        loaded = subject.activations_model._model.state_dict()
        assert all(torch.equal(loaded[key], value) for key, value in weights.items())
        return subject

    return load


@pytest.fixture
def as_written_by():
    """``as_written_by(numpy)`` returns a function that renames NumPy's modules in a saved file as NumPy 1 or 2 does."""

    def written_by(numpy):
        module = {1: b"numpy.core.multiarray", 2: b"numpy._core.multiarray"}[numpy]

        def rename(path):
            with zipfile.ZipFile(path) as archive:
                content = {name: archive.read(name) for name in archive.namelist()}
            with zipfile.ZipFile(path, "w") as archive:
                for name, data in content.items():
                    archive.writestr(name, re.sub(rb"numpy\._?core\.multiarray", module, data))

        return rename

    return written_by


@pytest.fixture
def cosine_weights():
    """``cosine_weights(network)`` gives it weights that need no file: cosines, scaled by the fan-in."""
    import math

    import torch

    def fill(network):
        for number, (name, value) in enumerate(sorted(network.state_dict().items())):
            if not value.is_floating_point():
                continue
            wave = torch.cos(0.7 * torch.arange(value.numel(), dtype=torch.float64) + number).reshape(value.shape)
            if value.ndim > 1:
                wave = wave / math.sqrt(value[0].numel())
            elif name.endswith("running_var"):
                wave = 1 + 0.5 * wave
            elif name.endswith("weight"):
                wave = 1 + 0.1 * wave
            else:
                wave = 0.1 * wave
            value.copy_(wave)
        return network.eval()

    return fill


@pytest.fixture
def cosine_image():
    """``cosine_image(size)``: 1 × 3 × size × size, another wave in each colour."""
    import torch

    def make(size):
        steps = torch.arange(size, dtype=torch.float64)
        waves = [torch.cos(0.11 * (colour + 1) * steps[:, None] + 0.07 * steps[None]) for colour in range(3)]
        return torch.stack(waves)[None].float()

    return make
