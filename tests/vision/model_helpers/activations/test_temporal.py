"""Networks over time: clips, time bins, the names that plugins import."""

import http.server
import threading
from pathlib import Path

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.assemblies import shift_images, spiral
from brainscore_vision.model_helpers.activations.core import _bytes_of
from brainscore_vision.model_helpers.activations.temporal.inputs import Image
from brainscore_vision.model_helpers.activations.temporal.model.pytorch import ClipTimeline
from brainscore_vision.model_helpers.activations.temporal.utils import download_weight_file, get_specified_layers
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.stimuli.videos import write_video


@pytest.fixture
def wrapper(store):
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    torch.manual_seed(0)

    class Ramp(torch.nn.Module):
        """Frames get brighter: the t-th is multiplied by t + 1."""

        def __init__(self):
            super().__init__()
            self.frames = torch.nn.Identity()
            self.last = torch.nn.Identity()

        def forward(self, clips):  # stimuli × time × channel × height × width
            steps = torch.arange(clips.shape[1]).view(1, -1, 1, 1, 1) + 1
            frames = self.frames(clips * steps)
            return self.last(frames.mean((3, 4)))[:, -1]

    def make(**options):
        def preprocess(clip):
            return torch.from_numpy(clip.set_size((4, 3)).to_numpy() / 255).permute(0, 3, 1, 2)

        formats = {"frames": "TCHW", "last": "TC"}
        options = {"fps": 5, "layer_activation_format": formats, "store": store, "batch_size": 3} | options
        return PytorchWrapper("ramp", Ramp(), preprocess, **options)

    return make


def test_an_image_is_a_clip_in_which_nothing_moves(wrapper, stimuli):
    found = wrapper()(stimuli, ["frames", "last"])
    assert found.dims == ("presentation", "neuroid", "time_bin")
    assert list(zip(found["time_bin_start"].values, found["time_bin_end"].values, strict=True)) == [
        (0, 200), (200, 400), (400, 600), (600, 800), (800, 1000)
    ]  # fmt: skip
    still = Image.from_path(stimuli.get_stimulus("s1")).set_size((4, 3)).to_numpy().transpose(2, 0, 1) / 255
    wanted = still.reshape(-1, 1) * np.arange(1, 6)
    of_frames = found.sel(layer="frames")
    np.testing.assert_allclose(of_frames.sel(stimulus_id="s1").values[0], wanted, rtol=1e-6)
    np.testing.assert_array_equal(of_frames["channel_x"].values, np.indices((3, 3, 4))[1].ravel())
    np.testing.assert_array_equal(wrapper()(stimuli, ["fr*"]).values, of_frames.values)
    np.testing.assert_allclose(
        found.sel(layer="last").sel(stimulus_id="s1").values[0], still.mean((1, 2))[:, None] * np.arange(1, 6)
    )


def test_it_is_stored_with_its_time_axis(wrapper, stimuli, store):
    first = wrapper()(stimuli, ["frames"]).values
    np.testing.assert_array_equal(wrapper()(stimuli, ["frames"]).values, first)
    assert [entry.manifest.shape for entry in store.entries()] == [(6, 5, 36)]
    wrapper(time_alignment="ignore_time")(stimuli, ["frames"])
    assert len(store.entries()) == 2


def test_output_can_be_processed(wrapper, stimuli):
    doubled = wrapper(process_output=lambda module, layer, inputs, output: 2 * output)(stimuli, ["last"])
    np.testing.assert_allclose(doubled.values, 2 * wrapper()(stimuli, ["last"]).values)


def test_time_can_be_ignored(wrapper, stimuli):
    found = wrapper(time_alignment="ignore_time")(stimuli, ["last"])
    assert found.shape == (7, 15, 1)
    assert found["time_bin_end"].values.tolist() == [1000]


