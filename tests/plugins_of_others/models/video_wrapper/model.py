"""Networks of films: one has its own order of axes, the other runs step by step and is read at each."""

from collections import OrderedDict

import numpy as np
import torch

from brainscore_vision.model_helpers.activations.temporal.inputs import Stimulus, Video
from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper


class ForwardWrapper(PytorchWrapper):
    def forward(self, inputs):
        tensor = torch.stack(inputs)
        tensor = tensor.permute(0, 2, 1, 3, 4)  # the network takes channels before frames
        tensor = tensor.to(self._device)
        with torch.no_grad():
            return self._model(tensor)


class StepsWrapper(PytorchWrapper):
    def _register_hook(self, layer, layer_name, target_dict):
        def hook_function(_layer, _input, output, name=layer_name, target_dict=target_dict):
            output = self._process_activation(_layer, name, _input, output)
            target_dict.setdefault(name, []).append(PytorchWrapper._tensor_to_numpy(output))

        return layer.register_forward_hook(hook_function)

    def get_activations(self, inputs, layer_names):
        self._model.eval()
        layer_results = OrderedDict()
        hooks = []
        for layer_name in layer_names:
            hooks.append(self._register_hook(self.get_layer(layer_name), layer_name, target_dict=layer_results))
        with torch.no_grad():
            self.forward(inputs)
        for hook in hooks:
            hook.remove()
        for layer_name, activations in layer_results.items():
            layer_results[layer_name] = np.stack(activations, axis=1)
        return layer_results


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 5)

    def forward(self, frame):
        hidden = self.linear(frame)
        return hidden, hidden.sum()


class StepNetwork(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.cell = Cell()

    def forward(self, films):
        for frame in films.unbind(1):
            self.cell(frame.mean(dim=(2, 3)))


class Convolutional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.conv = torch.nn.Conv3d(3, 2, kernel_size=(1, 3, 3), stride=(1, 3, 3))

    def forward(self, films):
        return self.conv(films)


def transform_video(video):
    assert isinstance(video, (Video, Stimulus))
    frames = torch.Tensor(video.set_size((9, 6)).to_numpy() / 255.0).permute(0, 3, 1, 2)
    return frames


def process_output(layer, layer_name, inputs, output):
    if layer_name == "cell":
        hidden, _ = output
        return hidden
    return output


def get_model(identifier):
    if identifier == "video_wrapper-forward":
        return ForwardWrapper(
            identifier, Convolutional(), transform_video, fps=4, layer_activation_format={"conv": "CTHW"}
        )
    return StepsWrapper(
        identifier,
        StepNetwork(),
        transform_video,
        fps=4,
        layer_activation_format={"cell": "TC"},
        process_output=process_output,
    )
