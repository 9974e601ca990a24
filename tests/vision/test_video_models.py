"""Networks that take clips, from a few lines to scores on benchmarks with time bins.

Their responses are computed here directly: an image, preceded by grey frames, is shown to the network window by window.
"""

import numpy as np
import pytest
from PIL import Image

import brainscore
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_benchmark, load_dataset, load_metric
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, place_on_screen
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.static_features import CallableWrapper
from brainscore_vision.stimuli.videos import write_video
from tests.optional import declare_operators

torch = pytest.importorskip("torch")

RATE, FRAMES, SIZE = 30, 6, 8
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.3, 0.4)


class Network(torch.nn.Module):
    def __init__(self, outputs=12):
        super().__init__()
        torch.manual_seed(2)
        self.conv = torch.nn.Conv3d(3, 4, (FRAMES, 2, 2), stride=(1, 2, 2))
        self.relu = torch.nn.ReLU()
        self.fc = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, outputs))

    def forward(self, clips):
        return self.fc(self.relu(self.conv(clips)))


def wrapped(network, **options):
    options = {"frames": FRAMES, "frame_rate": RATE, "duration": 400} | options
    return brainscore.wrap_model(
        network, identifier="tiny-video", preprocessing=ImagePreprocessing((SIZE, SIZE), mean=MEAN, std=STD), **options
    )


def courses(network, stimuli, layer):
    """Responses of a layer to images, stimuli × units × frames, of twelve frames."""

    def prepared(image):
        levels = np.asarray(image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)) / 255
        return torch.tensor(((levels - MEAN) / STD).transpose(2, 0, 1), dtype=torch.float32)

    grey, responses, kept = prepared(Image.new("RGB", (9, 9), (128, 128, 128))), [], []
    handle = network.get_submodule(layer).register_forward_hook(lambda *call: kept.append(call[2].flatten().numpy()))
    with torch.inference_mode():
        for name in stimuli["stimulus_id"]:
            kept.clear()
            frames = [grey] * (FRAMES - 1) + [prepared(Image.open(stimuli.get_stimulus(name)))] * 12
            for end in range(FRAMES, len(frames) + 1):
                network(torch.stack(frames[end - FRAMES : end], dim=1)[None])
            responses.append(np.stack(kept, axis=-1))
    handle.remove()
    return np.stack(responses)


def averaged(course, bins):
    """Mean over each time bin of what is constant during a frame: at many moments of the bin."""
    frames = [
        np.floor((np.linspace(start, end, 4001)[:-1] + (end - start) / 8000) * RATE / 1000) for start, end in bins
    ]
    return np.stack([course[..., f.astype(int)].mean(axis=-1) for f in frames], axis=-1)


def features(values, stimuli, bins):
    coords = {column: ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns}
    starts, ends = zip(*bins, strict=True)
    assembly = NeuroidAssembly(
        values,
        coords=coords
        | {"neuroid_id": ("neuroid", np.arange(values.shape[1])), "layer": ("neuroid", ["x"] * values.shape[1])}
        | {"time_bin_start": ("time_bin", list(starts)), "time_bin_end": ("time_bin", list(ends))},
        dims=["presentation", "neuroid", "time_bin"],
    )
    single = assembly.isel(time_bin=0, drop=True) if len(bins) == 1 else assembly
    return PrecomputedFeatures(single, visual_degrees=8)


_SLOW = pytest.mark.slow(reason="regressions in every time bin, of the model and of what it responds")


@pytest.mark.parametrize(
    "identifier",
    [
        "FreemanZiemba2013public.V1-pls",
        "MajajHong2015public.IT-reverse_pls",
        pytest.param("MajajHong2015public.IT-temporal-pls", marks=_SLOW),
    ],
)
def test_benchmarks_of_recordings(stand_ins, identifier):
    network = Network()
    benchmark = load_benchmark(identifier)
    benchmark._visual_degrees = 8  # images fill the input
    if "reverse" in identifier:  # there are fewer neuroids than published components
        benchmark._similarity_metric = load_metric("reverse_pls", regression_kwargs={"n_components": 5})
    if "temporal" in identifier:  # four of the time bins, of which one is in two frames
        benchmark._assembly = benchmark._assembly.isel(time_bin=slice(5, 9))
    model = wrapped(network, region_layer_map={benchmark.region: "relu"})
    stimuli, bins = benchmark._assembly.stimulus_set, benchmark.timebins
    expected = averaged(courses(network, stimuli, "relu"), bins)
    model.start_recording(benchmark.region, time_bins=bins)
    recorded = model.look_at(stimuli).values.reshape(expected.shape)
    np.testing.assert_allclose(recorded, expected, rtol=1e-3, atol=1e-4)
    score = benchmark(model)
    directly = benchmark(features(expected, stimuli, bins))
    np.testing.assert_allclose(
        [float(score), *score.attrs["ci"]], [float(directly), *directly.attrs["ci"]], rtol=0.01, atol=1e-3
    )
    assert np.isfinite(float(score.attrs["raw"]))


