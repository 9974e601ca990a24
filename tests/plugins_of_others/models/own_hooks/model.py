"""Wrappers that read a network's layers in their own way: a block returns a state besides its output."""

import functools
from collections import OrderedDict

import torch
from torch.autograd import Variable

from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images

LAYERS = ["conv", "block"]


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4 * 5 * 5, 16)

    def forward(self, x):
        state = x.mean()
        return self.linear(x.flatten(1)), state


class Network(torch.nn.Module):
    def __init__(self, classes=1000):
        super().__init__()
        torch.manual_seed(2)
        self.conv = torch.nn.Conv2d(3, 4, kernel_size=4, stride=3)
        self.block = Block()
        self.head = torch.nn.Linear(16, classes)

    def forward(self, x):
        output, _ = self.block(self.conv(x))
        return self.head(output)


class RegisterHookWrapper(PytorchWrapper):
    def register_hook(self, layer, layer_name, target_dict):
        def hook_function(_layer, _input, output, name=layer_name):
            if isinstance(output, tuple):
                output = output[0]
            target_dict[name] = PytorchWrapper._tensor_to_numpy(output)

        hook = layer.register_forward_hook(hook_function)
        return hook


class TensorToNumpyWrapper(PytorchWrapper):
    @staticmethod
    def _tensor_to_numpy(output):
        if isinstance(output, tuple):
            output = output[0]
        return output.cpu().data.numpy()


class GetActivationsWrapper(PytorchWrapper):
    def get_activations(self, images, layer_names):
        images = [torch.from_numpy(image) if not isinstance(image, torch.Tensor) else image for image in images]
        images = Variable(torch.stack(images))
        images = images.to(self._device)
        self._model.eval()
        layer_results = OrderedDict()
        hooks = []
        for layer_name in layer_names:
            layer = self.get_layer(layer_name)

            def hook_function(_layer, _input, output, name=layer_name):
                layer_results[name] = (output[0] if isinstance(output, tuple) else output).cpu().data.numpy()

            hooks.append(layer.register_forward_hook(hook_function))
        with torch.no_grad():
            self._model(images, **self._forward_kwargs)
        for hook in hooks:
            hook.remove()
        return layer_results


class BackgroundClassWrapper(PytorchWrapper):
    """The network has a class for the background before the 1,000 others."""

    def __call__(self, *args, **kwargs):
        result = super().__call__(*args, **kwargs)
        if "logits" in kwargs.get("layers", []):
            result = result.isel(neuroid=slice(1, None))
        return result


WRAPPERS = {
    "own_hooks-register_hook": RegisterHookWrapper,
    "own_hooks-tensor_to_numpy": TensorToNumpyWrapper,
    "own_hooks-get_activations": GetActivationsWrapper,
    "own_hooks-call": BackgroundClassWrapper,
}


def get_model(name):
    preprocessing = functools.partial(load_preprocess_images, image_size=17)
    model = Network(classes=1001 if name == "own_hooks-call" else 1000)
    wrapper = WRAPPERS[name](identifier=name, model=model, preprocessing=preprocessing, batch_size=4)
    wrapper.image_size = 17
    return wrapper