def test_clips_that_the_network_does_not_take(wrapper, stimuli):
    with pytest.raises(ValueError, match="gives 5 frames"):
        wrapper(num_frames=(8, 16))
    with pytest.raises(ValueError, match=r"gives 1000\.0 milliseconds"):
        wrapper(duration=500)
    with pytest.raises(UserError, match="no argument inferencer_cls"):
        wrapper(inferencer_cls=object)
    with pytest.raises(UserError, match="has no format"):
        wrapper(layer_activation_format={"last": "TC"})(stimuli, ["frames"])
    with pytest.raises(UserError, match="format 'C'"):
        wrapper(layer_activation_format={"frames": "C"})(stimuli, ["frames"])


def test_specified_layers(wrapper):
    assert get_specified_layers(wrapper()) == ["frames", "last"]
    with pytest.raises(UserError, match="has no layer formats"):
        get_specified_layers(object())


@pytest.mark.parametrize(
    ("alignment", "steps", "wanted"),
    [
        ("evenly_spaced", 4, [0, 1, 2, 3]),
        ("evenly_spaced", 2, [0, 0, 1, 1]),
        ("evenly_spaced", 8, [0.5, 2.5, 4.5, 6.5]),
        ("evenly_spaced", 3, [0, 2 / 3, 4 / 3, 2]),
        ("estimate_layer_fps", 2, [0, 0, 1, 1]),
        ("per_frame_aligned", 4, [0, 1, 2, 3]),
        ("per_frame_aligned", 6, [0, 1, 2, 3]),
    ],
)
def test_steps_are_aligned_by_their_share_of_each_bin(alignment, steps, wanted):
    timeline = ClipTimeline({"x": "CT"}, fps=4, duration=1000, alignment=alignment)
    values = np.arange(steps, dtype=float)[np.newaxis, np.newaxis]
    np.testing.assert_allclose(timeline.arrange("x", values)[0, :, 0], wanted, atol=1e-9)
    assert len(timeline.bins(4)) == 4


def test_a_layer_without_time_is_there_all_the_time():
    timeline = ClipTimeline({"x": "C"}, fps=4, duration=1000)
    np.testing.assert_array_equal(timeline.arrange("x", np.array([[7.0]]))[0, :, 0], [7] * 4)


def test_timelines_that_cannot_be():
    with pytest.raises(ValueError, match="time_alignment is 'no'"):
        ClipTimeline({}, fps=4, duration=1000, alignment="no")
    with pytest.raises(ValueError, match="use each of the letters"):
        ClipTimeline({"x": "TT"}, fps=4, duration=1000)
    with pytest.raises(ValueError, match="has no frame"):
        ClipTimeline({}, fps=1, duration=100)
    with pytest.raises(UserError, match="3 steps for 4 frames"):
        ClipTimeline({"x": "T"}, fps=4, duration=1000, alignment="per_frame_aligned").arrange("x", np.zeros((1, 3)))


@pytest.fixture
def served(tmp_path):
    """URL of a folder with one file, which is cut short under another name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if "weights" not in self.path:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", "100" if "short" in self.path else "7")
            self.end_headers()
            self.wfile.write(b"weights")

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_weights_are_fetched_once_and_whole(served, monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "PAUSE", 0.01)
    path = download_weight_file(f"{served}/weights.pth", folder="mine")
    assert path == str(tmp_path / "models" / "mine" / "weights.pth")
    (tmp_path / "models" / "mine" / "weights.pth").write_bytes(b"other")
    assert Path(download_weight_file(f"{served}/weights.pth", folder="mine")).read_bytes() == b"other"
    sha256 = "9a4dd3a2ba7b9e8ed20a2fd8f9dcd2e1ef45dc2a2ab0e6b7ec9b5b0f6c0c7e3d"
    with pytest.raises(UserError, match="has the sha256"):
        download_weight_file(f"{served}/weights.pth", folder="mine", sha256=sha256)
    with pytest.raises(UserError):
        download_weight_file(f"{served}/short-weights.pth")
    assert not list((tmp_path / "models").glob("short*"))
    with pytest.raises(UserError, match="cannot be fetched"):
        download_weight_file(f"{served}/nothing.pth")


FPS, FRAMES, SIZE = 10, 3, 6


@pytest.fixture
def mixer():
    """A network whose every output depends on all frames of its input, and which halves their number."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)

    class Mixer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv3d(3, 2, 3, stride=(2, 1, 1), padding=1)
            self.steps = torch.nn.Identity()
            self.pool = torch.nn.AdaptiveAvgPool3d(1)
            self.head = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(2, 4))

        def forward(self, clips):  # stimuli × channels × frames × height × width
            whole = clips * torch.softmax(clips.mean((1, 3, 4)), dim=1)[:, None, :, None, None] + clips.mean(
                (1, 2, 3, 4), keepdim=True
            )
            return self.head(self.pool(self.steps(torch.relu(self.conv(whole)))))

    return Mixer()


