import random
from datetime import timedelta
from functools import cache

import numpy as np
import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.fetch import HashMismatch
from brainscore_vision import load_model
from brainscore_vision.model_sources.tables import rows_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@cache
def rows():
    return {row.identifier: row for row in rows_of(__file__)}


def on_no_device(row):
    with torch.device("meta"):
        return row.network()


def weights_of(model):
    return model.activations_model.model.state_dict()


def same(weights, others):
    return all(value.equal(others[name]) for name, value in weights.items() if not name.startswith("aux"))


@pytest.fixture
def weights_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    return tmp_path


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """The cache of Hugging Face; ``hub(repository)`` returns the folder of its only commit."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))

    def folder_of(repository):
        folder = tmp_path / f"models--{repository.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text(COMMIT)
        (folder / "snapshots" / COMMIT).mkdir(parents=True)
        return folder / "snapshots" / COMMIT

    return folder_of


def of_training(weights):
    """A checkpoint as training libraries write it: durations, states of random numbers."""
    return {
        "state": {"model": weights, "timestamp": {"total_wct": timedelta(hours=3)}},
        "rng": [{"python": random.getstate(), "numpy": np.random.RandomState(0).get_state(), "torch": torch.zeros(2)}],
    }


CHECKPOINTS = {
    "effnetb1_cutmix_augmix_sam_e1_5avg_424x377": ("efnet_model.", lambda weights: {"model": weights, "epoch": 5}),
    "resnet50_finetune_cutmix_AVGe2e3_robust_linf8255_e0_247x234": (
        "module.model.efnet_model.",
        lambda weights: {"model": weights | {"module.attacker.model.conv1.weight": torch.zeros(1)}},
    ),
    "resnet18_imagenet21kP": ("module.", of_training),
    "ReAlnet07_cornet": ("realnet.", lambda weights: weights | {"fc_v1.weight": torch.zeros(1)}),
}
"""Model → the prefix of names in its published file, and what else the file has."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("identifier", CHECKPOINTS)
def test_weights_of_a_published_file(identifier, torchvision, constant_weights, tmp_path):
    pytest.importorskip("timm")
    row, (prefix, content) = rows()[identifier], CHECKPOINTS[identifier]
    network = row.network()
    weights = constant_weights(network)
    torch.save(content({prefix + name: value for name, value in weights.items()}), tmp_path / "file.pt")
    row.load(network, tmp_path / "file.pt")
    assert same(weights, network.state_dict())
    assert dict(row.subject(network).region_layer_map) == row.regions
    torch.save(content({"other." + name: value for name, value in weights.items()}), tmp_path / "file.pt")
    with pytest.raises(UserError, match="missing"):
        row.load(network, tmp_path / "file.pt")


def test_a_file_without_the_entry_is_named(tmp_path):
    torch.save({"weights": {}}, tmp_path / "file.pt")
    with pytest.raises(UserError, match=r"file\.pt"):
        rows()["resnet18_imagenet21kP"].load(torch.nn.Linear(1, 1), tmp_path / "file.pt")


def test_hash_of_a_published_file(torchvision, weights_folder):
    (weights_folder / "resnet18_fair.pth").write_bytes(b"something else")
    with pytest.raises(HashMismatch):
        load_model("resnet18_fair")


def test_stride_and_classes(torchvision):
    row = rows()["resnet18_fair"]
    shapes = {}
    network = on_no_device(row).eval()
    network.conv1.register_forward_hook(lambda _, __, output: shapes.update(conv1=tuple(output.shape)))
    assert network(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 200)
    assert shapes == {"conv1": (1, 64, 224, 224)}


def test_weights_of_timm(torchvision, hub, two_stimuli):
    pytest.importorskip("timm")
    from safetensors.torch import save_file

    network = rows()["convnext_femto_ols:d1_in1k"].network()
    save_file(network.state_dict(), hub("timm/convnext_femto_ols.d1_in1k") / "model.safetensors")
    model = load_model("convnext_femto_ols:d1_in1k")
    assert same(network.state_dict(), weights_of(model))
    source = f"timm/convnext_femto_ols.d1_in1k, revision {COMMIT}"
    assert model.remarks[0] == f"weights convnext_femto_ols.d1_in1k of timm, from {source}"
    assert model.region_layer_map["IT"] == ["stages.3.blocks.0.norm"]
    model.start_recording("V1", [(70, 170)])
    assert len(model.look_at(two_stimuli)) == 2


def test_weights_of_torchvision(torchvision, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    network = torchvision.models.googlenet(weights=None, init_weights=False)
    (tmp_path / "hub" / "checkpoints").mkdir(parents=True)
    url = torchvision.models.GoogLeNet_Weights.IMAGENET1K_V1.url
    torch.save(network.state_dict(), tmp_path / "hub" / "checkpoints" / url.rpartition("/")[2])
    model = load_model("inception_v1")
    assert same(weights_of(model), network.state_dict())
    assert model.activations_model.model.transform_input
    assert url in model.remarks[0]


def test_weights_of_transformers(torchvision, hub):
    pytest.importorskip("transformers")
    row = rows()["convnextv2-tiny"]
    network = row.network()
    network.save_pretrained(hub(row.weights))
    model = load_model("convnextv2-tiny")
    assert same(network.state_dict(), weights_of(model))
    assert model.remarks[0] == f"weights of {row.weights}, revision {COMMIT}"


def test_weights_that_are_neither_cached_nor_reachable(torchvision, hub):
    pytest.importorskip("timm")
    with pytest.raises(UserError, match=r"timm cannot load 'swin_small(.|\n)*\$HF_HOME"):
        load_model("swin_small_patch4_window7_224:ms_in22k_ft_in1k")
    with pytest.raises(UserError, match=r"huggingface cannot load 'facebook/convnextv2(.|\n)*\$HF_HOME"):
        load_model("convnextv2-tiny")


def test_without_weights(torchvision):
    torch.manual_seed(7)
    first = weights_of(load_model("resnet18_random"))
    assert same(first, weights_of(load_model("resnet18_random")))
