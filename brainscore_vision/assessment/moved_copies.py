"""Pictures that show the same after one of them was mirrored, cropped, shifted or rotated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn, idctn
from scipy.linalg import expm
from scipy.ndimage import gaussian_filter

SIMILARITY = 0.93
"""Correlation of grey levels and of contours from which an aligned picture is a moved copy."""

DIFFERENCE = 0.1
"""Largest difference of two aligned pictures at any place, as a share of the range of levels."""

UNDETERMINED = 0.04
"""Change by a movement up to which a picture does not show whether it was moved, as `DIFFERENCE`."""

_SIZE = 64
_CELLS = 8
_ORIENTATIONS = 8
_BLOCK = 512
_DETAILED_BLOCK = 64
_NEAREST = 10
_STARTS = 4  # alignments of a pair without fine detail
_ALIGNMENTS = 2  # alignments of a pair with fine detail
_LEAST = 0.35  # correlation of descriptors below which pictures are not aligned
_AGREEMENT = 0.65  # correlation of band-passed pictures below which an alignment is given up
_OVERLAP = 0.7  # share of a shifted or rotated picture that the other one shows, too
_SAME_SIZE = 0.03
_PART = 0.95  # share of a part of a picture that the other one shows, too
_LARGEST_TURN = 0.25
_EVERYWHERE = 0.88  # mean agreement of all places with contours
_FAINT = 1.0  # levels a pixel below which a place has no contours
_EVEN = 8.0  # levels by which a margin may differ from one level
_RARE = 0.2  # share of other pixels that may have the level of a margin
_ROUGH_DIFFERENCE = 0.25  # largest difference of pictures that are aligned in detail
_MOVEMENT = 0.1  # mean shift of contours by which a picture is moved to see whether that changes it
_LARGEST_ZOOM = 0.5  # logarithm of the zoom, or turn, by which it is moved at most
_SAME_ALIGNMENT = 0.03  # shift, turn or zoom by which alignments of two pictures differ at most that are the same
_BORDER = 3 / _SIZE  # width of the margin that filters blur, and that is not compared
_SLOPES = 0.85  # least correlation of the slopes of grey levels
_BAND = 4.0  # cycles per picture
_FAINT_BAND = 10.0  # levels below which contrast is not equalised
_WINDOW = 0.9
_POINTS = 10

Array = NDArray[np.float32]
Rows = NDArray[np.intp]


class _Version(NamedTuple):
    """Where in another picture the middle of a picture is looked for."""

    mirrored: bool
    zoom: float
    degrees: float
    right: float
    down: float

    def matrix(self) -> Array:
        """Positions in the other picture from positions in the picture; the centre is (0, 0), the width 1."""
        angle = np.deg2rad(self.degrees)
        cosine, sine = np.cos(angle) / self.zoom, np.sin(angle) / self.zoom
        side = -1 if self.mirrored else 1
        return np.array([[cosine * side, -sine, self.right], [sine * side, cosine, self.down]], dtype=np.float32)


def _versions() -> tuple[_Version, ...]:
    """Pairs are compared in both orders, so that the inverse of a version needs no version."""
    moves = [(1.0, 0.0, x * 0.05, y * 0.05) for y in range(3) for x in range(-2, 3) if (y, x) >= (0, 0)]
    for zoom, step, most in ((1.12, 0.05, 1), (1.22, 0.045, 2), (1.33, 0.0625, 2)):
        steps = np.arange(-most, most + 1) * step
        moves += [(zoom, 0.0, x, y) for x in steps for y in steps]
    moves += [(1.0, 7.0, 0.0, 0.0), (1.15, 7.0, 0.0, 0.0), (1.15, -7.0, 0.0, 0.0)]
    moves += [(1.0, degrees, 0.0, 0.0) for degrees in (90.0, 180.0, 270.0)]
    return tuple(_Version(mirrored, *move) for mirrored in (False, True) for move in moves)


_VERSIONS = _versions()
_ORDER = sorted(range(len(_VERSIONS)), key=lambda number: _VERSIONS[number].zoom)


def find_moved_copies(grey: Array, groups: Rows, load: Callable[[Rows], Array]) -> list[tuple[int, int, float]]:
    """Find pairs of pictures that are equal after one of both was moved.

    `grey` is pictures × 64 × 64; pictures of one group are not compared. `load` returns the grey levels of pictures of
    given numbers (pictures × 128 × 128), and is called for pairs that nearly agree. Returned are two pictures, the
    first with the smaller number, and their similarity: the smaller of the correlations of their grey levels and
    contours where they overlap.

    Notes
    -----
    The middle of each picture, without its lowest and highest frequencies and with equal contrast everywhere, is
    compared with the middle of each other one, with parts shifted by up to 10 % of the width, enlarged by up to 1.33,
    and rotated by up to 10° or by quarters of a turn, also mirrored. The 10 most similar pictures of each are aligned,
    from several of the most similar parts: the similarity transform that minimises the squared difference is found by
    the Gauss-Newton method [1]_, first of pictures without fine detail. The two best alignments of each pair are
    improved at 128 × 128 pixels. There, a copy may differ nowhere by more than `DIFFERENCE` after smoothing, because
    outlines of one kind may agree almost everywhere, and both correlations must be above `SIMILARITY`. Weak contours
    must agree as well, so that the same shape elsewhere, on another ground, is not a copy. A copy has the size of the
    other picture, or is a part of it.

    Pictures that some movement hardly changes, such as discs, gratings, bands or a straight edge, fit into many others.
    A copy must therefore differ from the other picture less than half as much as each of both differs from itself after
    the movement that changes it least (:func:`least_change`), and pictures that such a movement changes by less than
    `UNDETERMINED` are no copies.

    References
    ----------
    .. [1] Baker & Matthews (2004). Lucas-Kanade 20 years on: a unifying framework. International Journal of Computer
           Vision 56, 221–255. https://doi.org/10.1023/B:VISI.0000011205.11775.fd

    Examples
    --------
    >>> levels = np.random.default_rng(0).uniform(0, 255, (32, 32))
    >>> picture = levels.repeat(4, 0).repeat(4, 1).astype(np.float32)
    >>> shown = np.stack([picture, picture[::-1].T, picture[:, ::-1]])
    >>> find_moved_copies(pooled(shown, 64).reshape(3, 64, 64), np.arange(3), shown.__getitem__)
    [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]
    """
    first, second, matrices = _roughly_aligned(grey, groups)
    copies: dict[tuple[int, int], float] = {}
    for start in range(0, len(first), _BLOCK):
        block = slice(start, start + _BLOCK)
        for a, b, value in zip(*_finely_aligned(grey, load, first[block], second[block], matrices[block]), strict=True):
            pair = (int(min(a, b)), int(max(a, b)))
            copies[pair] = max(copies.get(pair, 0), round(float(value), 4))
    return [(*pair, similarity) for pair, similarity in sorted(copies.items())]


def orientation_energy(pictures: Array, weights: Array | None = None) -> Array:
    """Lengths of gradients in each of 8 × 8 places, by orientation modulo 180° in 8 bins with linear interpolation.

    Pictures × 512, of grey levels that are smoothed before (binomial filter of 5 pixels); `weights` are of the pixels.
    """
    width = _SIZE // _CELLS
    cell_index = np.arange(_SIZE) // width
    cells = (cell_index[:, None] * _CELLS + cell_index) * _ORIENTATIONS
    number = _CELLS**2 * _ORIENTATIONS
    down, right = np.gradient(_smoothed(pictures), axis=(1, 2))
    length = np.hypot(down, right)
    if weights is not None:
        length *= weights
    angle = np.mod(np.arctan2(down, right), np.pi) * (_ORIENTATIONS / np.pi)
    lower = np.floor(angle)
    upper_share = angle - lower
    offset = cells + np.arange(len(pictures))[:, None, None] * number
    total = np.zeros(len(pictures) * number)
    for shift, share in ((0, 1 - upper_share), (1, upper_share)):
        bins = offset + (lower.astype(np.intp) + shift) % _ORIENTATIONS
        total += np.bincount(bins.ravel(), (length * share).ravel(), minlength=len(total))
    return total.reshape(len(pictures), -1).astype(np.float32)


def pooled(pictures: Array, size: int) -> Array:
    """Mean levels of size × size cells, a row for each picture."""
    width = pictures.shape[1] // size
    return np.asarray(pictures.reshape(len(pictures), size, width, size, width).mean((2, 4)).reshape(len(pictures), -1))


def _smoothed(pictures: Array) -> Array:
    weights = np.array([1, 4, 6, 4, 1], dtype=np.float32) / 16
    for axis in (1, 2):
        padded = np.pad(pictures, [(2, 2) if dim == axis else (0, 0) for dim in range(3)], mode="edge")
        pictures = sum(  # type: ignore[assignment] # of arrays
            weight * np.take(padded, np.arange(_SIZE) + shift, axis=axis) for shift, weight in enumerate(weights)
        )
    return pictures


def _without_margins(grey: Array) -> Array:
    """Pictures whose margins of one level, which occurs almost nowhere else, are replaced by the nearest row inside."""
    grey = grey.copy()
    for side in range(4):
        turned = np.rot90(grey, side, (1, 2))  # a view
        level = turned[:, :1, :1]
        even = np.abs(turned - level).max(axis=2) < _EVEN
        width = np.cumprod(even, axis=1).sum(axis=1)
        for picture in np.flatnonzero((width > 0) & (width <= _SIZE // 5)):
            rows = slice(width[picture] + 1, None)  # the first row inside may be mixed with the margin
            if (np.abs(turned[picture, rows] - level[picture]) < _EVEN).mean() < _RARE:
                turned[picture, : rows.start] = turned[picture, rows.start]
    return grey


def _band_passed(grey: Array, centre: float) -> Array:
    """Pictures of half the size without low and high frequencies, with equal contrast everywhere."""
    cycles = np.hypot(*np.meshgrid(np.arange(_SIZE) / 2, np.arange(_SIZE) / 2))
    transfer = (cycles * np.exp(-((cycles / centre) ** 2))).astype(np.float32)
    result = np.empty((len(grey), _SIZE // 2, _SIZE // 2), dtype=np.float32)
    for start in range(0, len(grey), _BLOCK):
        spectrum = dctn(grey[start : start + _BLOCK], axes=(1, 2), norm="ortho")
        band = pooled(idctn(spectrum * transfer, axes=(1, 2), norm="ortho"), _SIZE // 2)
        band = band.reshape(-1, _SIZE // 2, _SIZE // 2)
        contrast = np.sqrt(gaussian_filter(band**2, (0, 3, 3)) + _FAINT_BAND**2)
        result[start : start + _BLOCK] = band / contrast
    return result


def _grid(points: int, width: float = 1.0) -> Array:
    """Positions (x, y) in the middle of cells of a square around (0, 0)."""
    line = ((np.arange(points) + 0.5) / points - 0.5) * width
    return np.stack([axis.ravel() for axis in np.meshgrid(line, line)]).astype(np.float32)


def _moved(matrices: Array, grid: Array) -> tuple[Array, Array]:
    x, y = np.moveaxis(matrices[:, :, :2] @ grid + matrices[:, :, 2:], 1, 0)
    return x, y


def _sampled(pictures: Array, rows: Rows, x: Array, y: Array) -> Array:
    """Levels at positions of each picture, with linear interpolation; beyond its border those of the border."""
    size = pictures.shape[1]
    x, y = (np.clip((axis + 0.5) * size - 0.5, 0, size - 1.001) for axis in (x, y))
    left, above = x.astype(np.intp), y.astype(np.intp)
    x, y = (x - left).astype(np.float32), (y - above).astype(np.float32)
    corner = rows[:, None] * size**2 + above * size + left
    levels = pictures.reshape(-1)
    upper = (1 - x) * levels[corner] + x * levels[corner + 1]
    lower = (1 - x) * levels[corner + size] + x * levels[corner + size + 1]
    return np.asarray((1 - y) * upper + y * lower)


def _descriptors(grey: Array) -> Iterator[Array]:
    """Parts of all pictures, with mean 0 and length 1, for each version, by its zoom."""
    grid, everything, zoom = _grid(_POINTS, _WINDOW), np.arange(len(grey)), 0.0
    for version in (_VERSIONS[number] for number in _ORDER):
        if version.zoom != zoom:
            zoom = version.zoom
            band = _band_passed(grey, _BAND * zoom)
        windows = _sampled(band, everything, *_moved(version.matrix()[None], grid))
        windows -= windows.mean(axis=1, keepdims=True)
        yield windows / np.maximum(np.linalg.norm(windows, axis=1, keepdims=True), 1e-3)


def _candidates(grey: Array, groups: Rows) -> tuple[Rows, Rows, Rows]:
    """Pictures, pictures whose middle they may contain, and versions to start from: the most similar ones of each."""
    n = len(grey)
    value = np.full((n, _NEAREST), _LEAST, dtype=np.float32)
    partner = np.full((n, _NEAREST), -1)
    for number, windows in enumerate(_descriptors(grey)):
        if number == 0:
            middle = windows
        for start in range(0, n, _BLOCK):
            block = slice(start, start + _BLOCK)
            similarity = middle[block] @ windows.T
            np.abs(similarity, out=similarity)
            row, column = np.divmod(np.flatnonzero(similarity > value[block, -1:]), n)
            in_other_group = groups[row + start] != groups[column]
            row, column = row[in_other_group], column[in_other_group]
            if not len(row):
                continue
            rows = np.concatenate([np.repeat(np.arange(len(similarity)), _NEAREST), row])
            values = np.concatenate([value[block].ravel(), similarity[row, column]])
            partners = np.concatenate([partner[block].ravel(), column])
            best = np.lexsort((-values, rows))
            repeated = (partners[best] >= 0) & ~_first_of(rows[best] * (n + 1) + partners[best])
            best = best[~repeated]
            rank = np.arange(len(best)) - np.searchsorted(rows[best], rows[best])
            best = best[rank < _NEAREST]
            value[block], partner[block] = (array[best].reshape(-1, _NEAREST) for array in (values, partners))
    picture, rank_of_pair = np.nonzero(partner >= 0)
    return _starts(grey, middle, partner[picture, rank_of_pair], picture)


def _starts(grey: Array, middle: Array, one: Rows, other: Rows) -> tuple[Rows, Rows, Rows]:
    """Pairs with the versions that their alignment starts from: the most similar ones of several sides and sizes.

    The most similar version is always one of them, the next ones only if they are similar, too: parts of simple shapes
    look alike at several places, and a shape may resemble its mirror image.
    """
    kinds = sorted({version[:2] for version in _VERSIONS})
    value = np.zeros((len(kinds), len(one)), dtype=np.float32)
    best = np.zeros((len(kinds), len(one)), dtype=np.intp)
    middles = middle[other]
    for number, windows in zip(_ORDER, _descriptors(grey), strict=True):
        similarity = np.abs(np.einsum("ij,ij->i", middles, windows[one]))
        kind = kinds.index(_VERSIONS[number][:2])
        best[kind] = np.where(similarity > value[kind], number, best[kind])
        np.maximum(value[kind], similarity, out=value[kind])
    top = np.argsort(-value, axis=0, kind="stable")[:_STARTS]
    used = np.take_along_axis(value, top, axis=0) > _AGREEMENT
    used[0] = True
    rank, pair = np.nonzero(used)
    return one[pair], other[pair], best[top[rank, pair], pair]


def _roughly_aligned(grey: Array, groups: Rows) -> tuple[Rows, Rows, Array]:
    """Pairs of pictures that agree without fine detail, the two best alignments of each."""
    bare = _without_margins(grey)
    first, second, versions = _candidates(bare, groups)
    coarse, fine = (_band_passed(bare, band) for band in (_BAND, 2 * _BAND))
    matrices = np.stack([version.matrix() for version in _VERSIONS])[versions]
    difference = np.full(len(first), np.inf, dtype=np.float32)
    for start in range(0, len(first), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(first)))
        for band in (coarse, fine):
            matrices[rows] = _aligned(band, first[rows], second[rows], matrices[rows], steps=5)
            rows = rows[_agreement(band, first[rows], second[rows], matrices[rows]) > _AGREEMENT]
        difference[rows] = _largest_difference(grey, first[rows], second[rows], matrices[rows])
    pair = np.minimum(first, second) * len(grey) + np.maximum(first, second)
    order, chosen = np.lexsort((difference, pair)), np.empty(0, dtype=np.intp)
    order = order[np.isfinite(difference[order])]
    one_way = np.where((first > second)[:, None, None], _inverse(matrices), matrices)
    for _ in range(_ALIGNMENTS):
        best = order[_first_of(pair[order])]
        chosen = np.append(chosen, best)
        distance = np.abs(one_way[order] - one_way[best][np.searchsorted(pair[best], pair[order])]).max(axis=(1, 2))
        order = order[distance > _SAME_ALIGNMENT]
    return first[chosen], second[chosen], matrices[chosen]


def _finely_aligned(
    grey: Array, load: Callable[[Rows], Array], one: Rows, other: Rows, matrices: Array
) -> tuple[Rows, Rows, Array]:
    """Pairs that are copies, and their similarity."""
    numbers, rows = np.unique(np.concatenate([one, other]), return_inverse=True)
    pictures = grey[numbers]
    first, second = np.split(rows, 2)
    matrices = _aligned(_smoothed(pictures), first, second, matrices, steps=3)
    close = _largest_difference(pictures, first, second, matrices) < _ROUGH_DIFFERENCE
    one, other = one[close], other[close]
    matrices, equal = _aligned_in_detail(load, one, other, matrices[close])
    one, other, matrices = one[equal], other[equal], matrices[equal]
    if not len(one):
        return one, other, np.empty(0, dtype=np.float32)
    similarity = _compared(grey, one, other, matrices)
    is_copy = (similarity > SIMILARITY) & _is_plausible(matrices)
    return one[is_copy], other[is_copy], similarity[is_copy]


def _inverse(matrices: Array) -> Array:
    """Positions in the picture from positions in the other picture."""
    back = np.linalg.inv(matrices[:, :, :2])
    return np.concatenate([back, -back @ matrices[:, :, 2:]], axis=2)


def _first_of(values: Rows) -> NDArray[np.bool_]:
    """Whether each value occurs for the first time."""
    first = np.zeros(len(values), dtype=bool)
    first[np.unique(values, return_index=True)[1]] = True
    return first


def least_change(pictures: Array) -> Array:
    """Largest difference that a shift, turn or zoom of a tenth of the width makes, whichever makes the smallest one.

    The slopes of a picture show to the first order which movement that is. The picture is compared with itself after
    this movement, both ways.
    """
    size = pictures.shape[1]
    grid = _grid(size)
    inside = np.abs(grid).max(axis=0) < 0.5 - _BORDER
    smooth = gaussian_filter(pictures, (0, size / _SIZE, size / _SIZE))
    down, right = (slope.reshape(len(pictures), -1) * inside for slope in np.gradient(smooth, axis=(1, 2)))
    slopes = np.stack([right * grid[0] + down * grid[1], down * grid[0] - right * grid[1], right, down], axis=1)
    length = np.hypot(down, right)
    scale = np.stack([np.linalg.norm(side, axis=1) for side in (length * np.hypot(*grid), length)], axis=1)
    scale = np.maximum(scale, 1e-3)[:, [0, 0, 1, 1]]
    slopes /= scale[:, :, None]
    weakest = np.linalg.eigh(slopes @ slopes.transpose(0, 2, 1))[1][:, :, 0]
    zoom, turn, across, along = (weakest / scale).T[:, :, None]
    movement = np.hypot(zoom * grid[0] - turn * grid[1] + across, turn * grid[0] + zoom * grid[1] + along) * length
    amount = _MOVEMENT * length.sum(axis=1) / np.maximum(movement.sum(axis=1), 1e-6)
    amount = np.minimum(amount, _LARGEST_ZOOM / np.maximum(np.hypot(zoom, turn)[:, 0], 1e-6))
    zero = np.zeros_like(zoom)
    generator = np.stack([zoom, -turn, across, turn, zoom, along, zero, zero, zero], axis=1).reshape(-1, 3, 3)
    generator *= amount[:, None, None]
    rows = np.arange(len(pictures))
    return np.min([_largest_difference(pictures, rows, rows, _finite(way * generator)) for way in (-1, 1)], axis=0)


def _finite(generators: Array) -> Array:
    """Movements from their generators."""
    return np.asarray(expm(generators)[:, :2], dtype=np.float32)


def _aligned(pictures: Array, one: Rows, other: Rows, matrices: Array, *, steps: int) -> Array:
    """Improve positions in one picture for the positions in the other."""
    grid = _grid(pictures.shape[1])
    target = pictures.reshape(len(pictures), -1)[other]
    for _ in range(steps):
        x, y = _moved(matrices, grid)
        inside = (np.maximum(np.abs(x), np.abs(y)) < 0.5 - _BORDER).astype(np.float32)
        levels = _sampled(pictures, one, x, y)
        down, right = (
            slope.reshape(levels.shape) * pictures.shape[1]
            for slope in np.gradient(levels.reshape(-1, *pictures.shape[1:]), axis=(1, 2))
        )
        turned = down * grid[0] - right * grid[1]
        slopes = [right * grid[0] + down * grid[1], turned, right, down, levels, np.ones_like(levels)]
        design = np.stack(slopes, axis=1) * inside[:, None]
        gram = design @ design.transpose(0, 2, 1)
        product = design @ target[:, :, None]
        diagonal = np.einsum("nii->ni", gram)
        gram += 1e-4 * (diagonal[:, :, None] + 1e-3) * np.eye(len(slopes), dtype=np.float32)
        solution = np.linalg.solve(gram, product)[:, :, 0]
        gain = solution[:, -2]
        gain = np.where(np.abs(gain) < 0.2, np.where(gain < 0, -0.2, 0.2), gain)
        scale, turn, across, along = np.clip(solution[:, :-2] / gain[:, None], -0.08, 0.08).T
        step = np.stack([1 + scale, -turn, across, turn, 1 + scale, along], axis=1).reshape(-1, 2, 3)
        moved = matrices[:, :, :2] @ step
        moved[:, :, 2] += matrices[:, :, 2]
        matrices = moved
    return matrices


def _agreement(pictures: Array, one: Rows, other: Rows, matrices: Array) -> Array:
    """Magnitude of the correlation of aligned pictures where they overlap."""
    x, y = _moved(matrices, _grid(pictures.shape[1]))
    inside = np.maximum(np.abs(x), np.abs(y)) < 0.5 - _BORDER
    target = pictures.reshape(len(pictures), -1)[other]
    return np.abs(_correlation(_sampled(pictures, one, x, y), target, inside))


def _compared(grey: Array, one: Rows, other: Rows, matrices: Array) -> Array:
    """Similarity of aligned pictures where they overlap; 0 if weak contours or slopes do not agree."""
    grid = _grid(_SIZE)
    x, y = _moved(matrices, grid)
    inside = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(grid).max(axis=0)) < 0.5 - _BORDER
    weights = inside.astype(np.float32).reshape(-1, _SIZE, _SIZE)
    moved, still = _sampled(grey, one, x, y).reshape(weights.shape), grey[other]
    whole = pooled(weights, 2 * _CELLS) > 0.99
    pixels = _correlation(pooled(moved, 2 * _CELLS), pooled(still, 2 * _CELLS), whole)
    energy = orientation_energy(moved, weights), orientation_energy(still, weights)
    area = pooled(weights, _CELLS)
    cells = np.repeat(area > 0.3, _ORIENTATIONS, axis=1)
    outlines = _correlation(energy[0], energy[1], cells)
    everywhere = _mean_agreement(energy[0], energy[1], area)
    slopes = _agreement_of_slopes(moved, still, weights)
    possible = (everywhere > _EVERYWHERE) & (slopes > _SLOPES)
    return np.where(possible, np.minimum(np.abs(pixels), outlines), 0)


def _agreement_of_slopes(first: Array, second: Array, weights: Array) -> Array:
    """Magnitude of the correlation of the slopes of smoothed pictures, whose means are 0 by nature."""
    sides = []
    for pictures in (first, second):
        down, right = np.gradient(_smoothed(pictures), axis=(1, 2))
        slopes = np.stack([down, right], axis=1) * weights[:, None]
        sides.append(slopes.reshape(len(slopes), -1))
    lengths = np.linalg.norm(sides[0], axis=1) * np.linalg.norm(sides[1], axis=1)
    return np.asarray(np.abs(np.einsum("ij,ij->i", *sides)) / np.maximum(lengths, 1e-6))


def _mean_agreement(first: Array, second: Array, area: Array) -> Array:
    """Mean correlation of the orientations in a place, over all places with any contours, weak ones included."""
    sides = [side.reshape(len(side), -1, _ORIENTATIONS) for side in (first, second)]
    strength = np.maximum(*(side.sum(axis=2) for side in sides)) / np.maximum(area * (_SIZE // _CELLS) ** 2, 1)
    used = (strength > _FAINT) & (area > 0.3)
    sides = [side - side.mean(axis=2, keepdims=True) for side in sides]
    lengths = np.linalg.norm(sides[0], axis=2) * np.linalg.norm(sides[1], axis=2)
    correlation = (sides[0] * sides[1]).sum(axis=2) / np.maximum(lengths, 1e-6)
    return np.asarray((correlation * used).sum(axis=1) / np.maximum(used.sum(axis=1), 1))


def _aligned_in_detail(
    load: Callable[[Rows], Array], one: Rows, other: Rows, matrices: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Improve positions at a higher resolution; also whether the aligned pictures differ nowhere.

    The largest difference must also be clearly smaller than that of each picture and the same picture moved.
    """
    result, equal = np.empty_like(matrices), np.zeros(len(one), dtype=bool)
    for start in range(0, len(one), _DETAILED_BLOCK):
        block = slice(start, start + _DETAILED_BLOCK)
        numbers, rows = np.unique(np.concatenate([one[block], other[block]]), return_inverse=True)
        pictures = np.asarray(load(numbers), dtype=np.float32)
        first, second = np.split(rows, 2)
        result[block] = _aligned(pictures, first, second, matrices[block], steps=5)
        difference = _largest_difference(pictures, first, second, result[block])
        close = np.flatnonzero(difference < DIFFERENCE)
        used, rows = np.unique(np.concatenate([first[close], second[close]]), return_inverse=True)
        if len(used):
            change = least_change(pictures[used])[rows.reshape(2, -1)].min(axis=0)
            equal[start + close] = (change > UNDETERMINED) & (difference[close] < change / 2)
    return result, equal


