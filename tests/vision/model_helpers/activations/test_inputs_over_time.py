"""Films and images as inputs of networks over time; the film is simulated: frame n has the grey level 10 · n."""

import numpy as np
import pytest
from PIL import Image as Pillow

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.temporal import inputs
from brainscore_vision.model_helpers.activations.temporal.inputs import (
    Image,
    Stimulus,
    Video,
    batch_2d_resize,
)
from brainscore_vision.stimuli import videos
from brainscore_vision.stimuli.videos import write_video


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    av = pytest.importorskip("av")
    path = tmp_path_factory.mktemp("films") / "ramp.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=20)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for level in range(20):
            pixels = np.full((32, 48, 3), 10 * level, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


def _levels(video):
    return np.rint(video.to_numpy().mean((1, 2, 3)) / 10).astype(int).tolist()


def test_a_film_is_sampled_cut_and_resized(film):
    video = Video.from_path(film)
    assert (video.fps, video.duration, video.num_frames, video.frame_size) == (20, 1000, 20, (48, 32))
    assert (video.original_fps, video.original_num_frames, video.original_duration) == (20, 20, 1000)
    assert _levels(video) == list(range(20))
    assert _levels(video.set_fps(5)) == [0, 4, 8, 12, 16]
    assert _levels(video.set_window(200, 400)) == [4, 5, 6, 7]
    assert _levels(video.set_window(300, 500).set_window(0, 100)) == [6, 7]
    assert _levels(video.set_window(-100, 100)) == [0, 0, 0, 1]
    assert _levels(video.set_window(950, 1100)) == [19, 19, 19]
    small = video.set_size((12, 10)).set_fps(2)
    assert small.to_numpy().shape == (2, 10, 12, 3)
    assert [image.size for image in small.to_pil_imgs()] == [(12, 10)] * 2
    assert video.fps == 20  # what sets something returns a copy


def test_an_image_is_a_film_in_which_nothing_moves(tmp_path):
    path = tmp_path / "im.png"
    pixels = np.random.default_rng(0).integers(0, 256, (8, 6, 3), dtype=np.uint8)
    Pillow.fromarray(pixels).save(path)
    video = Video.from_img_path(path, duration=300, fps=10)
    np.testing.assert_array_equal(video.to_numpy(), np.stack([pixels] * 3))
    assert isinstance(video, Stimulus)
    still = Image.from_path(path).set_size((3, 4))
    np.testing.assert_array_equal(video.set_size((3, 4)).to_frames()[1], still.to_numpy())
    assert Image.from_path(still.store_to_path(tmp_path / "small.png")).size == (3, 4)
    with pytest.raises(UserError, match="leave no frame"):
        video.set_fps(1)
    with pytest.raises(ValueError, match="before it starts"):
        video.set_window(10, 5)


def test_resizing_is_that_of_opencv():
    line = np.array([0.0, 10, 20, 30]).reshape(1, 1, 4, 1)
    # cv2.resize(…, (2, 1)) and (…, (8, 1)) with INTER_LINEAR
    assert batch_2d_resize(line, (2, 1), "bilinear").ravel().tolist() == [5, 25]
    assert batch_2d_resize(line, (8, 1), "bilinear").ravel().tolist() == [0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30]
    assert batch_2d_resize(line.astype(np.uint8), (3, 1), "pool").ravel().tolist() == [2, 15, 28]
    assert batch_2d_resize(line[:, :, :1], (2, 1), "bilinear").ravel().tolist() == [0, 0]


def test_what_cannot_be_decoded_is_named(tmp_path, monkeypatch):
    path = tmp_path / "text.mp4"
    path.write_text("no film")
    if videos.find_spec("av"):
        with pytest.raises(UserError, match=r"text\.mp4 is not a video"):
            Video.from_path(path)
    monkeypatch.setattr(videos, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="neither PyAV nor decord") as error:
        Video.from_path(path)
    assert error.value.remedy == "pip install 'brainscore[video]'"


def test_a_network_is_shown_films_as_they_are(film, tmp_path):
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations.temporal.model import PytorchWrapper

    def wrapper(duration):
        return PytorchWrapper(
            "level", torch.nn.Sequential(torch.nn.Identity()),
            lambda video: torch.from_numpy(video.to_numpy().mean((1, 2, 3))[:, None]),
            fps=4, layer_activation_format={"0": "TC"}, img_duration=duration, store=None,
        )  # fmt: skip

    found = wrapper(1000)([film], layers=["0"])
    np.testing.assert_allclose(found.values.ravel(), [0, 50, 100, 150], atol=5)  # lossy
    with pytest.raises(UserError, match="lasts 1000 ms, not 2000 ms"):
        wrapper(2000)([film], layers=["0"])


def test_frames_are_written_without_loss(tmp_path):
    pytest.importorskip("av")
    frames = np.random.default_rng(0).integers(0, 256, (7, 9, 13, 3), dtype=np.uint8)
    write_video(tmp_path / "noise.mkv", list(frames), 12.5)
    video = Video.from_path(tmp_path / "noise.mkv")
    assert (video.fps, video.num_frames, video.frame_size) == (12.5, 7, (13, 9))
    np.testing.assert_array_equal(video.to_numpy(), frames)
    with pytest.raises(UserError, match="have the shapes"):
        write_video(tmp_path / "none.mkv", [], 12.5)
    with pytest.raises(UserError, match="have the shapes"):
        write_video(tmp_path / "none.mkv", [frames[0], frames[0, :4]], 12.5)
    assert [path.name for path in tmp_path.iterdir()] == ["noise.mkv"]


def test_a_grey_screen_before_the_beginning(film, tmp_path):
    video = Video.from_path(film)
    grey = video.set_window(-100, 100, padding="grey")
    assert _levels(grey) == [13, 13, 0, 1]  # the level is 128
    assert [frame[0, 0].tolist() for frame in grey.to_frames()[:2]] == [[128] * 3] * 2
    assert _levels(video.set_window(-100, -50, padding="grey")) == [13]
    # moments that are not whole numbers in floating-point arithmetic
    sampled = Video(film, 24, -125, 0, (48, 32)).set_window(125, 1125)
    assert _levels(sampled) == [int(frame * 20 / 24) for frame in range(24)]


def test_a_file_that_is_cut_short_is_named(tmp_path):
    pytest.importorskip("av")
    frames = np.random.default_rng(0).integers(0, 256, (30, 32, 32, 3), dtype=np.uint8)
    path = tmp_path / "short.mkv"
    write_video(path, frames, 10)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    as_stated = inputs._Original(10, 30, (32, 32))  # by the container
    video = Video(path, 10, 0, 3000, (32, 32), known=as_stated)
    with pytest.raises(UserError, match=r"short\.mkv has no frame 29: only 1\d frames could be decoded"):
        video.to_numpy()
