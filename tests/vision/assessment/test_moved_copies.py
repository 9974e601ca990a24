"""Pictures that were mirrored, cropped, shifted or rotated."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from brainscore_vision.assessment import moved_copies
from brainscore_vision.assessment.moved_copies import find_moved_copies, pooled

SIZE = 64


def clouds(n, seed=0, size=160):
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size))
    frequency[0, 0] = np.inf
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n, *frequency.shape)) + 1j * rng.standard_normal((n, *frequency.shape))
    values = np.fft.irfft2(noise / frequency**1.2, s=(size, size))
    return 128 + 45 * values / values.std((1, 2), keepdims=True)


def seen(picture, matrix=None, outside=None, size=SIZE):
    """Levels of a large picture at moved positions."""
    matrix = np.eye(2, 3) if matrix is None else matrix
    large = len(picture)
    line = (np.arange(size) + 0.5) / size - 0.5
    grid = np.stack([axis.ravel() for axis in np.meshgrid(line, line)])
    x, y = matrix[:, :2] @ grid + matrix[:, 2:]
    options = {"mode": "nearest"} if outside is None else {"mode": "constant", "cval": outside}
    places = [(axis + 0.5) * large - 0.5 for axis in (y, x)]
    return map_coordinates(picture, places, order=1, **options).reshape(size, size).astype(np.float32)


def move(*, mirrored=False, zoom=1.0, degrees=0.0, shift=(0.0, 0.0)):
    angle = np.deg2rad(degrees)
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
    return np.column_stack([turned @ np.diag([-1 if mirrored else 1, 1]), shift])


def copies(shown, groups=None):
    """Moved copies among pictures of twice the size."""
    shown = np.asarray(shown, dtype=np.float32)
    small = pooled(shown, SIZE).reshape(-1, SIZE, SIZE)
    return find_moved_copies(small, np.arange(len(shown)) if groups is None else groups, shown.__getitem__)


@pytest.mark.parametrize(
    "options",
    [
        {"mirrored": True},
        {"zoom": 1 / 0.9, "shift": (0.05, -0.05)},
        {"zoom": 1 / 0.8, "shift": (-0.1, -0.1)},
        {"zoom": 1 / 0.75, "shift": (0.125, 0.125)},
        {"shift": (0.04, 0.04)},
        {"shift": (-0.1, 0.1)},
        {"degrees": 90},
        {"mirrored": True, "degrees": 180},
        {"degrees": 5},
        {"degrees": -8},
        {"mirrored": True, "zoom": 1 / 0.9, "shift": (0.05, 0.05)},
    ],
    ids=str,
)
@pytest.mark.parametrize("outside", [None, 0])
def test_a_moved_copy_is_found_and_nothing_else(options, outside):
    pictures = clouds(12)
    changed = 255 - seen(pictures[5], move(**options), outside, 2 * SIZE)
    ((first, second, similarity),) = copies([*(seen(picture, size=2 * SIZE) for picture in pictures), changed])
    assert (first, second) == (5, 12)
    assert 0.93 < similarity <= 1


def test_the_alignment_is_the_true_one():
    picture = clouds(1)[0]
    true = move(zoom=1.15, degrees=4, shift=(0.03, -0.05))
    shown = np.stack([seen(picture), seen(picture, true)])
    band = pooled(moved_copies._smoothed(shown), SIZE // 2).reshape(-1, SIZE // 2, SIZE // 2)
    start = move(zoom=1.1, shift=(0.05, -0.03)).astype(np.float32)[None]
    found = moved_copies._aligned(band, np.array([0]), np.array([1]), start, steps=8)
    np.testing.assert_allclose(found[0], true, atol=0.005)


def test_a_group_is_not_compared():
    picture = clouds(1)[0]
    shown = [seen(picture, matrix, size=2 * SIZE) for matrix in (None, move(mirrored=True))]
    assert len(copies(shown)) == 1
    assert copies(shown, np.zeros(2, dtype=int)) == []


def test_shapes_that_a_movement_leaves_unchanged_are_no_copies():
    """Discs of two sizes, bands, edges, corners and gratings fit if they are moved; shapes without symmetry do, too."""
    size = 2 * SIZE
    y, x = np.mgrid[:size, :size] / size - 0.5

    def area(distance):
        """Black where a distance is negative."""
        return 255 * np.clip(distance * size + 0.5, 0, 1)

    discs = [area(np.hypot(x, y) - radius) for radius in (0.3, 0.34)]
    bands = [area(np.abs(x + 0.3 * y - shift) - 0.1) for shift in (0, 0.05)]
    edges = [area(x + 0.3 * y - shift) for shift in (0, 0.05)]
    corners = [area(np.maximum(x + 0.3 * y, y - 0.3 * x) - shift) for shift in (0, 0.05)]
    gratings = [127 + 100 * np.sin(30 * x + 12 * y + phase) for phase in (0, 1.5)]
    for shown in (discs, bands, edges, corners, gratings):
        assert copies(shown) == []
    tongues = [area(np.abs(x + 0.3 * y - shift) - np.where(y < 0.1, 0.1, 0.2)) for shift in (0, 0.05)]
    assert [pair[:2] for pair in copies(tongues)] == [(0, 1)]


def test_alignment_starts_from_several_sides_if_they_are_similar():
    """A bottle resembles its mirror image; a cloud does not."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE - 0.5
    bottle = 255.0 * ~((abs(x) < 0.18) & (abs(y) < 0.4) & ((y > -0.1) | (abs(x - 0.02) < 0.08)))
    for picture, sides in ((bottle, {False, True}), (seen(clouds(1)[0]), {True})):
        shown = np.stack([picture, picture[:, ::-1]]).astype(np.float32)
        versions = moved_copies._candidates(shown, np.arange(2))[2]
        assert {moved_copies._VERSIONS[number].mirrored for number in versions} == sides


def test_outlines_that_differ_at_one_place_are_no_copies():
    """Two bottles, of which one has a label that stands out, and a bottle and its mirror image."""
    size = 2 * SIZE
    y, x = np.mgrid[:size, :size] / size - 0.5
    bottle = (abs(x) < 0.18) & (abs(y) < 0.4) & ((y > -0.1) | (abs(x + 0.04) < 0.08))
    label = bottle | ((abs(x - 0.2) < 0.06) & (abs(y - 0.2) < 0.05))
    assert copies(255.0 * np.stack([bottle, label[:, ::-1]])) == []
    assert [pair[:2] for pair in copies(255.0 * np.stack([bottle, bottle[:, ::-1]]))] == [(0, 1)]


def test_candidates_are_those_of_a_search_over_all_pairs():
    grey = np.stack([seen(picture) for picture in clouds(20)])
    one, other, version = moved_copies._candidates(grey, np.arange(20))
    parts = np.stack(list(moved_copies._descriptors(grey)))
    similarity = np.abs(np.einsum("id,vjd->vij", parts[0], parts)).max(axis=0)
    np.fill_diagonal(similarity, 0)
    for picture in range(20):
        best = [partner for partner in np.argsort(-similarity[picture])[:10] if similarity[picture, partner] > 0.35]
        assert set(one[other == picture]) == set(best)
    assert version.max() < len(moved_copies._VERSIONS)
