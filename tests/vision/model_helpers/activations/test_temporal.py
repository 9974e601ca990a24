"""Networks over time: clips, time bins, the names that plugins import."""

import http.server
import threading
from pathlib import Path

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.temporal.inputs import Clip
from brainscore_vision.model_helpers.activations.temporal.model.pytorch import ClipTimeline
from brainscore_vision.model_helpers.activations.temporal.utils import download_weight_file, get_specified_layers


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
    still = Clip(stimuli.get_stimulus("s1"), 5, 1000).set_size((4, 3)).to_numpy()[0].transpose(2, 0, 1) / 255
    wanted = still.reshape(-1, 1) * np.arange(1, 6)
    of_frames = found.sel(layer="frames")
    np.testing.assert_allclose(of_frames.sel(stimulus_id="s1").values[0], wanted, rtol=1e-6)
    np.testing.assert_array_equal(of_frames["channel_x"].values, np.indices((3, 3, 4))[1].ravel())
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
