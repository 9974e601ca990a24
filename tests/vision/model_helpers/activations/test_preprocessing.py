"""Preprocessed images are torchvision's, whatever the file's size and mode."""

import functools

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.passes import Loader
from brainscore_vision.model_helpers.activations.preprocessing import (
    ImagePreprocessing,
    as_image_preprocessing,
    from_settings,
    from_transforms,
    load_image,
    load_images,
    load_preprocess_images,
    preprocess_images,
)
from brainscore_vision.model_helpers.activations.pretrained_models import as_preprocessing

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def picture(mode, size=(70, 45)):
    rng = np.random.default_rng(3)
    channels = {"L": 1, "P": 1, "1": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    small = rng.integers(0, 255, (size[1], size[0], channels), dtype=np.uint8)
    if mode == "P":
        return Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)).quantize(17)
    if mode == "1":
        return Image.fromarray(small[..., 0]).convert("1")
    return Image.fromarray(small[..., 0] if channels == 1 else small, mode=None if mode in ("L", "RGB") else mode)


def saved(image, folder):
    path = folder / f"{image.mode}-{image.width}.{'tif' if image.mode == 'CMYK' else 'png'}"
    image.save(path)
    return path


def pasted(path):
    """As published, modes with levels or palettes are pasted on an RGB image; transparent pixels show a grey screen."""
    with Image.open(path) as opened:
        rgb = Image.new("RGB", opened.size, (128, 128, 128))
        rgb.paste(opened.convert("RGB"), mask=opened.getchannel("A") if "A" in opened.getbands() else None)
        return rgb


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA"])
def test_modes_become_rgb(mode, tmp_path):
    path = saved(picture(mode), tmp_path)
    np.testing.assert_array_equal(np.asarray(load_image(path)), np.asarray(pasted(path)))


def test_other_modes(tmp_path):
    assert load_image(saved(picture("1"), tmp_path)).mode == "RGB"
    assert load_image(saved(picture("CMYK"), tmp_path)).mode == "RGB"
    with pytest.raises(UserError, match=r"x\.mp4.*\n.*takes clips"):
        load_image("x.mp4")


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("size", [(70, 45), (45, 70), (224, 224), (16, 300)])
def test_pixels_are_those_of_torchvision(mode, size, tmp_path, torchvision):
    transforms = torchvision.transforms
    path = saved(picture(mode, size), tmp_path)
    imagenet = transforms.Compose(
        [transforms.Resize((224, 224)), transforms.ToTensor(), transforms.Normalize(mean=MEAN, std=STD)]
    )
    wanted = imagenet(pasted(path)).numpy()
    np.testing.assert_allclose(load_preprocess_images([path], image_size=224)[0], wanted, atol=1e-6)
    np.testing.assert_allclose(preprocess_images(load_images([path]), image_size=224)[0], wanted, atol=1e-6)
    inception = transforms.Compose(
        [
            transforms.Resize(int(64 * 256 / 224)),
            transforms.CenterCrop(64),
            transforms.ToTensor(),
            transforms.Normalize(mean=[0.5] * 3, std=[0.5] * 3),
        ]
    )
    found = load_preprocess_images([path], image_size=64, preprocess_type="inception")[0]
    np.testing.assert_allclose(found, inception(pasted(path)).numpy(), atol=1e-6)


