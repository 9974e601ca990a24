"""Shows a model files, without a stimulus set. The images are simulated."""

from pathlib import Path

import numpy as np
from PIL import Image

from brainscore_vision.model_helpers.static_features import CallableWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_interface import BrainModel

colours = {"red": (200, 10, 10), "dark_red": (180, 10, 10), "blue": (10, 10, 200)}
paths = []
for name, colour in colours.items():
    Image.new("RGB", (8, 8), colour).save(f"{name}.png")
    paths.append(f"{name}.png")


def mean_colour(files):
    return np.stack([np.asarray(Image.open(file), dtype=float).mean((0, 1)) - 100 for file in files])


activations_model = CallableWrapper({"colour": mean_colour}, "mean-colour")
model = ModelCommitment(identifier="mean-colour", activations_model=activations_model, layers=["colour"])

model.start_recording("IT", time_bins=[(70, 170)])
recordings = model.look_at(paths)
assert recordings["stimulus_id"].values.tolist() == paths
assert np.allclose(recordings.values[0] + 100, colours["red"])
assert np.array_equal(model.look_at([Path(path) for path in paths]).values, recordings.values)

model.start_task(BrainModel.Task.odd_one_out)
choices = model.look_at([paths[0], paths[2], paths[1]] + paths)
assert choices.values.ravel().tolist() == [1, 2]
odd_one_out = model.behavior_model.current_executor
odd_one_out.similarity_measure = "cosine"
assert odd_one_out.similarity_measure == "cosine"
assert model.look_at([Path(path) for path in paths]).values.ravel().tolist() == [2]
