"""Models of other libraries: errors that name what is missing. The values are compared in ``test_sources.py``."""

import json
import sys

import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations import pretrained_models
from brainscore_vision.model_helpers.activations.pretrained_models import from_huggingface, from_timm, from_torchvision

TIMM = {
    "input_size": (3, 224, 224),
    "crop_pct": 0.875,
    "interpolation": "bicubic",
    "mean": (0.5,) * 3,
    "std": (0.5,) * 3,
}
PROCESSOR = {
    "do_resize": True, "size": {"height": 8, "width": 8}, "resample": 3, "do_rescale": True,
    "rescale_factor": 1 / 255, "do_normalize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
}  # fmt: skip


def network():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3))


@pytest.mark.parametrize(("build", "module"), [(from_timm, "timm"), (from_torchvision, "torchvision.models")])
def test_a_library_that_cannot_be_imported_is_named_with_the_remedy(monkeypatch, build, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=f"{module.partition('.')[0]} cannot be imported") as caught:
        build("resnet18")
    assert "from the same index" in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "resize"),
    [({}, 256), ({"crop_mode": "squash", "crop_pct": 1.0}, (224, 224)), ({"crop_pct": None}, 256)],
)
def test_preprocessing_follows_the_configuration_of_timm(changed, resize):
    preprocessing = pretrained_models._preprocessing({**TIMM, **changed})
    assert (preprocessing.resize, preprocessing.crop) == (resize, (224, 224))


@pytest.mark.parametrize("changed", [{"crop_mode": "border"}, {"input_size": (3, 224, 160)}])
def test_crops_that_are_not_supported_are_refused(changed):
    with pytest.raises(UserError, match="is not supported"):
        pretrained_models._preprocessing({**TIMM, **changed})


def test_settings_of_a_processor_come_from_a_mapping_a_file_or_an_object(tmp_path):
    class Processor:
        def to_dict(self):
            return PROCESSOR

    class Multimodal:
        image_processor = Processor()

    file = tmp_path / "preprocessor_config.json"
    file.write_text(json.dumps(PROCESSOR))
    for processor in (PROCESSOR, file, str(file), Processor(), Multimodal()):
        assert from_huggingface(network(), processor, store=None).identifier == "Sequential"
        assert pretrained_models._settings(processor) == PROCESSOR
    with pytest.raises(UserError, match="the preprocessing of images is not known"):
        from_huggingface(network(), store=None)