def test_levels_of_opencv(tmp_path):
    """The levels are those of cv2.resize (5.0)."""
    image = Image.fromarray((np.arange(35).reshape(5, 7) * 37 % 256).astype(np.uint8))
    image.save(tmp_path / "image.png")
    options = {"interpolation": "linear", "mean": (0, 0, 0), "std": (1, 1, 1)}

    def levels(**sizes):
        return np.rint(255 * ImagePreprocessing(**sizes, **options)([tmp_path / "image.png"])[0, 1]).tolist()

    smaller = [
        [3, 46, 90, 133, 176, 219],
        [7, 50, 94, 136, 180, 223],
        [11, 54, 97, 140, 183, 227],
        [15, 58, 101, 144, 187, 230],
    ]
    wider = [
        [1, 25, 54, 83, 112, 141, 169, 198, 223],
        [6, 31, 59, 88, 117, 146, 175, 203, 228],
        [11, 35, 64, 93, 122, 151, 179, 208, 233],
    ]
    assert levels(resize=(4, 6)) == smaller
    assert levels(resize=(3, 9)) == wider
    assert levels(resize=(3, 9), crop=(2, 6)) == [row[1:7] for row in wider[:2]]  # margins are rounded down


def test_linear_interpolation_is_that_of_torch(tmp_path):
    torch = pytest.importorskip("torch")
    path = saved(picture("RGB", (70, 45)), tmp_path)
    pixels = torch.from_numpy(np.asarray(Image.open(path))).permute(2, 0, 1)[None].float()
    wanted = torch.nn.functional.interpolate(pixels, size=(33, 150), mode="bilinear", align_corners=False)[0].numpy()
    found = ImagePreprocessing(resize=(33, 150), interpolation="linear", mean=(0, 0, 0), std=(1, 1, 1))([path])[0]
    np.testing.assert_allclose(255 * found, wanted, atol=1)


def test_other_means(tmp_path):
    path = saved(picture("RGB", (8, 8)), tmp_path)
    found = load_preprocess_images([path], image_size=8, normalize_mean=(0, 0, 0), normalize_std=(1, 1, 1))
    np.testing.assert_allclose(found[0], np.moveaxis(np.asarray(Image.open(path)), 2, 0) / 255, atol=1e-6)


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="'imagenet' or 'inception'"):
        preprocess_images([], 8, preprocess_type="other")
    with pytest.raises(TypeError, match="imagesize"):
        load_preprocess_images([], image_size=8, imagesize=9)
    with pytest.raises(UserError, match="no such"):
        load_image(tmp_path / "no such.png")
    paths = [saved(picture("RGB", size), tmp_path) for size in ((20, 30), (25, 30))]
    with pytest.raises(UserError, match="different sizes"):
        ImagePreprocessing(resize=10)(paths)


def test_reading_ahead_gives_the_same(tmp_path):
    paths = [saved(picture("RGB", (20 + number, 30)), tmp_path) for number in range(9)]
    partial = functools.partial(load_preprocess_images, image_size=12)
    wanted = partial(paths)
    bounds = [slice(0, 4), slice(4, 8), slice(8, 9)]
    for preprocess in (partial, lambda some: partial(some), lambda some: list(partial(some))):
        for workers in (0, 1, 4):
            batches = list(Loader(preprocess, workers=workers).batches(paths, bounds))
            assert [bound for bound, _ in batches] == bounds
            np.testing.assert_array_equal(np.concatenate([np.stack(list(images)) for _, images in batches]), wanted)
    assert as_image_preprocessing(partial) == ImagePreprocessing(resize=(12, 12))


def test_images_that_are_normalised_on_a_device_are_the_same(tmp_path):
    torch = pytest.importorskip("torch")
    paths = [saved(picture("RGB", (20 + number, 30)), tmp_path) for number in range(5)]
    preprocess = ImagePreprocessing(resize=16, crop=(10, 12))
    loader = Loader(preprocess, workers=2, device=torch.device("cpu"))
    batches = [images for _, images in loader.batches(paths, [slice(0, 3), slice(3, 5)])]
    assert all(isinstance(images, torch.Tensor) for images in batches)
    np.testing.assert_array_equal(torch.cat(batches).numpy(), preprocess(paths))


def test_preprocessing_must_give_one_entry_a_path(tmp_path):
    with pytest.raises(UserError, match="1 inputs of 2 stimuli"):
        list(Loader(lambda paths: [0], workers=0).batches(["a", "b"], [slice(0, 2)]))