def test_recordings_in_bins_shorter_than_frames(stand_ins):
    network, benchmark = Network(), load_benchmark("Kar2019-ost")
    model = wrapped(network, region_layer_map={"IT": "relu"})
    stimuli, bins = benchmark._assembly.stimulus_set.iloc[:9], benchmark._time_bins
    model.start_recording("IT", time_bins=bins)
    expected = averaged(courses(network, stimuli, "relu"), bins)
    np.testing.assert_allclose(model.look_at(stimuli).values, expected, rtol=1e-3, atol=1e-4)
    assert len(np.unique(expected[0].sum(axis=0).round(5))) > 4


@_SLOW
def test_object_solution_times(stand_ins):
    network, benchmark = Network(), load_benchmark("Kar2019-ost")
    model = wrapped(network, region_layer_map={"IT": "relu"})
    stimuli, bins = benchmark._assembly.stimulus_set, benchmark._time_bins
    expected = averaged(courses(network, stimuli, "relu"), bins)
    benchmark._time_bins = bins[::9]
    score = benchmark(model)
    assert float(score.attrs["raw"]) == pytest.approx(
        float(benchmark(features(expected[..., ::9], stimuli, bins[::9])).attrs["raw"]), abs=0.02
    )


def test_naming_of_objects(stand_ins):
    network, benchmark = Network(outputs=1000), load_benchmark("BMD2024.texture_1Behavioral-accuracy_distance")
    stimuli = load_dataset("BMD2024.texture_1").stimulus_set
    logits = courses(network, stimuli, "fc").mean(axis=-1)  # over the duration
    rows = {str(stimuli.get_stimulus(name)): row for name, row in zip(stimuli["stimulus_id"], logits, strict=True)}
    direct = CallableWrapper(
        {"logits": lambda paths: np.stack([rows[str(path)] for path in paths])}, "direct", load=lambda path: path
    )
    expected = benchmark(ModelCommitment("direct", direct, layers=["logits"]))
    assert float(benchmark(wrapped(network))) == pytest.approx(float(expected), abs=1e-6)
    assert 0 < float(expected) <= 1


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "noise.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)).save(path)
    return path


def test_networks_of_libraries_in_a_few_lines(image):
    declare_operators()
    pytest.importorskip("transformers")
    from torchvision.models.video import r3d_18
    from torchvision.transforms._presets import VideoClassification
    from transformers import VideoMAEConfig, VideoMAEModel

    frames = np.stack([np.full((24, 32, 3), 128, dtype=np.uint8)] * 2 + [np.asarray(Image.open(image))] * 2)
    preset = VideoClassification(crop_size=(16, 16), resize_size=(20, 24))
    network = r3d_18().eval()
    model = brainscore.wrap_model(network, frames=4, frame_rate=12, preprocessing=preset, duration=250)
    assert model.layers == ["stem", "layer1", "layer2", "layer3", "layer4"]
    assert model.remarks[0] == (
        "stimuli are shown for 250 ms at 12 frames per second; the response to a frame is to the 4 frames until then, "
        "before the onset to a grey screen"
    )
    recorded = model.activations_model([image], ["layer1"])
    with torch.inference_mode():  # the second frame
        stem = network.stem(preset(torch.tensor(frames).permute(0, 3, 1, 2))[None])
        expected = network.layer1(stem)[:, :, -1].flatten()
    np.testing.assert_allclose(recorded.values[0, :, 1], expected, rtol=1e-4, atol=1e-5)

    config = VideoMAEConfig(
        image_size=16, patch_size=8, num_frames=4, hidden_size=6, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=8,
    )  # fmt: skip
    network = VideoMAEModel(config).eval()
    prepare = ImagePreprocessing((16, 16))
    model = brainscore.wrap_model(network, frame_rate=12, preprocessing=prepare, layers="encoder.layer.*", duration=250)
    assert model.layers == [f"encoder.layer.{number}" for number in range(3)]
    recorded = model.activations_model([image], ["encoder.layer.2"])
    clip = torch.tensor(np.stack([prepare.image(Image.fromarray(frame)) for frame in frames]))[None]
    with torch.inference_mode():  # four tokens of the last two frames
        expected = network(clip, output_hidden_states=True).hidden_states[-1][:, -4:].flatten()
    np.testing.assert_allclose(recorded.values[0, :, 1], expected, rtol=1e-4, atol=1e-5)


