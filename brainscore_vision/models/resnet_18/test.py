import torch

from brainscore_vision import load_model
from brainscore_vision.models.resnet_18 import model


def test_same_outputs_as_torchvision(torchvision, cosine_weights, cosine_image):
    import torchvision.models

    ours, theirs = model.MODEL.build(), torchvision.models.resnet18(weights=None)
    assert sum(parameter.numel() for parameter in ours.parameters()) == 11_689_512
    cosine_weights(ours)
    theirs.load_state_dict(ours.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(ours(cosine_image(64)), theirs.eval()(cosine_image(64)))


def test_published_weights_load(loads_weights):
    loads_weights("resnet-18", model)


def test_each_time_that_the_relu_of_a_block_runs(two_stimuli):
    """``relu1`` and ``relu2`` of the published model: behind the first convolution, and what the block gives."""
    subject = load_model("resnet-18-untrained")
    network = subject.activations_model._model
    layers = ["layer3.0.relu-t0", "layer3.0.relu-t1", "layer3.0"]
    first, second, block = (torch.tensor(subject.activations(two_stimuli, layer).values) for layer in layers)
    inputs = []
    handle = network.layer3[0].conv2.register_forward_hook(lambda _, arguments, __: inputs.append(arguments[0].clone()))
    paths = [two_stimuli.get_stimulus(name) for name in two_stimuli["stimulus_id"]]
    with torch.no_grad():
        network(torch.from_numpy(model.MODEL.preprocessing(paths)))
    handle.remove()
    torch.testing.assert_close(first, inputs[0].flatten(1), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(second, block)
    assert abs(first - second).max() > 0.01