def _prepared(video):
    import torch

    return torch.from_numpy(video.set_size((SIZE, SIZE)).to_numpy() / np.float32(255)).permute(3, 0, 1, 2)


@pytest.fixture
def causal(mixer, store):
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    def make(preprocessing=_prepared, **options):
        options = {"fps": FPS, "num_frames": FRAMES, "img_duration": 500, "store": store, "batch_size": 2} | options
        return PytorchWrapper("mixer", mixer, preprocessing, inference="causal", **options)

    return make


def _films(folder, count, changed_from=None, rate=20):
    """Videos of noise; from one frame on, that noise may be another one."""
    pytest.importorskip("av")
    paths = {}
    for number in range(count):
        frames = np.random.default_rng(number).integers(0, 255, (12, SIZE, SIZE, 3), dtype=np.uint8)
        if changed_from is not None:
            frames[changed_from:] = np.random.default_rng(90 + number).integers(0, 255, frames[changed_from:].shape)
        paths[f"film{number}"] = folder / f"film{number}-{changed_from}.mkv"
        write_video(paths[f"film{number}"], frames, rate)
    found = StimulusSet({"stimulus_id": list(paths)})
    found.stimulus_paths, found.identifier = paths, f"films-{changed_from}"
    return found


def _directly(network, frames, before):
    """Responses of the three layers to each frame: the network is run for each on three frames, without a wrapper."""
    import torch

    frames = np.concatenate([np.repeat(before[np.newaxis], FRAMES - 1, axis=0), frames])
    responses = []
    for end in range(FRAMES, len(frames) + 1):
        window = torch.tensor(frames[end - FRAMES : end] / np.float32(255)).permute(3, 0, 1, 2)[None]
        with torch.inference_mode():
            whole = window * torch.softmax(window.mean((1, 3, 4)), dim=1)[:, None, :, None, None] + window.mean()
            steps = torch.relu(network.conv(whole))
            head = network.head(network.pool(steps))
        responses.append(torch.cat([steps[0, :, -1].flatten(), head[0]]).numpy())
    return np.stack(responses, axis=-1)


@pytest.mark.parametrize("before", ["grey", "repeat"])
def test_the_response_to_a_frame_is_to_the_frames_until_then(causal, mixer, tmp_path, stimuli, before):
    for shown in (_films(tmp_path, 3), stimuli):
        found = causal(before_onset=before)(shown, ["steps", "head"])
        assert list(zip(found["time_bin_start"].values, found["time_bin_end"].values, strict=True)) == [
            (0, 100), (100, 200), (200, 300), (300, 400), (400, 500)
        ]  # fmt: skip
        for number, name in enumerate(shown["stimulus_id"]):
            path = shown.get_stimulus(name)
            if shown is stimuli:
                frames = np.repeat(Image.from_path(path).set_size((SIZE, SIZE)).to_numpy()[None], 5, axis=0)
            else:  # twice as many frames per second: those on the screen at the beginning of each frame
                frames = np.random.default_rng(number).integers(0, 255, (12, SIZE, SIZE, 3), dtype=np.uint8)[:10:2]
            first = np.full_like(frames[0], 128) if before == "grey" else frames[0]
            np.testing.assert_allclose(
                found.sel(stimulus_id=name).values[0], _directly(mixer, frames, first), rtol=1e-4, atol=1e-5
            )
    still = found.sel(stimulus_id="s1").values
    assert (np.ptp(still, axis=-1) > 1e-3).any() == (before == "grey")  # the image comes after grey