@pytest.mark.parametrize("interpolation", ["BILINEAR", "BICUBIC"])
def test_transforms_are_read(interpolation, tmp_path, torchvision):
    transforms = torchvision.transforms
    steps = [
        transforms.Resize(40, interpolation=transforms.InterpolationMode[interpolation]),
        transforms.CenterCrop((32, 24)),
        transforms.ToTensor(),
        transforms.Normalize(mean=MEAN, std=STD),
    ]
    path = saved(picture("RGB"), tmp_path)
    wanted = transforms.Compose(steps)(Image.open(path)).numpy()
    read = from_transforms(transforms.Compose(steps))
    assert isinstance(read, ImagePreprocessing)
    np.testing.assert_allclose(read([path])[0], wanted, atol=1e-6)
    applied = from_transforms(transforms.Compose([transforms.Grayscale(3), *steps]))
    assert not isinstance(applied, ImagePreprocessing)
    assert applied([path])[0].shape == (3, 32, 24)


def test_settings_of_hugging_face(tmp_path):
    path = saved(picture("RGB"), tmp_path)
    clip = {
        "do_resize": True,
        "size": {"shortest_edge": 40},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": 32, "width": 32},
        "do_normalize": True,
        "image_mean": [0.1, 0.2, 0.3],
        "image_std": [0.5, 0.4, 0.3],
    }
    with Image.open(path) as image:
        resized = image.resize((62, 40), Image.Resampling.BICUBIC).crop((15, 4, 47, 36))
    wanted = (np.asarray(resized) / 255 - clip["image_mean"]) / clip["image_std"]
    np.testing.assert_allclose(from_settings(clip)([path])[0], np.moveaxis(wanted, 2, 0), atol=1e-6)
    levels = from_settings({"do_rescale": False, "do_normalize": True, "image_mean": 128, "image_std": [64]})([path])
    np.testing.assert_allclose(levels[0, 0], (np.asarray(Image.open(path), dtype=float)[..., 0] - 128) / 64, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"do_pad": True},
        {"do_flip_channel_order": True},
        {"do_resize": True, "size": {"longest_edge": 3}},
        {"do_resize": True, "size": 32, "crop_pct": 0.9},
        {"do_resize": True, "size": 32, "resample": 9},
        {"do_normalize": True, "image_mean": [0.5, 0.5], "image_std": [1, 1]},
        {"data_format": "channels_last"},
        {"include_top": True},
    ],
)
def test_settings_that_are_not_understood_are_refused(settings):
    with pytest.raises(UserError, match="is not supported"):
        from_settings(settings)


def other_transforms(transforms, torch):
    """Transforms that no settings describe, in torchvision's first and second version."""
    resize, tensor = transforms.Resize((24, 20)), transforms.ToTensor()
    normalize = transforms.Normalize((0.5,), (0.5,))
    derived = type("Resize", (transforms.Resize,), {"forward": lambda self, image: image.rotate(90).resize((20, 24))})
    changed = transforms.Resize((24, 20))
    changed.forward = lambda image: image.rotate(90)
    return {
        "levels": [resize, transforms.PILToTensor()],
        "half": [resize, transforms.PILToTensor(), transforms.ConvertImageDtype(torch.float16)],
        "crop before resize": [transforms.CenterCrop(30), resize, tensor],
        "tensor before resize": [tensor, transforms.Resize((24, 20), antialias=True)],
        "longest side": [transforms.Resize(24, max_size=30), tensor],
        "nearest-exact": [transforms.Resize(24, transforms.InterpolationMode.NEAREST_EXACT), tensor],
        "normalised twice": [resize, tensor, normalize, normalize],
        "resized twice": [resize, transforms.Resize((9, 9)), tensor],
        "padded": [transforms.Pad(3), tensor],
        "function": [transforms.Lambda(lambda image: image.rotate(90)), tensor],
        "derived class": [derived((24, 20)), tensor],
        "changed object": [changed, tensor],
        "one channel": [transforms.Grayscale(), tensor],
    }


