"""The reader of images against pixels that are put together here, and what packaging reports about them."""

import io
import struct
import threading
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageFile, features

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.images import GREY, ImageError, load_image, naming_stimuli
from brainscore_core.supported_data_standards.brainio.stimulus_checks import check_paths

rng = np.random.default_rng(0)
RGB = rng.integers(0, 256, (6, 10, 3), dtype=np.uint8)
NOISE = rng.integers(0, 256, (300, 300, 3), dtype=np.uint8)
LEVELS = RGB[..., 0]
ALPHA = np.resize(np.array([0, 255, 100], dtype=np.uint8), (6, 10))
DEEP = rng.integers(4096, 65536, (6, 10)).astype(np.uint16)
HIGH = (DEEP >> 8).astype(np.uint8)
PALETTE = Image.fromarray(RGB).quantize(17)
PALETTE_ALPHA = bytes(rng.integers(0, 256, 17).tolist())
TURNS = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: np.rot90(pixels, 2).swapaxes(0, 1),
    8: lambda pixels: np.rot90(pixels),
}


def on_grey(pixels, alpha):
    pixels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., np.newaxis], 3, axis=-1)
    share = alpha[..., np.newaxis] / 255
    return np.rint(pixels * share + GREY * (1 - share)).astype(np.uint8)


def png(bits, kind, rows, transparent=b""):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 10, 6, bits, kind, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows)))
    return b"\x89PNG\r\n\x1a\n" + header + (transparent and chunk(b"tRNS", transparent)) + pixels + chunk(b"IEND", b"")


def encoded(image, kind="PNG", **options):
    stream = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(stream, kind, **options)
    return stream.getvalue()