@pytest.mark.parametrize("options", [{}, {"num_frames": None}, {"num_frames": (2, 4)}, {"before_onset": "repeat"}])
def test_a_later_frame_changes_no_earlier_time_bin(causal, tmp_path, options):
    bins = [(start, start + 30) for start in range(0, 480, 30)]

    def recorded(changed_from):
        model = ModelCommitment(
            "mixer", causal(**options), layers=["steps", "head"], region_layer_map={"IT": ["steps", "head"]}
        )
        model.start_recording("IT", time_bins=bins)
        return model.look_at(_films(tmp_path, 2, changed_from)).values

    before, after = recorded(None), recorded(4)  # frame 4 of 20 per second begins after 200 ms
    same = (before == after).all(axis=(0, 1))
    assert [end <= 200 for _, end in bins] == same.tolist()


def test_whole_clips_look_ahead(mixer, tmp_path):
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    whole = PytorchWrapper(
        "mixer", mixer, _prepared, fps=FPS, img_duration=600, layer_activation_format={"steps": "CTHW"}, store=None
    )
    before, after = (whole(_films(tmp_path, 1, changed), ["steps"]).values for changed in (None, 10))
    assert (before[..., 0] != after[..., 0]).any()


def test_only_frames_in_the_recorded_time_pass_the_network(causal, mixer, stimuli, tmp_path, store):
    passes = []
    mixer.register_forward_hook(lambda *call: passes.append(call[1][0].shape))
    model = ModelCommitment("mixer", causal(batch_size=7), layers=["head"], region_layer_map={"IT": "head"})
    films = _films(tmp_path, 3)
    model.start_recording("IT", time_bins=[(120, 180), (240, 250)])
    recorded = model.look_at(films)
    assert [shape[2] for shape in passes[:2]] == [FRAMES, 2 * FRAMES]  # to find axes of time
    del passes[:2]
    # one film, then all together; frames 1 and 2, of three frames each
    assert passes == [(1, 3, FRAMES, SIZE, SIZE)] * 2 + [(3, 3, FRAMES, SIZE, SIZE)] * 2
    everything = causal()(films, ["head"]).values
    np.testing.assert_allclose(recorded.values, everything[..., 1:3], rtol=1e-5)
    passes.clear()
    causal()(stimuli.iloc[:1], ["head"])
    assert len(passes) == 2 + 2 * FRAMES  # a still image, shown twice, fills the window then


def test_the_key_has_what_the_responses_depend_on(causal, store, tmp_path):
    films = _films(tmp_path, 2)
    variants = [
        {}, {"fps": 20}, {"num_frames": 4}, {"num_frames": (1, 3)}, {"before_onset": "repeat"}, {"img_duration": 400},
        {"layer_activation_format": {"steps": "CTHW"}},
    ]  # fmt: skip
    for number, options in enumerate(variants, start=1):
        values = causal(**options)(films, ["steps"]).values
        assert len(store.entries()) == number
        np.testing.assert_array_equal(causal(**options)(films, ["steps"]).values, values)
    assert len(store.entries()) == len(variants)


def test_eye_movements_shift_every_frame(causal, mixer, tmp_path):
    films = _films(tmp_path, 1)
    wrapper = causal()
    wrapper.set_visual_degrees(0.1)
    found = wrapper(films, ["head"], number_of_trials=3, require_variance=True)
    assert found.shape == (3, 4, 5)
    frames = np.random.default_rng(0).integers(0, 255, (12, SIZE, SIZE, 3), dtype=np.uint8)[:10:2].astype(np.float32)
    for trial, shift in enumerate(spiral(3, height=SIZE, visual_degrees=0.1).pixels):
        moved = shift_images(frames.transpose(0, 3, 1, 2), shift).transpose(0, 2, 3, 1)
        expected = _directly(mixer, moved, np.full_like(moved[0], 128))[-4:]
        np.testing.assert_allclose(found.values[trial], expected, rtol=1e-4, atol=1e-5)
    assert found["microsaccade_shift_x_pixels"].values[1] != 0


