"""Pictures that are equal, or nearly so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.supported_data_standards.brainio.images import ImageError, naming_stimuli
from brainscore_vision.assessment.moved_copies import find_moved_copies, orientation_energy, pooled
from brainscore_vision.model_helpers.images import load_grey

THRESHOLD = 0.9
"""Similarity from which two pictures are near-duplicates."""

LISTED = 50
"""Number of pairs that are listed; all are counted."""

_SIZE = 64
_PIXELS = 16
_READ = 256
_BLOCK = 512
_THREADS = 4
_ZOOMS = (1.01, 1.02, 1.03)
_CANDIDATE = 0.2  # pairs whose similarity is at most this much below the threshold are compared at other zooms
_MOST_CANDIDATES = 5000
_KEPT = 4096  # pictures of 128 × 128 levels that are kept while pairs are aligned: 64 MiB

Array = NDArray[np.float32]
Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Pair:
    """Two stimuli that show the same."""

    # first and second: their ``stimulus_id``
    first: str
    second: str
    similarity: float  # 1 for files with the same content
    equal: bool  # whether the files have the same content
    first_path: str
    second_path: str


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Equal and nearly equal pictures of a set."""

    equal: Codes  # (stimuli,): group of each stimulus; stimuli of a group have files with the same content
    # (stimuli,): group of each stimulus; stimuli of a group are connected by equal files or near-duplicates
    alike: Codes
    # Number of pairs of equal files and of (other) near-duplicates; of moved copies, those that were aligned
    n_equal: int
    n_near: int
    pairs: tuple[Pair, ...]  # the most similar ones, at most 50 of each kind
    # (stimuli, 256): grey levels of 16 × 16 pixels, 0 to 255; NaN for stimuli without a picture. None if there are no
    # pictures.
    pixels: Array | None
    reason: str | None  # why pictures, or some of them, were not compared

    @property
    def pair_numbers(self) -> dict[str, int]:
        """Numbers of pairs of equal files and of near-duplicates, by these names."""
        return {"equal files": self.n_equal, "near-duplicates": self.n_near}


def find_duplicates(
    stimulus_ids: Sequence[str], paths: Mapping[str, str | Path], *, threshold: float = THRESHOLD
) -> Duplicates:
    """Find files with the same content, and pictures that are nearly the same.

    Stimuli without a file equal no other stimulus; a UserError if a file does not exist. A file that is not a readable
    picture is left out of the comparison, and named by `Duplicates.reason`. Two pictures are
    near-duplicates if the magnitudes of both correlations are above the threshold: that of their grey levels
    (:func:`small_pixels`) and that of their contours (:func:`contours`).

    Notes
    -----
    Grey levels alone would confuse pictures of the same layout, such as sky above ground; contours alone, textures of
    the same kind. Both survive noise, compression, another size, brightness or contrast, inversion and shifts of about
    1 % of the width (less, where texture is finer than 8 cycles per picture). Pairs slightly below the threshold, at
    most 5,000, are also compared after one of both was enlarged by 1, 2 or 3 % around its centre. Copies that were
    mirrored, cropped, shifted or rotated are found by
    :func:`~brainscore_vision.assessment.moved_copies.find_moved_copies`, which aligns each picture with the most
    similar ones of other groups. Another view or another background is not found. Pictures of one level have no
    correlation. Work grows with the square of the number of pictures; memory with the number of
    pictures, since correlations are computed in blocks.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> rng = np.random.default_rng(0)
    >>> levels = rng.integers(0, 256, (3, 32, 32), dtype=np.uint8)
    >>> levels[1] = levels[0] // 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = {name: Path(folder, f"{name}.png") for name in "abc"}
    ...     for path, picture in zip(paths.values(), levels, strict=True):
    ...         Image.fromarray(picture).save(path)
    ...     found = find_duplicates(list("abc"), paths)
    >>> found.n_near, found.alike.tolist(), (found.pairs[0].first, found.pairs[0].second)
    (1, [0, 0, 1], ('a', 'b'))
    """
    files = [Path(paths[name]) if name in paths else None for name in stimulus_ids]
    digests = _in_threads(_digest, files)
    contents = [f"{number} has no file" if digest is None else digest for number, digest in enumerate(digests)]
    equal = _numbered(contents)
    first_equal = _first_of_group(equal)
    repeated = np.flatnonzero(first_equal != np.arange(len(files))).tolist()

    def pair(a: int, b: int, similarity: float, same: bool) -> Pair:
        return Pair(str(stimulus_ids[a]), str(stimulus_ids[b]), similarity, same, str(files[a]), str(files[b]))

    pairs = [pair(first_equal[row], row, 1.0, True) for row in repeated[:LISTED]]
    first = np.unique(equal, return_index=True)[1]
    grey, readable, reason = _read([files[row] for row in first], paths)
    shown = first[readable]
    if not len(shown):
        reason = reason or "the stimuli have no files"
        return Duplicates(equal, equal, len(repeated), 0, tuple(pairs), None, reason)
    small, outlines = small_pixels(grey), contours(grey)

    @lru_cache(_KEPT)
    def detailed(row: int) -> NDArray[np.uint8]:
        return load_grey(str(files[shown[row]]), size=2 * _SIZE)

    number, nearest, groups = _near(grey, (small, outlines), threshold, detailed)
    pairs += [pair(shown[a], shown[b], similarity, False) for a, b, similarity in nearest]
    of_distinct_groups = np.arange(len(first)) + len(shown)
    of_distinct_groups[equal[shown]] = groups
    alike = _numbered(of_distinct_groups[equal])
    pixels = np.full((len(first), _PIXELS**2), np.nan, dtype=np.float32)
    pixels[equal[shown]] = pooled(grey, _PIXELS)
    return Duplicates(equal, alike, len(repeated), number, tuple(pairs), pixels[equal], reason)


