"""Models of other libraries: errors that name what is missing. The values are compared in ``test_sources.py``."""

import json
import sys
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import from_settings
from brainscore_vision.model_helpers.activations.pretrained_models import (
    from_huggingface,
    from_timm,
    from_torchvision,
    own_preprocessing,
)

PROCESSOR = {
    "do_resize": True, "size": {"height": 8, "width": 8}, "resample": 3, "do_rescale": True,
    "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
}  # fmt: skip


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3))


@pytest.mark.parametrize(("build", "module"), [(from_timm, "timm"), (from_torchvision, "torchvision.models")])
def test_a_library_that_cannot_be_imported_is_named_with_the_remedy(monkeypatch, build, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=f"needs {module.partition('.')[0]}") as caught:
        build("resnet18")
    assert "pip install 'brainscore[models]'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "configured"),
    [
        ("resnet18", {"crop_mode": "squash", "crop_pct": 1.0}),
        ("resnet18", {"crop_mode": "border"}),
        ("resnet18", {"input_size": (3, 96, 64)}),
    ],
)
def test_preprocessing_is_that_of_timm(name, configured, tmp_path, torchvision):
    timm = pytest.importorskip("timm")
    made = timm.create_model(name, pretrained=False, pretrained_cfg_overlay=configured)
    transform = timm.data.create_transform(**timm.data.resolve_model_data_config(made))
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (70, 91, 3), dtype=np.uint8))
    found = np.asarray(own_preprocessing(made)[0].image(image))
    np.testing.assert_allclose(found, transform(image), atol=1e-5)


def test_a_size_of_images_is_that_of_the_network(torchvision):
    timm = pytest.importorskip("timm")
    small = timm.create_model("vit_tiny_patch16_224", pretrained=False, img_size=64, depth=1)
    image = Image.new("RGB", (70, 91))
    for model, size, shape in (
        ("vit_tiny_patch16_224", 96, (3, 96, 96)),
        ("resnet18", (96, 80), (3, 96, 80)),
        (small, None, (3, 64, 64)),
    ):
        wrapper = from_timm(model, pretrained=False, img_size=size, store=None)
        assert wrapper._extractor.preprocess.image(image).shape == shape


def test_settings_of_a_processor_come_from_a_mapping_or_a_file(tmp_path):
    file = tmp_path / "preprocessor_config.json"
    file.write_text(json.dumps(PROCESSOR))
    for processor in (PROCESSOR, file, str(file), tmp_path, {"image_processor": PROCESSOR}):
        wrapper = from_huggingface(network(), processor, store=None)
        assert wrapper._extractor.preprocess == from_settings(PROCESSOR)
    with pytest.raises(UserError, match="the preprocessing of images is not known"):
        from_huggingface(network(), store=None)
    for faulty in ({**PROCESSOR, "image_std": [0.0]}, {"image_processor_type": "AutoImageProcessor"}, tmp_path / "a"):
        with pytest.raises(UserError, match=r"image_std \(0.0|no image processor 'Auto|cannot be read"):
            from_huggingface(network(), faulty, store=None)


def test_unknown_names_of_models_are_explained(torchvision):
    pytest.importorskip("timm")
    for build in (from_torchvision, partial(from_timm, pretrained=False)):
        with pytest.raises(UserError, match=r"cannot make 'resnet19': .*\ndid you mean 'resnet18'"):
            build("resnet19")
    with pytest.raises(UserError, match=r"cannot make 'resnet18': 'FOO'\ncheck the name and the weights"):
        from_torchvision("resnet18", weights="ResNet18_Weights.FOO")
