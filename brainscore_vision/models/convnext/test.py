import pytest
import torch

from brainscore_vision.models.convnext import model


def test_size_and_shapes(torchvision):
    with torch.device("meta"):
        network = model.MODEL.build().eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == 28_589_128
    shapes = {}
    for layer in ("features.4.1", "features.6.1", "classifier.2"):
        network.get_submodule(layer).register_forward_hook(
            lambda _, __, output, layer=layer: shapes.update({layer: tuple(output.shape[1:])})
        )
    network(torch.zeros(1, 3, 224, 224, device="meta"))
    assert shapes == {"features.4.1": (384, 14, 14), "features.6.1": (768, 7, 7), "classifier.2": (1000,)}
    assert len(model.MODEL.layers) == 30


def test_published_weights_load(torchvision, loads_weights):
    loads_weights("convnext", model)


def test_network_of_timm(torchvision, loads_weights):
    pytest.importorskip("timm")
    subject = loads_weights("convnext_tiny:in12k_ft_in1k", model, "IN12K", suffix=".bin")
    assert sum(parameter.numel() for parameter in subject.activations_model.model.parameters()) == 28_589_128
    assert subject.region_layer_map["V4"] == ["stages.2.downsample.1"]
    subject.start_task("label", "imagenet")


def test_preprocessing_of_timm(torchvision, two_stimuli):
    from PIL import Image

    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        configuration = timm.data.resolve_model_data_config(model.IN12K.build())
    transform = timm.data.create_transform(**configuration, is_training=False)
    path = two_stimuli.get_stimulus("first")
    ours = torch.from_numpy(model.IN12K.preprocessing([path])[0])
    torch.testing.assert_close(ours, transform(Image.open(path)), rtol=0, atol=1e-5)
