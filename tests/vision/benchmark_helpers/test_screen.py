"""place_on_screen against pixels that are put together here, with NumPy only."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.paths import screen_home
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import identifier_before_screen, place_on_screen
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.stimuli.videos import decode_frames, video_properties, write_video


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def pixels_of(height, width, channels=3, seed=0):
    shape = (height, width, channels) if channels > 1 else (height, width)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def stimuli_of(images, folder, *, extension="png", **columns):
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for number, image in enumerate(images):
        image = image if isinstance(image, Image.Image) else Image.fromarray(image)
        paths[f"im{number}"] = folder / f"im{number}.{extension}"
        image.save(paths[f"im{number}"])
    stimuli = StimulusSet({"stimulus_id": list(paths), **columns})
    stimuli.stimulus_paths = paths
    stimuli.identifier = "shapes"
    return stimuli


@pytest.mark.parametrize(("degrees", "warns"), [(16, False), (1.2, False), (0.9, True)])
def test_stimuli_of_fewer_than_32_pixels_of_the_input_are_reported(tmp_path, degrees, warns):
    model = FeatureModel("levels", {"levels": np.stack}, load=lambda path: load_rgb(path, size=224), visual_degrees=8)
    stimuli = stimuli_of([pixels_of(40, 30), pixels_of(40, 30, seed=1)], tmp_path, degrees=[degrees, 8.0])
    model.start_recording("IT", [(70, 170)])
    with recording() as record, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.look_at(place_on_screen(stimuli, target_visual_degrees=8))
    texts = [item["text"] for item in record.items if item["kind"] == "remark"]
    assert [str(warning.message) for warning in caught] == texts
    assert [text.startswith("stimuli span only about 25 of the 224 pixels") for text in texts] == [True] * warns


def shown(stimuli, identifier="im0", mode=None):
    with Image.open(stimuli.get_stimulus(identifier)) as image:
        return np.asarray(image.convert(mode) if mode else image)


def half_even(value):
    """Round half to even, by hand."""
    below = int(np.floor(value))
    rest = value - below
    return below if rest < 0.5 or (rest == 0.5 and below % 2 == 0) else below + 1


def on_grey(pixels, ratio):
    height, width = half_even(ratio * pixels.shape[0]), half_even(ratio * pixels.shape[1])
    canvas = np.full((height, width, 3), 128, dtype=np.uint8)
    top, left = half_even((height - pixels.shape[0]) / 2), half_even((width - pixels.shape[1]) / 2)
    canvas[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
    return canvas


def middle(pixels, ratio):
    height, width = half_even(ratio * pixels.shape[0]), half_even(ratio * pixels.shape[1])
    top, left = half_even((pixels.shape[0] - height) / 2), half_even((pixels.shape[1] - width) / 2)
    return pixels[top : top + height, left : left + width]


SIZES = [(8, 8), (7, 5), (1, 9), (10, 13), (33, 20)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("target", "source"), [(16, 8), (12, 8), (10, 8), (9, 8), (8.5, 8), (20, 8)])
def test_larger_screen(size, target, source, tmp_path):
    pixels = pixels_of(*size)
    placed = place_on_screen(stimuli_of([pixels], tmp_path / "s"), target, source)
    np.testing.assert_array_equal(shown(placed), on_grey(pixels, target / source))


@pytest.mark.parametrize("size", [(8, 8), (7, 5), (3, 9), (10, 13), (33, 20)])
@pytest.mark.parametrize(("target", "source"), [(4, 8), (6, 8), (7, 8), (5, 8), (3, 8)])
def test_smaller_screen(size, target, source, tmp_path):
    pixels = pixels_of(*size)
    placed = place_on_screen(stimuli_of([pixels], tmp_path / "s"), target, source)
    np.testing.assert_array_equal(shown(placed), middle(pixels, target / source))


def test_halves_are_rounded_to_even(tmp_path):
    # 1.5 × 5 = 7.5 → 8; (8 − 5) / 2 = 1.5 → 2. 1.5 × 3 = 4.5 → 4; (4 − 3) / 2 = 0.5 → 0
    pixels = pixels_of(3, 5)
    image = shown(place_on_screen(stimuli_of([pixels], tmp_path / "s"), 12, 8))
    assert image.shape == (4, 8, 3)
    np.testing.assert_array_equal(image[0:3, 2:7], pixels)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "LA", "1", "I;16"])
def test_models_see_the_same_pixels_at_all_angles(mode, tmp_path):
    if mode == "I;16":
        image = Image.fromarray(257 * pixels_of(6, 8, channels=1).astype(np.uint16))
    else:
        image = Image.fromarray(pixels_of(6, 8)).convert(mode)
    if mode == "RGBA":
        image.putalpha(Image.fromarray(pixels_of(6, 8, channels=1, seed=1)))
    stimuli = stimuli_of([image], tmp_path / "s")
    pixels = load_rgb(place_on_screen(stimuli, 8, 8).get_stimulus("im0"))
    np.testing.assert_array_equal(shown(place_on_screen(stimuli, 16, 8)), on_grey(pixels, 2))
    np.testing.assert_array_equal(shown(place_on_screen(stimuli, 4, 8), mode="RGB"), middle(pixels, 0.5))


def test_jpeg_files_are_not_compressed_a_second_time(tmp_path):
    stimuli = stimuli_of([pixels_of(16, 16)], tmp_path / "s", extension="jpg")
    decoded = shown(stimuli)
    placed = place_on_screen(stimuli, 16, 8)
    assert placed.get_stimulus("im0").name == "im0.jpg"
    np.testing.assert_array_equal(shown(placed), on_grey(decoded, 2))


def test_what_comes_back(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4), pixels_of(4, 4, seed=1)], tmp_path / "s", label=["a", "b"])
    before, paths_before = stimuli.copy(), dict(stimuli.stimulus_paths)
    placed = place_on_screen(stimuli, 10, 8)
    assert placed.identifier == "shapes--target10.00--source8.00"
    assert identifier_before_screen(placed.identifier) == "shapes"
    assert placed["degrees"].tolist() == [10, 10]
    assert placed["label"].tolist() == ["a", "b"]
    assert {key: str(path) for key, path in placed.original_paths.items()} == {
        key: str(path) for key, path in paths_before.items()
    }
    assert [placed.get_stimulus(name).name for name in ("im0", "im1")] == ["im0.png", "im1.png"]
    # the input is as it was
    assert list(stimuli.columns) == ["stimulus_id", "label"]
    assert stimuli.equals(before)
    assert stimuli.identifier == "shapes"
    assert stimuli.stimulus_paths == paths_before


def test_degrees_of_each_stimulus(tmp_path):
    first, second, third = (pixels_of(6, 6, seed=seed) for seed in range(3))
    stimuli = stimuli_of([first, second, third], tmp_path / "s", degrees=[8.0, 4.0, 16.0])
    placed = place_on_screen(stimuli, 8)
    assert placed.identifier == "shapes--target8.00--sourceNone"
    np.testing.assert_array_equal(shown(placed, "im0"), first)
    np.testing.assert_array_equal(shown(placed, "im1"), on_grey(second, 2))
    np.testing.assert_array_equal(shown(placed, "im2"), middle(third, 0.5))
    assert place_on_screen(placed, 8) is placed
    assert stimuli["degrees"].tolist() == [8.0, 4.0, 16.0]


def test_equal_degrees_give_the_same_object(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4)], tmp_path / "s")
    assert place_on_screen(stimuli, 8, 8) is stimuli
    with_column = stimuli_of([pixels_of(4, 4)], tmp_path / "s", degrees=[8])
    assert place_on_screen(with_column, 8.0) is with_column


@pytest.mark.parametrize(
    ("columns", "arguments", "message"),
    [
        ({}, {"target_visual_degrees": 8}, "not known"),
        ({"degrees": [4]}, {"target_visual_degrees": 8, "source_visual_degrees": 4}, "given twice"),
        ({}, {"target_visual_degrees": -8, "source_visual_degrees": 4}, "target_visual_degrees is -8"),
        ({}, {"target_visual_degrees": 8, "source_visual_degrees": 0}, "source_visual_degrees is 0"),
        ({}, {"target_visual_degrees": float("nan"), "source_visual_degrees": 4}, "target_visual_degrees is nan"),
        ({}, {"target_visual_degrees": "wide", "source_visual_degrees": 4}, "'wide'"),
        ({"degrees": [-1]}, {"target_visual_degrees": 8}, "'im0'"),
        ({}, {"target_visual_degrees": 0.1, "source_visual_degrees": 8}, "cropped to less than one pixel"),
        ({}, {"target_visual_degrees": 1e6, "source_visual_degrees": 8}, "on a screen of 2.5e.11 pixels"),
        ({}, {"target_visual_degrees": 1e300, "source_visual_degrees": 8}, "on a screen of"),
    ],
)
def test_wrong_angles(columns, arguments, message, tmp_path):
    with pytest.raises(UserError, match=message):
        place_on_screen(stimuli_of([pixels_of(4, 4)], tmp_path / "s", **columns), **arguments)


def test_missing_files_are_named_all_at_once(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4)] * 3, tmp_path / "s")
    stimuli.stimulus_paths["im0"].unlink()
    stimuli.stimulus_paths["im2"].unlink()
    with pytest.raises(UserError, match=r"2 of 3 stimuli of 'shapes' have no file: im0 .*im2"):
        place_on_screen(stimuli, 16, 8)


def test_what_is_no_image(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4)], tmp_path / "s")
    stimuli.stimulus_paths["im0"].write_text("no image")
    with pytest.raises(UserError, match="cannot be read"):
        place_on_screen(stimuli, 16, 8)
    whole = Image.fromarray(pixels_of(64, 64))
    whole.save(stimuli.stimulus_paths["im0"])
    content = stimuli.stimulus_paths["im0"].read_bytes()
    stimuli.stimulus_paths["im0"].write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=r"stimulus 'im0': .*cannot be read"):
        place_on_screen(stimuli, 16, 8)
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(stimuli.stimulus_paths["im0"], "TIFF")
    with pytest.raises(UserError, match="no defined white"):
        place_on_screen(stimuli, 16, 8)
    assert not list(screen_home().rglob("*.png"))


def test_content_counts_not_names(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4)], tmp_path / "s")
    place_on_screen(stimuli, 16, 8)
    other = pixels_of(4, 4, seed=5)
    Image.fromarray(other).save(stimuli.stimulus_paths["im0"])
    np.testing.assert_array_equal(shown(place_on_screen(stimuli, 16, 8)), on_grey(other, 2))


def test_files_are_written_once(tmp_path):
    stimuli = stimuli_of([pixels_of(4, 4)], tmp_path / "s")
    first = place_on_screen(stimuli, 16, 8).get_stimulus("im0")
    stamp = first.stat().st_mtime_ns
    renamed = stimuli_of([pixels_of(4, 4)], tmp_path / "s")
    renamed.identifier = "another name"
    second = place_on_screen(renamed, 32, 16).get_stimulus("im0")  # the same ratio
    assert second == first
    assert second.stat().st_mtime_ns == stamp
    assert place_on_screen(renamed, 24, 8).get_stimulus("im0") != first


def test_same_basename_in_two_folders(tmp_path):
    one, two = pixels_of(4, 4, seed=1), pixels_of(4, 4, seed=2)
    stimuli = StimulusSet({"stimulus_id": ["one", "two"]})
    stimuli.stimulus_paths = {
        "one": stimuli_of([one], tmp_path / "a").get_stimulus("im0"),
        "two": stimuli_of([two], tmp_path / "b").get_stimulus("im0"),
    }
    stimuli.identifier = "both"
    placed = place_on_screen(stimuli, 16, 8)
    np.testing.assert_array_equal(shown(placed, "one"), on_grey(one, 2))
    np.testing.assert_array_equal(shown(placed, "two"), on_grey(two, 2))


def _place_in_process(folder, home, queue):
    os.environ["BRAINSCORE_HOME"] = str(home)
    stimuli = stimuli_of([pixels_of(40, 40, seed=seed) for seed in range(12)], folder)
    placed = place_on_screen(stimuli, 16, 8)
    queue.put([int(shown(placed, name).astype(int).sum()) for name in placed["stimulus_id"]])


def test_several_processes_at_once(tmp_path, home):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [
        context.Process(target=_place_in_process, args=(tmp_path / f"s{number}", home, queue)) for number in range(4)
    ]
    for worker in workers:
        worker.start()
    sums = [queue.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    expected = [int(on_grey(pixels_of(40, 40, seed=seed), 2).astype(int).sum()) for seed in range(12)]
    assert all(each == expected for each in sums)
    assert len(list(screen_home().rglob("*.png"))) == 12
    assert not list(screen_home().rglob("*.part"))


@pytest.mark.slow(reason="kills processes")
def test_killed_in_the_middle(tmp_path, home):
    """Whatever stands under a final name after kill -9 is whole; the next call completes the rest."""
    images = [pixels_of(400, 400, seed=seed) for seed in range(30)]
    stimuli = stimuli_of(images, tmp_path / "s")
    program = textwrap.dedent(f"""
        from pathlib import Path
        from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
        from brainscore_vision.benchmark_helpers.screen import place_on_screen
        paths = {{p.stem: p for p in Path({str(tmp_path / "s")!r}).glob("*.png")}}
        stimuli = StimulusSet({{"stimulus_id": list(paths)}})
        stimuli.stimulus_paths, stimuli.identifier = paths, "shapes"
        print("ready", flush=True)
        place_on_screen(stimuli, 16, 8)
        """)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=os.getcwd())
    process.stdout.readline()
    deadline = time.time() + 600
    while time.time() < deadline and not list(screen_home().rglob("*.png")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for path in screen_home().rglob("*.png"):
        with Image.open(path) as image:
            image.load()
            assert image.size == (800, 800)
    placed = place_on_screen(stimuli, 16, 8)
    for number in (0, 14, 29):
        np.testing.assert_array_equal(shown(placed, f"im{number}"), on_grey(images[number], 2))


@pytest.mark.parametrize("target", [12, 6])
def test_frames_of_videos_are_placed_as_images_are(tmp_path, target):
    pytest.importorskip("av")
    frames = [pixels_of(9, 14, seed=number) for number in range(4)]
    images = stimuli_of(frames, tmp_path / "frames")
    video = StimulusSet({"stimulus_id": ["noise"]})
    video.stimulus_paths, video.identifier = {"noise": tmp_path / "noise.mp4"}, "videos"
    write_video(tmp_path / "noise.mp4", frames, 10)
    placed = [np.asarray(Image.open(path)) for path in place_on_screen(images, target, 8).stimulus_paths.values()]
    path = place_on_screen(video, target, 8).get_stimulus("noise")
    assert video_properties(path) == (10, 4, placed[0].shape[1::-1])
    np.testing.assert_array_equal(decode_frames(path, np.arange(4)), placed)


@pytest.mark.parametrize("target", [8, 16, 4])
def test_animations_are_images_and_videos(tmp_path, target):
    """Of the same number of frames, at the same rate; frames that are equal stay apart."""
    grey = [Image.fromarray(np.full((8, 8, 3), level, dtype=np.uint8)) for level in (0, 128, 255)]
    for count in (1, 3):
        path = tmp_path / f"gif{count}.gif"
        grey[0].save(path, save_all=True, append_images=grey[1:count], duration=[100, 100, 50][:count])
        stimuli = StimulusSet({"stimulus_id": ["gif"]})
        stimuli.stimulus_paths, stimuli.identifier = {"gif": path}, "gif"
        placed = place_on_screen(stimuli, target, 8).get_stimulus("gif")
        assert video_properties(placed) == (12 if count == 3 else 10, count, (target, target))
        middle_levels = decode_frames(placed, np.arange(count))[:, target // 2, target // 2, 0]
        assert middle_levels.tolist() == [0, 128, 255][:count]
        assert load_rgb(placed)[target // 2, target // 2].tolist() == [0, 0, 0]
