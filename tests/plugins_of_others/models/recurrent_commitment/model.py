"""A recurrent network whose steps are layers; its commitment maps them to time and reads `do_behavior`."""

import functools
import re
from collections import defaultdict

import numpy as np
import torch

from brainscore_core.supported_data_standards.brainio.assemblies import (
    NeuroidAssembly,
    merge_data_arrays,
    walk_coords,
)
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.temporal import fix_timebin_naming

TIME_MAPPING = {"V1": {0: (50, 150)}, "IT": {0: (100, 200), 1: (200, 300)}}


class Area(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)
        self.output = torch.nn.ReLU()

    def forward(self, x):
        return self.output(self.linear(x))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.V1 = Area(3 * 8 * 8, 12)
        self.IT = Area(12, 12)
        self.decoder = torch.nn.Linear(12, 1000)

    def forward(self, x):
        x = self.V1(x.flatten(1))
        for _ in range(2):
            x = x + self.IT(x)
        return self.decoder(x)


class TemporalPytorchWrapper(PytorchWrapper):
    def _build_extractor(self, *args, **kwargs):
        return TemporalExtractor(*args, **kwargs)

    def get_activations(self, images, layer_names):
        self._layer_counter = defaultdict(int)
        self._layer_hooks = {}
        return super().get_activations(images=images, layer_names=layer_names)

    def register_hook(self, layer, layer_name, target_dict):
        layer_name = self._strip_layer_timestep(layer_name)
        if layer_name in self._layer_hooks:
            return self._layer_hooks[layer_name]

        def hook_function(_layer, _input, output):
            target_dict[f"{layer_name}-t{self._layer_counter[layer_name]}"] = PytorchWrapper._tensor_to_numpy(output)
            self._layer_counter[layer_name] += 1

        self._layer_hooks[layer_name] = layer.register_forward_hook(hook_function)
        return self._layer_hooks[layer_name]

    def get_layer(self, layer_name):
        return super().get_layer(self._strip_layer_timestep(layer_name))

    def _strip_layer_timestep(self, layer_name):
        return re.sub("-t[0-9]+$", "", layer_name)


class TemporalExtractor(ActivationsExtractorHelper):
    def from_paths(self, *args, **kwargs):
        raw_activations = super().from_paths(*args, **kwargs)
        steps = {}
        for layer in sorted(set(raw_activations["layer"].values)):
            region, time_step = re.match(r"([^.]*).*-t([0-9]+)", layer).groups()
            activations = raw_activations.sel(layer=layer)
            activations["region"] = "neuroid", [region] * len(activations["neuroid"])
            activations["layer"] = "neuroid", [region] * len(activations["neuroid"])
            steps[time_step] = NeuroidAssembly(
                [activations.values],
                coords={
                    **{
                        coord: (dims, values)
                        for coord, dims, values in walk_coords(activations)
                        if coord != "neuroid_id"
                    },
                    **{"time_step": [int(time_step)]},
                },
                dims=["time_step", *activations.dims],
            )
        activations = merge_data_arrays(list(steps.values()))
        activations["neuroid_id"] = "neuroid", [f"{i}" for i in activations["neuroid_num"].values]
        return activations


class TemporalIgnore:
    def __init__(self, temporal_activations_model):
        self._activations_model = temporal_activations_model

    def __call__(self, *args, **kwargs):
        return self._activations_model(*args, **kwargs).squeeze("time_step")


class RecurrentCommitment(ModelCommitment):
    def __init__(self, *args, time_mapping, **kwargs):
        super().__init__(*args, **kwargs)
        self.time_mapping = time_mapping
        self.recording_layers = None
        self.recording_time_bins = None
        for executor in self.behavior_model.mapping.values():
            executor.activations_model = TemporalIgnore(executor.activations_model)

    def start_recording(self, recording_target, time_bins):
        self.recording_target = recording_target
        self.recording_layers = [layer for layer in self.layers if layer.startswith(recording_target)]
        self.recording_time_bins = time_bins

    def look_at(self, stimuli, number_of_trials=1):
        if self.do_behavior:
            return super().look_at(stimuli, number_of_trials=number_of_trials)
        return self.look_at_temporal(stimuli=stimuli)

    def look_at_temporal(self, stimuli):
        responses = self.activations_model(stimuli, layers=self.recording_layers)
        bins = [self.time_mapping[self.recording_target][step] for step in responses["time_step"].values]
        responses["time_bin_start"] = "time_step", [time_bin[0] for time_bin in bins]
        responses["time_bin_end"] = "time_step", [time_bin[1] for time_bin in bins]
        responses = NeuroidAssembly(responses.rename({"time_step": "time_bin"}))
        time_responses = []
        for time_bin_start, time_bin_end in self.recording_time_bins:
            starts = responses["time_bin_start"].values
            bin_responses = responses.sel(time_bin_start=starts[np.abs(starts - time_bin_start).argmin()])
            bin_responses = NeuroidAssembly(
                bin_responses.values,
                coords={
                    **{
                        coord: (dims, values)
                        for coord, dims, values in walk_coords(bin_responses)
                        if coord not in ["time_bin", "time_bin_start", "time_bin_end"]
                    },
                    **{
                        "time_bin_start": ("time_bin", [time_bin_start]),
                        "time_bin_end": ("time_bin", [time_bin_end]),
                    },
                },
                dims=bin_responses.dims,
            )
            time_responses.append(bin_responses)
        return fix_timebin_naming(merge_data_arrays(time_responses))


def recurrent_brainmodel():
    preprocessing = functools.partial(load_preprocess_images, image_size=8)
    activations_model = TemporalPytorchWrapper(
        identifier="recurrent_commitment", model=Network(), preprocessing=preprocessing
    )
    return RecurrentCommitment(
        identifier="recurrent_commitment",
        activations_model=activations_model,
        layers=["V1.output-t0", "IT.output-t0", "IT.output-t1", "decoder-t0"],
        time_mapping=TIME_MAPPING,
    )