def small_pixels(grey: ArrayLike) -> Array:
    """Grey levels of 16 × 16 pixels, with mean 0 and length 1; 0 for pictures of one level.

    The product of two rows is the correlation of the two pictures.
    """
    return _normalised(pooled(np.asarray(grey, dtype=np.float32), _PIXELS))


def contours(grey: ArrayLike) -> Array:
    """Contrast of each orientation in each of 8 × 8 places, with mean 0 and length 1; 0 for pictures of one level.

    Lengths of the gradients in a place, by their orientation modulo 180° in 8 bins with linear interpolation [1]_;
    pictures are smoothed before (binomial filter of 5 pixels). The product of two rows is a correlation.

    References
    ----------
    .. [1] Dalal & Triggs (2005). Histograms of oriented gradients for human detection.
           https://doi.org/10.1109/CVPR.2005.177
    """
    pictures = np.asarray(grey, dtype=np.float32)
    energies = [orientation_energy(pictures[start : start + _READ]) for start in range(0, len(pictures), _READ)]
    return _normalised(np.concatenate(energies))


def merge_groups(first: ArrayLike, second: ArrayLike) -> Codes:
    """Groups of entries that are connected by two groupings.

    Examples
    --------
    >>> merge_groups([0, 0, 1, 2, 3], [0, 1, 1, 2, 3]).tolist()
    [0, 0, 0, 1, 2]
    """
    groups, others = (_numbered(values) for values in (first, second))
    return _numbered(_connected(groups, np.arange(len(groups)), _first_of_group(others)))


def _numbered(values: ArrayLike) -> Codes:
    """Groups of equal values, numbered as they occur."""
    return np.asarray(pd.factorize(np.asarray(values, dtype=object))[0], dtype=np.intp)


def _first_of_group(codes: Codes) -> Codes:
    """The first entry of the group of each entry."""
    return np.unique(codes, return_index=True)[1][codes]


def _digest(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return file_digest(path, "sha256")
    except OSError as error:
        raise UserError(
            f"the stimulus {path} cannot be read: {error}", remedy="fetch the stimulus set again"
        ) from error


def _in_threads(function: Any, values: Sequence[Any]) -> list[Any]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(function, values))


def _read(files: Sequence[Path | None], paths: Mapping[str, str | Path]) -> tuple[Array, Codes, str | None]:
    """Pictures of the files that can be read, their rows, and the first error with the number of such files."""
    known = [row for row, file in enumerate(files) if file is not None]
    pictures = dict(zip(known, _in_threads(_grey, [files[row] for row in known]), strict=True))
    errors = [picture for picture in pictures.values() if isinstance(picture, ImageError)]
    readable = [row for row, picture in pictures.items() if not isinstance(picture, ImageError)]
    grey = np.empty((len(readable), _SIZE, _SIZE), dtype=np.float32)
    for number, row in enumerate(readable):
        grey[number] = pictures[row]
    reason = None
    if errors:
        try:
            with naming_stimuli(paths):
                raise errors[0]
        except ImageError as error:
            more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            reason = f"{error.message}{more}"
    return grey, np.array(readable, dtype=np.intp), reason


def _grey(path: Path) -> NDArray[np.uint8] | ImageError:
    try:
        return load_grey(path, size=_SIZE)
    except ImageError as error:
        return error


def _normalised(features: Array) -> Array:
    centred = features - features.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    varies = length > 1e-4 * np.maximum(np.abs(features).max(axis=1, keepdims=True), 1) * features.shape[1] ** 0.5
    return np.where(varies, centred / np.where(varies, length, 1), 0).astype(np.float32)


