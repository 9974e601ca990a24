"""A network that is a table: activations looked up by stimulus, with everything it was asked for."""

import numpy as np
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


class Network:
    """``tables``: layer → stimulus_id → features."""

    def __init__(self, tables, identifier="net", *, times=None):
        self.tables = tables
        self.identifier = identifier
        self.times = times
        self.calls = []
        self.degrees = []

    def layers(self):
        return list(self.tables)

    def set_visual_degrees(self, degrees):
        self.degrees.append(degrees)

    def __call__(self, stimuli, layers, *, number_of_trials=1, require_variance=False):
        ids = stimuli["stimulus_id"].tolist()
        self.calls.append((ids, list(layers), number_of_trials, require_variance))
        trials = number_of_trials if require_variance else 1
        blocks = [np.stack([np.asarray(self.tables[layer][name], float) for name in ids]) for layer in layers]
        values = np.repeat(np.concatenate(blocks, axis=1), trials, axis=0)
        values = values + np.tile(np.arange(trials) * 1000.0, len(ids)).reshape(-1, *[1] * (values.ndim - 1))
        coords = {
            str(column): ("presentation", np.repeat(stimuli[column].to_numpy(), trials)) for column in stimuli.columns
        }
        if trials > 1:
            coords["repetition"] = ("presentation", np.tile(np.arange(trials), len(ids)))
        numbers = np.concatenate([np.arange(block.shape[1]) for block in blocks])
        names = np.repeat(layers, [block.shape[1] for block in blocks])
        coords["neuroid_num"] = ("neuroid", numbers)
        coords["layer"] = ("neuroid", names)
        coords["neuroid_id"] = (
            "neuroid",
            [f"{self.identifier}.{layer}.{number}" for layer, number in zip(names, numbers, strict=True)],
        )
        dims = ["presentation", "neuroid"]
        if self.times is not None:
            dims.append("time_bin")
            coords["time_bin_start"] = ("time_bin", [start for start, _ in self.times])
            coords["time_bin_end"] = ("time_bin", [end for _, end in self.times])
        return NeuroidAssembly(values, coords=coords, dims=dims)


@pytest.fixture
def network_of():
    return Network


@pytest.fixture
def stimuli_of(tmp_path):
    """``stimuli_of(ids, **columns)``, each a file of its own grey level."""

    def make(ids, identifier="set", **columns):
        stimuli = StimulusSet({"stimulus_id": list(ids), **columns})
        paths = {}
        for number, name in enumerate(dict.fromkeys(ids)):
            paths[name] = tmp_path / f"{identifier}-{name}.png"
            if not paths[name].exists():
                levels = np.full((4, 4), number % 256, dtype=np.uint8)
                levels[0] = [*identifier.encode()[:4].ljust(4)]
                levels[1, 0] = number // 256
                Image.fromarray(levels).save(paths[name])
        stimuli.stimulus_paths = paths
        stimuli.identifier = identifier
        return stimuli

    return make
