import hashlib
from dataclasses import replace

import pytest
import torch

from brainscore_vision import load_model
from brainscore_vision.model_sources.tables import rows_of

B2, *_ = rows_of(__file__)


def test_weights_are_those_of_the_package():
    utils = pytest.importorskip("efficientnet_pytorch.utils")
    for row in rows_of(__file__):
        assert row.weights == utils.url_map_advprop[row.arguments["model_name"]]
        assert row.weights.endswith(f"-{row.sha256_prefix}.pth")


def test_weights_load(torchvision, constant_weights, tmp_path, monkeypatch):
    pytest.importorskip("efficientnet_pytorch")
    with torch.device("meta"):
        weights = constant_weights(B2.network())
    torch.save(weights, tmp_path / "AdvProp_efficientnet-b2.pth")
    digest = hashlib.sha256((tmp_path / "AdvProp_efficientnet-b2.pth").read_bytes()).hexdigest()
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    network, remark = replace(B2, sha256_prefix=digest[:8]).trained_network()
    assert remark == f"weights {B2.weights}"
    assert all(value.equal(network.state_dict()[name]) for name, value in weights.items())


def test_without_the_package_the_plugin_and_the_command_are_named(monkeypatch):
    import sys

    from brainscore_core.plugins import MissingRequirementError

    monkeypatch.setitem(sys.modules, "efficientnet_pytorch", None)
    with pytest.raises(MissingRequirementError, match=r"requirements\.txt"):
        load_model("AdvProp_efficientnet-b2")
