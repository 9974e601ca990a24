"""Features of baseline models: what is simple to compute from images, labels and presentation times."""

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metrics import STIMULUS_GROUPS
from brainscore_core.supported_data_standards.brainio.images import naming_stimuli
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import CLASSES
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

LABELS: Final = (STIMULUS_GROUPS, *CLASSES)
"""Columns of stimuli, or coordinates of recordings, that name categories or groups."""

_TIMES: Final = ("presentation_time", "trial")
_BLOCKS: Final = ("subject", "session", "run", "block")

_SIZE: Final = 128  # pixels to which images are resized
_PIXELS: Final = 16  # in a row and in a column
_COARSE: Final = 32  # for statistics of colour
_LUMINANCE: Final = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # ITU-R 601
_GRID: Final = 8
_CYCLES: Final = (4.0, 8.0, 16.0, 32.0)  # per image
_ORIENTATIONS: Final = 6
_FINEST_CODES: Final = 200
FEWEST: Final = 32
"""Fewer features are repeated."""

NO_LABELS: Final = (
    f"the stimuli have no categories or groups: none of {', '.join(LABELS)} has values that stimuli share"
)

Floats = NDArray[np.float64]
Features = Callable[[StimulusSet], NDArray[np.floating]]


def time_codes(times: NDArray[Any], blocks: NDArray[Any] | None = None) -> Floats:
    """Smooth functions of the order of presentations.

    `times` sort the presentations within a block, such as a session; no function extends beyond a block. Returned are
    Gaussian functions of the rank within the block: of a standard deviation σ of 2 presentations (more if there are
    over 400), of 4 σ and of 16 σ, one σ apart; and the rank over all blocks, from 0 to 1.

    Examples
    --------
    >>> time_codes(np.array([30, 10, 20])).shape
    (3, 5)
    >>> time_codes(np.array([30, 10, 20]))[:, -1].tolist()
    [1.0, 0.0, 0.5]
    """
    groups = np.zeros(len(times), dtype=np.intp) if blocks is None else np.unique(blocks, return_inverse=True)[1]
    ranks = np.empty(len(times))
    for group in range(groups.max() + 1):
        members = np.flatnonzero(groups == group)
        ranks[members] = pd.Series(times[members]).rank(method="first").to_numpy() - 1
    finest = max(2.0, len(times) / _FINEST_CODES)
    columns = []
    for group in range(groups.max() + 1):
        here = groups == group
        for width in (finest, 4 * finest, 16 * finest):
            centres = np.arange(0.0, here.sum(), width)
            bumps = np.exp(-0.5 * ((ranks[:, np.newaxis] - centres) / width) ** 2)
            columns.append(np.where(here[:, np.newaxis], bumps, 0.0))
    overall = np.empty(len(times))
    overall[np.lexsort((ranks, groups))] = np.linspace(0.0, 1.0, len(times))
    return np.concatenate([*columns, overall[:, np.newaxis]], axis=1)


def shuffle_groups(groups: NDArray[Any], *, seed: int) -> NDArray[np.intp]:
    """Rows of another group for each row: all rows of a group get rows of the same other group.

    No group keeps its own. Rows of a smaller group are used several times, of a larger one some are not used.

    Examples
    --------
    >>> groups = np.array(["cat", "dog", "cat", "dog"])
    >>> groups[shuffle_groups(groups, seed=0)].tolist()
    ['dog', 'cat', 'dog', 'cat']
    """
    names, codes = np.unique(groups, return_inverse=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(names))
    rows = np.empty(len(codes), dtype=np.intp)
    for group, next_group in zip(order, np.roll(order, -1), strict=True):
        members, donors = np.flatnonzero(codes == group), rng.permutation(np.flatnonzero(codes == next_group))
        rows[members] = donors[np.arange(len(members)) % len(donors)]
    return rows


def _known(values: NDArray[np.floating], stimuli: pd.Index) -> Features:
    """Features that are looked up by the stimulus; they are scaled to an average variance of 1."""
    spread = float(np.sqrt(values.var(axis=0).mean()))
    if not spread > 0:
        raise UserError("the features do not vary between stimuli")
    scaled = values / spread
    return lambda shown: scaled[stimuli.get_indexer(pd.Index(shown["stimulus_id"]))]


class _ImageFeatures(NamedTuple):
    """Features of images, one row each."""

    pixels: NDArray[np.float32]
    gabor: NDArray[np.float32]
    colour: NDArray[np.float32]


def pixel_features(stimuli: StimulusSet) -> NDArray[np.floating]:
    """Means of 16 × 16 squares of red, green and blue."""
    return _images_of(_files(stimuli)).pixels


def gabor_features(stimuli: StimulusSet) -> NDArray[np.floating]:
    """Amplitudes of Gabor filters."""
    return _images_of(_files(stimuli)).gabor