def test_time_axes_of_networks_of_transformers():
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    declare_operators()
    from brainscore_vision.model_helpers.activations.temporal.model.pytorch import TimeAxes

    sizes = {"image_size": 8, "hidden_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2, "num_frames": 4}
    for name, options, embeddings in (
        ("VideoMAE", {"patch_size": 4, "intermediate_size": 8}, "embeddings"),
        ("Timesformer", {"patch_size": 4, "intermediate_size": 8}, "embeddings"),
        ("Vivit", {"tubelet_size": [2, 4, 4], "intermediate_size": 8}, "embeddings"),
    ):
        torch.manual_seed(0)
        config = getattr(transformers, f"{name}Config")(**sizes, **options)
        network = getattr(transformers, f"{name}Model")(config).eval()
        clips = torch.rand(1, 4, 3, 8, 8)
        other = clips.clone()
        other[:, -1] = torch.rand(1, 3, 8, 8)
        outputs = []
        network.get_submodule(embeddings).register_forward_hook(lambda *call, to=outputs: to.append(call[2][0].numpy()))
        with torch.inference_mode():
            network(clips), network(other)
        changed = np.flatnonzero((outputs[0] != outputs[1]).any(axis=-1))  # tokens of the last frame
        axes = TimeAxes(network, lambda clips=clips: clips, 1)
        leading = {"VideoMAE": 0}.get(name, 1)
        tokens = axes.last_step(embeddings, np.arange(len(outputs[0]))[None, :, None])[0, leading:, 0]
        np.testing.assert_array_equal(tokens, changed)
        assert len(tokens) == 4


def test_wrong_arguments(tmp_path):
    network = Network()
    for options, message in (
        ({"frame_rate": None}, "frame_rate of 'tiny-video' is not known"),
        ({"frames": None}, "frames of 'tiny-video' is not known"),
        ({"frames": 2.5}, r"frames is 2\.5"),
        ({"frame_rate": -1}, "fps is -1"),
        ({"time_mapping": {"IT": {0: (0, 100)}}}, "time_mapping cannot be given for a network that takes clips"),
        ({"frames": 2}, "fails on an input of 1 × 3 × 2 × 8 × 8"),
    ):
        with pytest.raises(UserError, match=message):
            wrapped(network, **options)
    with pytest.raises(UserError, match="Network takes clips of frames, and their frame rate is not known"):
        brainscore.wrap_model(network)
    ready = wrapped(network, layers=["relu"])
    with pytest.raises(UserError, match="frame_rate cannot be given for a ModelCommitment"):
        brainscore.wrap_model(ready, frame_rate=3)
    with pytest.raises(UserError, match="frames cannot be given for an activations model"):
        brainscore.wrap_model(ready.activations_model, frames=3)
    with pytest.raises(UserError, match="frame_rate cannot be given for a function of images"):
        brainscore.wrap_model(lambda images: images, frame_rate=3)


def test_videos_as_stimuli(tmp_path, monkeypatch):
    """Videos that spanned 4° on a screen of 8°, with a score of what the network itself responds."""
    pytest.importorskip("av")
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    rng, network, bins = np.random.default_rng(0), Network(), [(0, 60), (50, 110)]
    videos = rng.integers(0, 256, (30, 4, SIZE, SIZE, 3), dtype=np.uint8)
    stimuli = StimulusSet({"stimulus_id": [f"v{number:02d}" for number in range(len(videos))]})
    stimuli.stimulus_paths = {name: tmp_path / f"{name}.mkv" for name in stimuli["stimulus_id"]}
    stimuli.identifier = "videos"
    grey, expected = np.full((2 * SIZE, 2 * SIZE, 3), 128, dtype=np.uint8), []
    prepare = ImagePreprocessing((SIZE, SIZE), mean=MEAN, std=STD)
    for path, video in zip(stimuli.stimulus_paths.values(), videos, strict=True):
        write_video(path, video, RATE)
        frames = np.stack([grey] * (FRAMES - 1 + len(video)))
        frames[FRAMES - 1 :, SIZE // 2 : -SIZE // 2, SIZE // 2 : -SIZE // 2] = video
        clip = torch.tensor(np.stack([prepare.image(Image.fromarray(frame)) for frame in frames], axis=1))
        with torch.inference_mode():
            windows = [network.relu(network.conv(clip[None, :, end - FRAMES : end])) for end in range(FRAMES, 10)]
        expected.append(torch.stack([window.flatten() for window in windows], dim=-1).numpy())
    expected = averaged(np.stack(expected), bins)
    model = wrapped(network, region_layer_map={"IT": "relu"}, duration=120)
    model.start_recording("IT", time_bins=bins)
    np.testing.assert_allclose(model.look_at(place_on_screen(stimuli, 8, 4)).values, expected, rtol=1e-3, atol=1e-4)
    varied = expected[..., 1].std(axis=0).argsort()[-5:]
    recordings = NeuroidAssembly(
        expected[:, varied, 1:],
        coords={
            "stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy()),
            "neuroid_id": ("neuroid", np.arange(5)),
            "region": ("neuroid", ["IT"] * 5),
            "time_bin_start": ("time_bin", [50]),
            "time_bin_end": ("time_bin", [110]),
        },
        dims=["presentation", "neuroid", "time_bin"],
        attrs={"stimulus_set": stimuli},
    )
    ceiling = Score(1.0)
    benchmark = NeuralBenchmark("Videos2026.IT", recordings, load_metric("ridge"), 4, 1, lambda: ceiling, version=1)
    assert float(benchmark(model).attrs["raw"]) > 0.9
