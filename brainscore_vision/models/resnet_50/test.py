import pytest
import torch

from brainscore_vision.models.resnet_50 import model


def test_same_names_and_sizes_as_torchvision(torchvision):
    import torchvision.models

    with torch.device("meta"):
        ours, theirs = model.MODEL.build(), torchvision.models.resnet50(weights=None)
    assert sum(parameter.numel() for parameter in ours.parameters()) == 25_557_032
    shapes = [{name: value.shape for name, value in net.state_dict().items()} for net in (ours, theirs)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("identifier", ["resnet-50", "resnet50-sup"])
def test_published_weights_load_under_both_names(identifier, loads_weights):
    subject = loads_weights(identifier, model)
    regions = {region: subject.region_layer_map[region] for region in ("V1", "V2", "V4", "IT")}
    assert regions == {"V1": ["layer2.3"], "V2": ["layer3.0"], "V4": ["layer2.3"], "IT": ["layer4.0"]}