def _largest_difference(pictures: Array, one: Rows, other: Rows, matrices: Array) -> Array:
    """Largest difference of pictures where they overlap, after their levels were matched."""
    size = pictures.shape[1]
    grid = _grid(size)
    x, y = _moved(matrices, grid)
    inside = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(grid).max(axis=0)) < 0.5 - _BORDER
    number = np.maximum(inside.sum(axis=1, keepdims=True), 1)
    moved, still = (
        (side - (side * inside).sum(axis=1, keepdims=True) / number) * inside
        for side in (_sampled(pictures, one, x, y), pictures.reshape(len(pictures), -1)[other])
    )
    gain = (moved * still).sum(axis=1, keepdims=True) / np.maximum((moved**2).sum(axis=1, keepdims=True), 1e-6)
    difference = (gain * moved - still).reshape(-1, size, size)
    difference = gaussian_filter(difference, (0, size / _SIZE, size / _SIZE))
    return np.asarray(np.abs(difference).max(axis=(1, 2)) / np.maximum(np.ptp(still, axis=1), 1e-6))


def _is_plausible(matrices: Array) -> NDArray[np.bool_]:
    """Whether one picture may be a copy of the other: of equal size, or a part."""
    zoom = np.abs(np.linalg.det(matrices[:, :, :2])) ** -0.5
    x, y = _moved(matrices, _grid(_SIZE))
    shared = (np.maximum(np.abs(x), np.abs(y)) <= 0.5).mean(axis=1)
    turn = np.abs(matrices[:, :, 0]).min(axis=1) * zoom  # sine of the angle to the next quarter of a turn
    same_size = (np.abs(zoom - 1) < _SAME_SIZE) & (shared >= _OVERLAP)
    return np.asarray((turn < _LARGEST_TURN) & (same_size | (shared * np.maximum(1, zoom**-2) > _PART)))


def _correlation(first: Array, second: Array, used: NDArray[np.bool_]) -> Array:
    """Correlation of rows over the entries that are used; 0 if there are none."""
    number = np.maximum(used.sum(axis=1, keepdims=True), 1)
    first, second = ((side - (side * used).sum(axis=1, keepdims=True) / number) * used for side in (first, second))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray((first * second).sum(axis=1) / np.maximum(lengths, 1e-6))
