import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation.layers import load_region_layer_map
from brainscore_vision.models.ViT_L_32_imagenet1k import METADATA, model
from brainscore_vision.models.ViT_L_32_imagenet1k.architecture import VisionTransformer

SMALL = {"image_size": 64, "patch_size": 16, "width": 24, "layers": 3, "heads": 4, "inner": 48, "classes": 10}


@pytest.fixture
def small():
    torch.manual_seed(0)
    return VisionTransformer(**SMALL).eval()


def test_size_and_names_of_the_release():
    with torch.device("meta"):
        network = model.MODEL.build()
    state = network.state_dict()
    assert sum(value.numel() for value in state.values()) == 306_632_680
    assert METADATA["ViT_L_32_imagenet1k"].parameters == 306_632_680
    assert state["positional_embedding.pos_embedding"].shape == (1, 145, 1024)
    assert state["class_token"].shape == (1, 1, 1024)
    assert state["patch_embedding.weight"].shape == (1024, 3, 32, 32)
    assert state["fc.weight"].shape == (1000, 1024)
    block = {name.removeprefix("transformer.blocks.23.") for name in state if ".blocks.23." in name}
    parts = ("attn.proj_q", "attn.proj_k", "attn.proj_v", "proj", "norm1", "norm2", "pwff.fc1", "pwff.fc2")
    assert block == {f"{part}.{kind}" for part in parts for kind in ("weight", "bias")}
    layers = dict(network.named_modules())
    assert [layers[layer].out_features for layer in model.MODEL.layers] == [1024] * 24


def test_same_outputs_as_torchvision(small, torchvision):
    import torchvision.models

    other = torchvision.models.VisionTransformer(
        image_size=64, patch_size=16, num_layers=3, num_heads=4, hidden_dim=24, mlp_dim=48, num_classes=10
    ).eval()
    own = small.state_dict()
    names = {"class_token": "class_token", "encoder.pos_embedding": "positional_embedding.pos_embedding"}
    for kind in ("weight", "bias"):
        names |= {f"conv_proj.{kind}": f"patch_embedding.{kind}", f"encoder.ln.{kind}": f"norm.{kind}"}
        names |= {f"heads.head.{kind}": f"fc.{kind}"}
        for number in range(3):
            theirs, ours = f"encoder.layers.encoder_layer_{number}", f"transformer.blocks.{number}"
            names |= {f"{theirs}.ln_1.{kind}": f"{ours}.norm1.{kind}", f"{theirs}.ln_2.{kind}": f"{ours}.norm2.{kind}"}
            names |= {f"{theirs}.self_attention.out_proj.{kind}": f"{ours}.proj.{kind}"}
            names |= {f"{theirs}.mlp.0.{kind}": f"{ours}.pwff.fc1.{kind}"}
            names |= {f"{theirs}.mlp.3.{kind}": f"{ours}.pwff.fc2.{kind}"}
    weights = {name: own[ours] for name, ours in names.items()}
    for number in range(3):
        for kind in ("weight", "bias"):
            projections = [own[f"transformer.blocks.{number}.attn.proj_{part}.{kind}"] for part in "qkv"]
            weights[f"encoder.layers.encoder_layer_{number}.self_attention.in_proj_{kind}"] = torch.cat(projections)
    other.load_state_dict(weights)
    images = torch.randn(3, 3, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(small(images), other(images), rtol=1e-4, atol=1e-5)


def test_tokens_of_the_published_layers(small, two_stimuli):
    activations_model = PytorchWrapper(
        identifier="small", model=small, preprocessing=ImagePreprocessing(resize=(64, 64)), store=None
    )
    activations = activations_model(two_stimuli, layers=["transformer.blocks.1.pwff.fc2"])
    assert activations.shape == (2, (4 * 4 + 1) * 24)


def test_a_state_dict_loads_and_another_is_refused(small, tmp_path):
    path = tmp_path / model.MODEL.weights.name
    torch.save(small.state_dict(), path)
    other = VisionTransformer(**SMALL).eval()
    images = torch.randn(1, 3, 64, 64)
    model.MODEL.load(other, path)
    with torch.no_grad():
        assert torch.equal(small(images), other(images))
    with torch.device("meta"):
        large = model.MODEL.build()
    with pytest.raises(UserError, match=r"missing \(transformer\.blocks\.3.*of another shape"):
        model.MODEL.load(large, path)


def test_published_layers_of_the_regions():
    from pathlib import Path

    path = Path(model.__file__).parent / "region_layer_map" / "ViT_L_32_imagenet1k.json"
    found = load_region_layer_map(path)
    assert {region: layer.split(".")[2] for region, layer in found.items()} == {
        "V1": "2",
        "V2": "16",
        "V4": "0",
        "IT": "6",
    }
    assert set(found.values()) <= set(model.MODEL.layers)