def colour_features(stimuli: pd.DataFrame) -> Features:
    """Statistics of colour and luminance, standardised over stimuli."""
    values = _images_of(list(stimuli["_file"].items())).colour.astype(np.float64)
    spread = values.std(axis=0)
    return _known(((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0], stimuli.index)


def _files(stimuli: StimulusSet) -> list[tuple[str, Any]]:
    return [(name, stimuli.get_stimulus(name)) for name in stimuli["stimulus_id"]]


def _images_of(files: Sequence[tuple[Any, Any]]) -> _ImageFeatures:
    """Features of stimuli and their image files, kept in memory until their bytes change."""
    paths = tuple(str(path) for _, path in files)
    stats = (os.stat(path) for path in paths)
    with naming_stimuli(dict(files)):
        return _image_features(paths, tuple((stat.st_size, stat.st_mtime_ns) for stat in stats))


@functools.lru_cache(maxsize=4)
def _image_features(files: tuple[str, ...], state: tuple[tuple[int, int], ...]) -> _ImageFeatures:
    bank = _bank()

    def features(file: str) -> tuple[Any, Any, Any]:
        image = load_rgb(file, size=_SIZE).astype(np.float32) / np.float32(128) - np.float32(1)
        luminance = image @ _LUMINANCE
        pixels, coarse = _block_means(image, _PIXELS), _block_means(image, _COARSE)
        return 2 * pixels.ravel(), 10 * np.abs(bank(luminance)).ravel(), _colour_statistics(coarse)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pixels, gabor, colour = zip(*pool.map(features, files), strict=True)
    return _ImageFeatures(np.stack(pixels), np.stack(gabor), np.stack(colour))


@functools.lru_cache(maxsize=1)
def _bank() -> GaborBank:
    orientation, frequency = np.meshgrid(np.arange(_ORIENTATIONS) * 180 / _ORIENTATIONS, _CYCLES, indexing="ij")
    filters = GaborFilters.from_bandwidths(
        orientation=orientation.ravel(),
        frequency=frequency.ravel(),  # cycles per image: the image spans one degree
        frequency_bandwidth=1.5,
        orientation_bandwidth=40.0,
    )
    return GaborBank(filters, size=_SIZE, visual_degrees=1.0, grid=_GRID)


def _block_means(image: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    step = _SIZE // number
    means: NDArray[np.float32] = image.reshape(number, step, number, step, 3).mean(axis=(1, 3))
    return means


def _colour_statistics(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean, standard deviation, skewness and kurtosis of each channel, and percentiles of luminance."""
    red, green, blue = np.moveaxis(image, -1, 0)
    luminance = image @ _LUMINANCE
    saturation = image.max(axis=-1) - image.min(axis=-1)
    channels = np.stack([luminance, red - green, blue - (red + green) / 2, saturation]).reshape(4, -1)
    means = channels.mean(axis=1)
    deviations = channels - means[:, np.newaxis]
    squares = deviations * deviations
    spreads = np.sqrt(squares.mean(axis=1))
    scale = np.maximum(spreads, 1e-3)  # of uniform channels, shapes are 0
    shapes = [(squares * deviations).mean(axis=1) / scale**3, (squares * squares).mean(axis=1) / scale**4]
    return np.concatenate([means, spreads, *shapes, np.percentile(luminance, (5, 25, 50, 75, 95))]).astype(np.float32)


def labels_of(
    stimuli: pd.DataFrame, coordinates: Sequence[pd.DataFrame], grouped_by: str | None
) -> dict[str, pd.Series]:
    """Name → label of each stimulus, each partition of the stimuli once; the coordinate that groups splits first."""
    labels: dict[str, pd.Series] = {}
    for name in dict.fromkeys([*([grouped_by] if grouped_by else []), *LABELS]):
        values = stimuli.get(name)
        for table in coordinates:
            if values is None and {name, "stimulus_id"} <= set(table.columns):
                values = table.drop_duplicates("stimulus_id").set_index("stimulus_id")[name].reindex(stimuli.index)
        if values is None or values.isna().any():
            continue
        values = values.astype(str)
        number = values.nunique()
        same = any(
            number == labels_before.nunique() == len(set(zip(values, labels_before, strict=True)))
            for labels_before in labels.values()
        )
        if 2 <= number <= len(values) / 2 and not same:
            labels[name] = values
    return labels


def code_features(labels: Mapping[str, pd.Series]) -> Features:
    """Rows of a Hadamard matrix for the values of each label.

    They are orthogonal as one-hot codes are, and fits are the same; but all numbers in their RDM are exact, so that
    equal dissimilarities have equal ranks.
    """
    from scipy.linalg import hadamard

    if not labels:
        raise UserError(NO_LABELS)
    # norms are powers of 2: 4^n codes, and 4^n labels, some of which are repeated
    most = max(values.nunique() for values in labels.values())
    number = _power_of_four(max(most + 1, FEWEST))
    rows = hadamard(number)[1:]  # the first is constant
    codes_of_labels = [rows[pd.factorize(values)[0]] for values in labels.values()]
    codes = np.concatenate(
        [codes_of_labels[i % len(codes_of_labels)] for i in range(_power_of_four(len(codes_of_labels)))], axis=1
    )
    stimuli = next(iter(labels.values())).index
    return lambda shown: codes[stimuli.get_indexer(pd.Index(shown["stimulus_id"]))].astype(np.float64)


def _power_of_four(least: int) -> int:
    return int(4 ** (((least - 1).bit_length() + 1) // 2))


def time_features(coordinates: Sequence[pd.DataFrame], stimuli: pd.DataFrame) -> Features:
    """Time codes of each stimulus, averaged over its presentations."""
    for table in coordinates:
        for name in _TIMES:
            if name not in table or pd.isna(table[name]).any() or table[name].nunique() < 3:
                continue
            blocks = [table[block].astype(str) for block in _BLOCKS if block in table]
            joined = pd.Series(["|".join(names) for names in zip(*blocks, strict=True)]) if blocks else None
            codes = time_codes(table[name].to_numpy(), None if joined is None else joined.to_numpy())
            averaged = pd.DataFrame(codes).groupby(table["stimulus_id"].to_numpy()).mean().reindex(stimuli.index)
            if not averaged.isna().any(axis=None):
                return _known(averaged.to_numpy(), stimuli.index)
    raise UserError(
        f"the order of presentations is not known: the recordings have no complete coordinate {' or '.join(_TIMES)}"
    )