def tagged(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def where(condition):
    return np.where(condition, 0, 255).astype(np.uint8)


def indexed():
    return np.asarray(PALETTE), np.asarray(PALETTE.convert("RGB"))


BIG_ENDIAN = np.stack([DEEP] * 3, axis=-1).astype(">u2")
CASES = {
    "16-bit PNG": (encoded(DEEP), HIGH),
    "16-bit TIFF": (encoded(DEEP, "TIFF"), HIGH),
    "16-bit TIFF, big-endian": (encoded(Image.fromarray(DEEP.astype(">u2")), "TIFF"), HIGH),
    "16-bit TIFF, 0 is white": (encoded(DEEP, "TIFF", tiffinfo={262: 0}), 255 - HIGH),
    "16-bit PGM": (b"P5\n10 6\n65535\n" + DEEP.astype(">u2").tobytes(), HIGH),
    "16-bit colours": (png(16, 2, BIG_ENDIAN), np.stack([HIGH] * 3, axis=-1)),
    "16 bits, one is transparent": (
        png(16, 0, DEEP.astype(">u2"), struct.pack(">H", DEEP[2, 3])),
        on_grey(HIGH, where(DEEP[2, 3] == DEEP)),
    ),
    "4 bits, one is transparent": (
        png(4, 0, (LEVELS[:, ::2] & 0xF0) | (LEVELS[:, 1::2] >> 4), struct.pack(">H", LEVELS[0, 0] >> 4)),
        on_grey((LEVELS >> 4) * 17, where(LEVELS[0, 0] >> 4 == LEVELS >> 4)),
    ),
    "1 bit, white is transparent": (
        png(1, 0, np.packbits(LEVELS > 127, axis=1), struct.pack(">H", 1)),
        on_grey(0 * LEVELS, where(LEVELS > 127)),
    ),
    "grey, one is transparent": (
        encoded(LEVELS, transparency=int(LEVELS[2, 2])),
        on_grey(LEVELS, where(LEVELS[2, 2] == LEVELS)),
    ),
    "colours, one is transparent": (
        encoded(RGB, transparency=tuple(RGB[3, 3].tolist())),
        on_grey(RGB, where((RGB[3, 3] == RGB).all(axis=-1))),
    ),
    "RGBA": (encoded(np.dstack([RGB, ALPHA])), on_grey(RGB, ALPHA)),
    "opaque RGBA": (encoded(np.dstack([RGB, np.full_like(ALPHA, 255)])), RGB),
    "LA": (encoded(Image.fromarray(np.dstack([LEVELS, ALPHA]), "LA")), on_grey(LEVELS, ALPHA)),
    "WebP": (encoded(np.dstack([RGB, ALPHA]), "WEBP", lossless=True, exact=True), on_grey(RGB, ALPHA)),
    "palette": (encoded(PALETTE), indexed()[1]),
    "palette, one is transparent": (encoded(PALETTE, transparency=3), on_grey(indexed()[1], where(indexed()[0] == 3))),
    "palette with opacity": (
        encoded(PALETTE, transparency=PALETTE_ALPHA),
        on_grey(indexed()[1], np.array(list(PALETTE_ALPHA))[indexed()[0]]),
    ),
    "transparent GIF": (encoded(PALETTE, "GIF", transparency=3), on_grey(indexed()[1], where(indexed()[0] == 3))),
    "two pages": (encoded(RGB, "TIFF", save_all=True, append_images=[Image.new("RGB", (10, 6))]), RGB),
    "two frames": (encoded(RGB, save_all=True, append_images=[Image.new("RGB", (10, 6))]), RGB),
    "black and white": (encoded(Image.fromarray(LEVELS > 127)), where(LEVELS <= 127)),
    "unknown orientation": (encoded(RGB, exif=tagged(9)), RGB),
}
for number, turn in TURNS.items():
    CASES[f"turned {number}, PNG of 16 bits"] = encoded(DEEP, exif=tagged(number)), turn(HIGH)
    CASES[f"turned {number}, WebP"] = encoded(RGB, "WEBP", lossless=True, exif=tagged(number)), turn(RGB)
    CASES[f"turned {number}, RGBA"] = (
        encoded(np.dstack([RGB, ALPHA]), exif=tagged(number)),
        turn(on_grey(RGB, ALPHA)),
    )
    CASES[f"turned {number}, TIFF"] = encoded(DEEP, "TIFF", exif=tagged(number)), turn(HIGH)


@pytest.mark.parametrize("name", CASES)
def test_pixels(name, tmp_path):
    content, expected = CASES[name]
    path = tmp_path / "image"
    path.write_bytes(content)
    image = load_image(path, "RGB")
    expected = expected if expected.ndim == 3 else np.stack([expected] * 3, axis=-1)
    np.testing.assert_array_equal(np.asarray(image), expected)
    np.testing.assert_array_equal(np.asarray(load_image(path, "L")), np.asarray(image.convert("L")))
    assert image.info == {}
    assert image.getexif().get(0x0112) not in TURNS  # transforms that read it do not turn the image again


REFUSED = {
    "mode is 'F'": encoded(LEVELS.astype(np.float32), "TIFF"),
    "mode is 'I'": encoded(LEVELS.astype(np.int32), "TIFF"),
    "transparent colour has 16 bits": png(16, 2, BIG_ENDIAN, struct.pack(">HHH", 1, 2, 3)),
    "none of the formats": b"no image",
    "none of the formats PNG": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n",
    "more pixels": encoded(Image.new("1", (20_000, 9_000))),
    "broken PNG": b"\x8d\x03\x98\xa6".join(encoded(NOISE).rsplit(b"IDAT", 1)),
    "truncated": encoded(NOISE, "JPEG")[:-5000],
}


@pytest.mark.parametrize("reason", [*REFUSED, "No such file"])
def test_errors_name_stimulus_and_file(reason, tmp_path, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as many training scripts leave it
    path = tmp_path / "photo.png"
    if reason in REFUSED:
        path.write_bytes(REFUSED[reason])
    named = naming_stimuli({"dog": "dog.png", "cat": str(path)})
    with pytest.raises(UserError, match=rf"stimulus 'cat': .*photo\.png cannot be read.*{reason[:4]}"), named:
        load_image(path)
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True
    if reason in REFUSED:
        (finding,) = check_paths([("cat", path)])
        assert finding.severity == "error"
        assert f"cat → {path}" in finding.culprit
        assert reason in finding.culprit or "truncated" in finding.culprit


def test_avif_is_read_and_other_photographs_are_refused_when_packaged(tmp_path):
    path = tmp_path / "photo.avif"
    path.with_suffix(".HEIC").write_bytes(b"\0\0\0\x18ftypheic")
    (finding,) = check_paths([("cat", path.with_suffix(".HEIC"))])
    assert finding.check == "image does not decode"
    if not features.check("avif"):
        pytest.skip("this Pillow does not decode AVIF")
    Image.fromarray(RGB).save(path, quality=100, subsampling="4:4:4")
    np.testing.assert_allclose(np.asarray(load_image(path)).astype(int), RGB, atol=8)
    assert not check_paths([("cat", path)])


def test_damaged_files_of_any_kind_are_errors_of_the_product(tmp_path):
    generator = np.random.default_rng(1)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "TGA", "ICO", "PCX", "SGI"):
        whole = encoded(RGB, kind)
        for number in range(40):
            content = bytearray(whole)
            start = generator.integers(len(content))
            content[start : start + 4] = generator.bytes(4)
            try:
                load_image(io.BytesIO(content[: -start or None] if number % 2 else content))
            except ImageError as error:
                assert error.reason  # noqa: PT017 - not all of these files are damaged


def test_the_setting_of_truncated_images_returns_when_the_last_thread_has_read(monkeypatch, tmp_path):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    (tmp_path / "image.png").write_bytes(encoded(NOISE))
    threads = [
        threading.Thread(target=lambda: [load_image(tmp_path / "image.png") for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
REPORTED = {
    "16-bit image": (encoded(DEEP), f"largest level {DEEP.max()}"),
    "dark 16-bit image": (encoded(DEEP // 32), f"largest level {DEEP.max() // 32}"),
    "turned image": (encoded(RGB, exif=tagged(6)), "EXIF orientation 6"),
    "turned TIFF": (encoded(RGB, "TIFF", exif=tagged(8)), "EXIF orientation 8"),
    "damaged EXIF data": (encoded(RGB, exif=b"Exif\0\0nothing"), "unknown"),
    "transparent image": (encoded(np.dstack([RGB, ALPHA])), "mode RGBA"),
    "several frames": (encoded(RGB, save_all=True, append_images=[Image.new("RGB", (10, 6))]), "2 frames"),
    "colour profile": (encoded(RGB, icc_profile=PROFILE), "Lab"),
    "colour mode": (encoded(Image.fromarray(RGB).convert("CMYK"), "TIFF"), "CMYK"),
    "": (encoded(np.dstack([RGB, np.full_like(ALPHA, 255)]), icc_profile=SRGB, exif=tagged(1)), ""),
}


@pytest.mark.parametrize("check", REPORTED)
def test_what_packaging_reports(check, tmp_path):
    content, detail = REPORTED[check]
    paths = [(f"s{number}", tmp_path / f"{number}.png") for number in range(7)]
    for _, path in paths:
        path.write_bytes(content)
    findings = check_paths(paths)
    assert [finding.check for finding in findings] == ([check.replace("TIFF", "image")] if check else [])
    for finding in findings:
        assert finding.severity == "warning"
        assert f"s0 → {paths[0][1]} ({detail}" in finding.culprit or detail == "unknown"
        assert "7 in all" in finding.culprit