@pytest.mark.parametrize("version", ["transforms", "transforms.v2"])
def test_other_transforms_are_called(version, tmp_path, torchvision):
    import importlib

    import torch

    transforms = importlib.import_module(f"torchvision.{version}")
    path = saved(picture("RGB"), tmp_path)
    for name, steps in other_transforms(transforms, torch).items():
        composed = transforms.Compose(steps)
        used = as_preprocessing(composed)
        assert not isinstance(used, ImagePreprocessing), name
        np.testing.assert_array_equal(used([path])[0], composed(load_image(path)), err_msg=name)
    for wrong in (transforms.Compose([transforms.Resize(9)]), torch.nn.Linear(3, 3)):
        with pytest.raises(UserError, match=r"not an array or a tensor|fails on the stimulus .*RGB-70"):
            as_preprocessing(wrong)([path])


def test_crops_of_known_transforms(tmp_path, torchvision):
    """Odd margins, images that are smaller than the crop, one mean for all channels, sequences within sequences."""
    transforms = torchvision.transforms
    path = saved(picture("RGB"), tmp_path)
    for size in (20, 27, 60, (43, 71)):
        inner = transforms.Compose([transforms.CenterCrop(size), transforms.ToTensor()])
        composed = transforms.Compose([inner, transforms.Normalize([0.4], [0.2])])
        read = from_transforms(composed)
        assert isinstance(read, ImagePreprocessing)
        np.testing.assert_allclose(read([path])[0], composed(load_image(path)), atol=1e-5)
    assert read.describe().startswith("cropped to 43 × 71 pixels around the centre, divided by 255, and normalised by")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ViTImageProcessor", {"size": {"height": 30, "width": 20}}),
        ("CLIPImageProcessor", {"size": {"shortest_edge": 33}, "crop_size": {"height": 28, "width": 28}}),
        ("MobileViTImageProcessor", {}),  # other order of channels
        ("EfficientNetImageProcessor", {"include_top": True}),  # normalised twice
        ("LevitImageProcessor", {}),  # resized to another size than stated
        ("ConvNextImageProcessor", {"size": {"shortest_edge": 100}, "crop_pct": 0.9}),
        ("BeitImageProcessor", {"do_rescale": False}),
        ("SamImageProcessor", {"size": {"longest_edge": 64}, "pad_size": {"height": 64, "width": 64}}),
        ("VideoMAEImageProcessor", {}),
    ],
)
def test_image_processors_are_called(name, settings, tmp_path, torchvision):
    transformers = pytest.importorskip("transformers")
    processor = getattr(transformers, name)(**settings)
    path = saved(picture("RGB"), tmp_path)
    expected = np.asarray(processor(images=load_image(path), return_tensors="np")["pixel_values"])
    expected = expected.reshape(expected.shape[-3:])
    np.testing.assert_allclose(as_preprocessing(processor)([path])[0], expected, atol=1e-5)
    np.testing.assert_allclose(as_preprocessing(processor.to_dict())([path])[0], expected, atol=1e-5)


def test_image_processors_that_make_several_inputs_are_refused(tmp_path, torchvision):
    transformers = pytest.importorskip("transformers")
    path = saved(picture("RGB"), tmp_path)
    for name in (
        "Qwen2VLImageProcessor",
        "LlavaNextImageProcessor",
        "Siglip2ImageProcessor",
        "Molmo2ImageProcessor",
        "Pix2StructImageProcessor",
    ):
        with pytest.raises(UserError, match=f"{name} (makes more than one array|returns a mapping)"):
            as_preprocessing(getattr(transformers, name)())([path])
    with pytest.raises(UserError, match="no image processor 'LabImageProcessor'"):
        as_preprocessing({"image_processor_type": "LabImageProcessor"})
