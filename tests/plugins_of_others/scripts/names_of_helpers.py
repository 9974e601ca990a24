"""Imports what scripts of papers import from the helpers of brain-score 2.x, and uses each once. Data are simulated."""

import os

import numpy as np
from PIL import Image as PILImage
from sklearn.linear_model import LinearRegression

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import ImageConverter
from brainscore_vision.metric_helpers.temporal import PerTimeRegression, SpanTimeRegression
from brainscore_vision.metric_helpers.xarray_utils import XarrayRegression
from brainscore_vision.metrics.internal_consistency.ceiling import PearsonCorrelation
from brainscore_vision.metrics.regression_correlation.metric import TrainTestSplitCorrelation, single_regression
from brainscore_vision.model_helpers.static_features import CallableWrapper
from brainscore_vision.model_helpers.activations.core import flatten
from brainscore_vision.model_helpers.activations.temporal.inputs import Image, Stimulus, Video
from brainscore_vision.model_helpers.activations.temporal.utils import batch_2d_resize
from brainscore_vision.model_helpers.brain_transformation import LayerMappedModel, TemporalAligned
from brainscore_vision.utils import recursive_dict_merge

random = np.random.default_rng(0)


def recording(values, times=((0, 100), (100, 200))):
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"s{i}" for i in range(values.shape[0])]),
            "repetition": ("presentation", [0] * values.shape[0]),
            "neuroid_id": ("neuroid", list(range(values.shape[1]))),
            "region": ("neuroid", ["IT"] * values.shape[1]),
            "time_bin_start": ("time_bin", [start for start, _ in times]),
            "time_bin_end": ("time_bin", [end for _, end in times]),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )


# regressions over time: the map of the first time bin is not that of the second
source = random.standard_normal((30, 4, 2))
maps = random.standard_normal((4, 3, 2))
target = np.einsum("pnt,nmt->pmt", source, maps)
per_time, span_time = PerTimeRegression(XarrayRegression(LinearRegression())), SpanTimeRegression(LinearRegression())
for regression in (per_time, span_time):
    regression.fit(recording(source), recording(target))
assert np.allclose(per_time.predict(recording(source)).values, target)
assert not np.allclose(span_time.predict(recording(source)).values, target)

# correlations
half1, half2 = (recording(target)[{"time_bin": i}] for i in (0, 0))
correlation = PearsonCorrelation()
assert np.isclose(float(correlation.aggregate(correlation(half1, half2))), 1)
assert TrainTestSplitCorrelation(single_regression(), correlation) is not None

# images and their sizes
PILImage.fromarray(random.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save("image.png")
larger = ImageConverter(target_dir="on_screen").convert_image("image.png", source_degrees=4, target_degrees=8)
assert PILImage.open(larger).size == (60, 40)
assert Stimulus.is_image_path("image.png")
image = Image.from_path("image.png")
assert image.size == (30, 20)
assert image.set_size((10, 12)).to_numpy().shape == (12, 10, 3)
video = Video.from_img_path("image.png", 1000, 30)
assert (video.duration, video.fps, video.num_frames) == (1000, 30, 30)
assert video.set_fps(1).to_numpy().shape == (1, 20, 30, 3)
assert video.set_window(500, 700).to_numpy().shape[0] == 6
assert isinstance(video, Stimulus)
pooled = batch_2d_resize(np.array([[1.0, 2], [3, 4], [5, 6]])[None, ..., None], (2, 1), "pool")
assert np.allclose(pooled[0, ..., 0], [[3, 4]])

# activations and dictionaries
features, places = flatten(np.zeros((5, 2, 3)), return_index=True)
assert features.shape == (5, 6)
assert places.shape == (6, 2)
assert recursive_dict_merge({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}) == {"a": {"b": 1, "c": 3}}

# a model whose regions have layers, in the time bins of an experiment
activations_model = CallableWrapper(
    {"colour": lambda paths: np.stack([np.asarray(PILImage.open(path)).mean((0, 1)) for path in paths])}, "mean-colour"
)
model = TemporalAligned(LayerMappedModel("mean-colour", activations_model, region_layer_map={"IT": "colour"}))
assert model.identifier == "mean-colour"
model.start_recording("IT", time_bins=[(70, 170), (170, 270)])
stimulus_set = StimulusSet([{"stimulus_id": "image"}])
stimulus_set.stimulus_paths = {"image": os.path.abspath("image.png")}
assert dict(model.look_at(stimulus_set).sizes) == {"presentation": 1, "neuroid": 3, "time_bin": 2}