def _near(
    grey: Array, features: Sequence[Array], threshold: float, detailed: Callable[[int], NDArray[np.uint8]]
) -> tuple[int, list[tuple[int, int, float]], Codes]:
    """Number of pairs whose smallest |r| is above the threshold, the most similar ones, and connected groups."""
    n = len(features[0])
    groups, number = np.arange(n, dtype=np.intp), 0
    best: list[tuple[int, int, float]] = []
    nearly: list[tuple[int, int, float]] = []
    for start in range(0, n, _BLOCK):
        similarity = np.minimum(*(np.abs(side[start : start + _BLOCK] @ side[start:].T) for side in features))
        a, b = np.nonzero(similarity > threshold - _CANDIDATE)
        later = b > a
        a, b = a[later], b[later]
        values = similarity[a, b]
        near = values > threshold
        number += int(near.sum())
        best = _most_similar(best, a[near] + start, b[near] + start, values[near], LISTED)
        nearly = _most_similar(nearly, a[~near] + start, b[~near] + start, values[~near], _MOST_CANDIDATES)
        groups = _connected(groups, a[near] + start, b[near] + start)
    zoomed = _near_at_other_zooms(grey, nearly, threshold)
    groups = _connected(groups, *_numbers(zoomed))
    moved = find_moved_copies(grey, groups, lambda rows: np.stack([detailed(row) for row in rows.tolist()]))
    groups = _connected(groups, *_numbers(moved))
    for moved_pairs in (zoomed, moved):
        best = _most_similar(best, *_numbers(moved_pairs), [similarity for _, _, similarity in moved_pairs], LISTED)
    return number + len(zoomed) + len(moved), best, groups


def _numbers(pairs: Sequence[tuple[int, int, float]]) -> tuple[Codes, Codes]:
    """First and second pictures of pairs."""
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
    return first, second


def _most_similar(
    known: list[tuple[int, int, float]], a: ArrayLike, b: ArrayLike, values: ArrayLike, most: int
) -> list[tuple[int, int, float]]:
    first, second, similarity = np.asarray(a), np.asarray(b), np.asarray(values)
    top = np.argsort(-similarity, kind="stable")[:most]
    new = [(int(first[row]), int(second[row]), round(float(similarity[row]), 4)) for row in top]
    return sorted([*known, *new], key=lambda pair: -pair[2])[:most] if new else known


def _connected(groups: Codes, a: Codes, b: Codes) -> Codes:
    """Join the groups of the pictures of each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(a):
        return groups
    n = len(groups)
    edges = coo_array((np.ones(len(a)), (groups[a], groups[b])), shape=(n, n))
    return np.asarray(connected_components(edges, directed=False)[1][groups], dtype=np.intp)


def _near_at_other_zooms(
    grey: Array, pairs: Sequence[tuple[int, int, float]], threshold: float
) -> list[tuple[int, int, float]]:
    """Return the pairs that are near-duplicates if one of both pictures is enlarged a little."""
    if not pairs:
        return []
    shown = sorted({picture for first, second, _ in pairs for picture in (first, second)})
    position = {picture: number for number, picture in enumerate(shown)}
    a = np.array([position[first] for first, _, _ in pairs])
    b = np.array([position[second] for _, second, _ in pairs])
    highest = np.array([pair[2] for pair in pairs])
    before = [feature(grey[shown]) for feature in (small_pixels, contours)]
    for zoom in _ZOOMS:
        enlarged = _enlarged(grey[shown], zoom)
        after = [feature(enlarged) for feature in (small_pixels, contours)]
        for first, second in ((a, b), (b, a)):
            both = [np.abs(np.einsum("ij,ij->i", x[first], y[second])) for x, y in zip(before, after, strict=True)]
            highest = np.maximum(highest, np.minimum(*both))
    return [
        (first, second, round(float(similarity), 4))
        for (first, second, _), similarity in zip(pairs, highest, strict=True)
        if similarity > threshold
    ]


def _enlarged(pictures: Array, zoom: float) -> Array:
    """Enlarge pictures around their centre, with linear interpolation."""
    for axis in (1, 2):
        centre = (_SIZE - 1) / 2
        position = (np.arange(_SIZE) - centre) / zoom + centre
        lower = np.minimum(position.astype(np.intp), _SIZE - 2)
        share = (position - lower).astype(np.float32).reshape((-1, 1) if axis == 1 else (1, -1))
        pictures = (1 - share) * np.take(pictures, lower, axis) + share * np.take(pictures, lower + 1, axis)
    return pictures
