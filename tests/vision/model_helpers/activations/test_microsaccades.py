"""Variance between trials: where the image stands, and that each response is labelled with what was shown."""

import numpy as np
import pytest
from scipy import ndimage

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.assemblies import shift_images, spiral
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper


def test_points_are_those_of_the_formula():
    shifts = spiral(5, height=224, visual_degrees=8)
    radius = 0.05 / 8 * 224
    for point in range(5):
        r, theta = np.sqrt(point / 5) * radius, 2 * np.pi * np.sqrt(point) / np.sqrt(5)
        np.testing.assert_allclose(shifts.pixels[point], [r * np.cos(theta), r * np.sin(theta)])
    np.testing.assert_allclose(shifts.degrees, shifts.pixels * 8 / 224)
    assert np.hypot(*shifts.degrees.T).max() < 0.05


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.3, 0.0), (-1.7, 2.25), (5.5, -40.0), (1.0, -2.0)])
def test_displaced_images_are_scipys(shift, kind):
    images = np.random.default_rng(0).standard_normal((2, 3, 9, 11)).astype(np.float32)
    wanted = ndimage.shift(images.astype(float), (0, 0, shift[1], shift[0]), order=1, mode="nearest")
    if kind == "torch":
        torch = pytest.importorskip("torch")
        found = shift_images(torch.from_numpy(images), np.array(shift)).numpy()
    else:
        found = shift_images(images, np.array(shift))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.fixture
def extractor(store):
    """Returns the whole image, and the number of the stimulus that is written into it."""
    from PIL import Image

    def load(paths):
        return np.stack([np.moveaxis(np.asarray(Image.open(path), dtype=np.float32), 2, 0) for path in paths])

    found = ActivationsExtractorHelper(lambda images, layers: {"pixels": images}, load, "pixels", 3, store=store)
    found.set_visual_degrees(0.5)
    return found


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_every_trial_of_every_stimulus_is_labelled_with_what_was_shown(batch_size, extractor, stimuli):
    extractor._batch_size = batch_size
    plain = extractor(stimuli, ["pixels"])
    varied = extractor(stimuli, ["pixels"], number_of_trials=4, require_variance=True)
    assert varied.shape[0] == 4 * len(stimuli)
    assert list(varied["stimulus_id"].values) == list(np.repeat(stimuli["stimulus_id"].to_numpy(), 4))
    assert list(varied["repetition"].values) == [0, 1, 2, 3] * len(stimuli)
    for row in range(len(varied)):
        one = varied.isel(presentation=row)
        source = plain.values[list(plain["stimulus_id"].values).index(str(one["stimulus_id"].values))].reshape(
            3, 24, 24
        )
        x, y = (float(one[f"microsaccade_shift_{axis}_pixels"]) for axis in "xy")
        wanted = ndimage.shift(source, (0, y, x), order=1, mode="nearest")
        np.testing.assert_allclose(one.values.reshape(3, 24, 24), wanted, atol=1e-3)
        assert float(one["microsaccade_shift_x_degrees"]) == pytest.approx(x * 0.5 / 24)


def test_a_call_without_variance_after_one_with_it_responds_once(extractor, stimuli):
    varied = extractor(stimuli, ["pixels"], number_of_trials=4, require_variance=True)
    plain = extractor(stimuli, ["pixels"], number_of_trials=4)
    assert len(plain) == len(stimuli)
    np.testing.assert_allclose(plain.values, varied.values[::4])
    for axis in "xy":
        assert not plain[f"microsaccade_shift_{axis}_degrees"].values.any()
    assert "repetition" not in plain.coords


def test_each_trial_passes_the_model_once(stimuli):
    passed = []

    def activations(images, layers):
        passed.append(len(images))
        return {"mean": images.mean((2, 3))}

    extractor = ActivationsExtractorHelper(
        activations, lambda paths: np.zeros((len(paths), 3, 8, 8), np.float32), "net", 4, store=None
    )
    extractor.set_visual_degrees(8)
    extractor(stimuli, ["mean"], number_of_trials=3, require_variance=True)
    assert sum(passed) == 1 + 6 * 3  # one stimulus is shown alone first


def test_the_visual_angle_must_be_known(stimuli):
    extractor = ActivationsExtractorHelper(
        lambda images, layers: {"x": images}, lambda paths: np.zeros((len(paths), 3, 8, 8)), "net", store=None
    )
    with pytest.raises(UserError, match="set_visual_degrees"):
        extractor(stimuli, ["x"], number_of_trials=2, require_variance=True)


def test_only_images_can_be_displaced(stimuli):
    extractor = ActivationsExtractorHelper(
        lambda paths, layers: {"x": np.zeros((len(paths), 2))}, None, "net", store=None
    )
    extractor.set_visual_degrees(8)
    assert extractor(stimuli, ["x"], number_of_trials=1, require_variance=True).shape == (7, 2)
    with pytest.raises(UserError, match="images can only be displaced in an array"):
        extractor(stimuli, ["x"], number_of_trials=2, require_variance=True)
