"""Written images are read back as they were."""

import io
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from brainscore_vision.benchmark_helpers.screen import write_png


def read(content):
    with Image.open(io.BytesIO(content)) as image:
        image.load()
    return image


def written(*arguments, **keywords):
    stream = io.BytesIO()
    write_png(*arguments, stream, **keywords)
    return stream.getvalue()


@st.composite
def placements(draw):
    """Levels, size of the area, corner."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    channels = draw(st.sampled_from([(), (2,), (3,), (4,)]))
    before, after = (draw(st.tuples(st.integers(0, 5), st.integers(0, 300))) for _ in range(2))
    levels = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 256, shape + channels, dtype=np.uint8)
    return levels, tuple(np.add(np.add(shape, before), after).tolist()), before


@given(placements())
def test_pillow_reads_what_was_placed(placement):
    levels, size, (top, left) = placement
    expected = np.full(size + levels.shape[2:], 128, dtype=np.uint8)
    expected[top : top + levels.shape[0], left : left + levels.shape[1]] = levels
    image = read(written(levels, size=size, corner=(top, left), around=128))
    np.testing.assert_array_equal(np.asarray(image), expected)


@pytest.mark.parametrize("width", [21_844, 21_845, 21_846, 45_000])
def test_rows_longer_than_a_stored_block(width):
    levels = np.random.default_rng(0).integers(0, 256, (3, width, 3), dtype=np.uint8)
    np.testing.assert_array_equal(np.asarray(read(written(levels))), levels)
    image = read(written(levels, size=(5, width + 2), corner=(1, 1), around=7))
    np.testing.assert_array_equal(np.asarray(image)[1:-1, 1:-1], levels)
    assert np.unique(np.asarray(image)[[0, -1]]).tolist() == [7]


def test_what_lies_around_takes_next_to_nothing():
    levels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    content = written(levels, size=(1024, 1024), corner=(384, 384), around=128)
    assert levels.nbytes < len(content) < 1.1 * levels.nbytes


def test_checksums_are_right():
    content = written(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), size=(4, 3), corner=(1, 0), around=1)
    start = content.index(b"IDAT")
    length = int.from_bytes(content[start - 4 : start], "big")
    data = content[start + 4 : start + 4 + length]
    assert zlib.crc32(b"IDAT" + data) == int.from_bytes(content[start + 4 + length : start + 8 + length], "big")
    assert len(zlib.decompress(data)) == 4 * (1 + 9)  # which checks its own sum, too


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (9, 1), (31, 17)])
def test_modes_are_kept(mode, size):
    levels = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    image = Image.fromarray(levels).convert(mode)
    with Image.open(io.BytesIO(written(np.asarray(image)))) as whole:
        assert whole.format == "PNG"
        whole.verify()
    back = read(written(np.asarray(image)))
    assert (back.mode, back.size) == (image.mode, image.size)
    np.testing.assert_array_equal(np.asarray(back), np.asarray(image))