def test_memory_is_planned_for_all_frames(causal, tmp_path):
    wrapper = causal(max_memory="1MB")
    with pytest.raises(UserError, match="memory"):
        wrapper(_films(tmp_path, 2), ["steps"])
    clip = wrapper._extractor.preprocess([_films(tmp_path, 1).get_stimulus("film0")])
    assert _bytes_of(clip) == 4 * 3 * (5 + FRAMES - 1) * SIZE**2  # five frames, and two before the onset


def test_a_network_of_a_fixed_number_of_frames(mixer):
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations.temporal.model.pytorch import TimeAxes

    fixed = torch.nn.Sequential(torch.nn.Conv3d(3, 2, 1), torch.nn.Flatten(), torch.nn.Linear(2 * 3 * 4, 5))
    axes = TimeAxes(fixed, lambda: torch.zeros(1, 3, 3, 2, 2), 2)
    output = np.arange(24.0).reshape(1, 2, 3, 2, 2)
    np.testing.assert_array_equal(axes.last_step("0", output), output[:, :, -1])
    np.testing.assert_array_equal(axes.last_step("2", np.ones((1, 5))), np.ones((1, 5)))


def test_wrong_input_of_causal_inference(causal, mixer, tmp_path):
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    films = _films(tmp_path, 1)
    with pytest.raises(UserError, match="axes of the layers"):
        PytorchWrapper("mixer", mixer, _prepared, fps=5)
    for options, message in (
        ({"fps": 0}, "fps is 0"),
        ({"img_duration": "long"}, "img_duration is 'long'"),
        ({"before_onset": "black"}, "before_onset is 'black'"),
        ({"num_frames": (5, 3)}, "accepts no number of frames"),
        ({"time_alignment": "ignore_time"}, "each frame has its response"),
        ({"preprocessing": lambda video: _prepared(video)[:, :2]}, "preprocessing makes the shapes"),
    ):
        with pytest.raises(UserError, match=message):
            causal(**options)
    with pytest.raises(UserError, match="inference is 'block'"):
        PytorchWrapper("mixer", mixer, _prepared, fps=5, inference="block")
    with pytest.raises(UserError, match="format 'CT', but its output for a batch has shape"):
        causal(layer_activation_format={"steps": "CT"})(films, ["steps"])
    with pytest.raises(UserError, match="'head' has no format"):
        causal(layer_activation_format={"steps": "CTHW"})(films, ["head"])
    with pytest.raises(UserError, match=r"film0-None\.mkv lasts 600 ms, but is recorded for 900 ms"):
        causal(img_duration=900)(films, ["head"])
    text = tmp_path / "notes.txt"
    text.write_text("neither")
    with pytest.raises(UserError, match=r"notes\.txt cannot be read as an image[^$]*names of videos end in"):
        causal()([text], ["head"])
    model = ModelCommitment("mixer", causal(), layers=["head"], region_layer_map={"IT": "head"})
    model.start_recording("IT", time_bins=[(400, 600)])
    with pytest.raises(UserError, match="do not cover 400–600 ms") as error:
        model.look_at(films)
    assert "duration" in error.value.remedy
    mixer.tokens = torch.nn.Flatten(2)
    mixer.forward = lambda clips: mixer.tokens(clips)
    with pytest.raises(UserError, match="'tokens' has outputs of different shapes for windows of 1 and 2 frames"):
        causal(num_frames=None)(films, ["tokens"])


def test_time_bins_shorter_than_frames_are_reported_once(causal, tmp_path, caplog):
    model = ModelCommitment("mixer", causal(), layers=["head"], region_layer_map={"IT": "head"})
    model.start_recording("IT", time_bins=[(0, 50), (50, 100), (100, 150)])
    films = _films(tmp_path, 1)
    recorded = model.look_at(films).values
    model.look_at(films)
    assert caplog.text.count("3 time bins are recorded from 2 steps") == 1
    np.testing.assert_array_equal(recorded[..., 0], recorded[..., 1])
    assert (recorded[..., 1] != recorded[..., 2]).any()
