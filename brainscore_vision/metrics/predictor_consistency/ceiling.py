"""Split-half consistency with halves drawn image by image."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values
from brainscore_core.metric_helpers.uncertainty import attach_neuroid_interval, note_undefined, over_splits
from brainscore_core.metrics import Ceiling, Score, attach_uncertainty
from brainscore_core.numerics import pearson, spearman_brown
from brainscore_core.numerics.resampling import median
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import grouping_of
from brainscore_vision.metric_helpers.repetitions import find_drift, require_own_responses

MIN_IMAGES = 10
"""With fewer images that were repeated the published ceiling is undefined."""


@dataclass(eq=False)
class SplitHalfPredictorConsistency(Ceiling):
    """Split-half reliability of neuroids that predict a model (the ceiling of reverse predictivity) [1]_.

    Each image's repetitions are permuted and divided into halves (the second one is the larger where their number is
    odd); halves are averaged and correlated over images (Pearson), neuroid by neuroid; 2r/(1 + r) corrects for the
    halved number. The ceiling is the mean over splits of the median over neuroids.

    `n_splits`: number of random divisions. `seed`: seed of NumPy's default generator, which is used for all splits,
    images in sorted order. `image_level`: coordinate that names images; by default ``image_id``, and ``stimulus_id``
    where there is none. `rep_level`: coordinate that orders the repetitions of an image before they are permuted.

    Notes
    -----
    Unlike :class:`~brainscore_vision.metrics.internal_consistency.ceiling.InternalConsistency` halves are drawn for
    each image by itself, so that images may have different numbers of repetitions and repetitions need no common
    labels. An image that was shown once is left out; with fewer than 10 images left the ceiling is NaN.
    NaN counts as not measured; an image that a neuroid has in one half only is left out for this neuroid.
    A neuroid that does not vary is NaN in ``raw``, is left out by the median and counted in ``attrs['undefined']``.

    ``attrs``: ``raw`` (split × neuroid); ``error``: standard deviation over splits (ddof 0) divided by √splits, as
    published; ``ci`` with neuroids resampled; ``meaning``: ``'reliability'``; ``drift``: as of
    :class:`~brainscore_vision.metrics.internal_consistency.ceiling.InternalConsistency`.

    References
    ----------
    .. [1] Muzellec & Kar (2025). https://doi.org/10.1101/2025.08.08.669382

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> images, repetitions = np.tile(np.arange(200), 10), np.repeat(np.arange(10), 200)
    >>> assembly = NeuroidAssembly(
    ...     rng.standard_normal((200, 30))[images] + 2 * rng.standard_normal((2000, 30)),
    ...     coords={"stimulus_id": ("presentation", images), "repetition": ("presentation", repetitions),
    ...             "neuroid_id": ("neuroid", np.arange(30))},
    ...     dims=["presentation", "neuroid"])
    >>> float(SplitHalfPredictorConsistency()(assembly).round(1))  # 1 / (1 + 4 / 10) = 0.71
    0.7
    """

    meaning = "reliability"

    n_splits: int = 10
    seed: int = 0
    image_level: str | None = None
    rep_level: str = "repetition"

    def __call__(self, assembly: DataAssembly) -> Score:
        """Estimate the reliability of `assembly`.

        `assembly`: presentation × neuroid. Result: at most 1; NaN with fewer than 10 repeated images. A
        MetricInputError if a coordinate is missing, no image was repeated, or repetitions are copies.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        values = np.asarray(assembly.values)
        if values.dtype.kind not in "fiub":
            raise MetricInputError(f"the assembly holds values of type {values.dtype}", remedy="pass recordings")
        rows, starts = self._repeated(assembly)
        values = values[rows].astype(np.float64)
        images = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        require_own_responses(values, images)
        repeated = assembly.isel(presentation=rows)
        repetitions = np.unique(repeated[self.rep_level].values, return_inverse=True)[1]
        groups = grouping_of(repeated.isel(presentation=starts)).values
        drift = find_drift(repeated, values, images, repetitions, groups=groups)
        result = np.full((self.n_splits, values.shape[1]), np.nan)
        if len(starts) >= MIN_IMAGES:
            rng = np.random.default_rng(self.seed)
            for split in range(self.n_splits):
                first = _first_halves(starts, len(rows), rng)
                halves = (_image_means(values, starts, of_half) for of_half in (first, ~first))
                result[split] = spearman_brown(_correlation(*halves))
        coords: dict[str, Any] = {"split": ("split", np.arange(self.n_splits))} | coords_for_dim(assembly, "neuroid")
        raw = Score(result, coords=coords, dims=["split", "neuroid"])
        value, spread = over_splits(median(result, axis=1))
        score = Score(value)
        score.attrs = {Score.RAW_VALUES_KEY: raw, "meaning": self.meaning, "split_error": spread, "drift": drift}
        attach_neuroid_interval(score, raw)
        note_undefined(score, result, what="the correlation of two halves")
        if len(starts) < MIN_IMAGES:
            reason = f"{len(starts)} images were repeated: at least {MIN_IMAGES} are needed"
            attach_uncertainty(score, reason=reason)
        return score

    def _repeated(self, assembly: DataAssembly) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of images with several presentations, sorted by image and repetition, and where each image begins."""
        name = self.image_level or ("image_id" if "image_id" in assembly.coords else "stimulus_id")
        images = coord_values(assembly, name, role="assembly")
        labels = coord_values(assembly, self.rep_level, role="assembly")
        for coord, values in ((name, images), (self.rep_level, labels)):
            if pd.isna(values).any():
                raise MetricInputError(f"coordinate {coord!r} has missing values", remedy="fill them in")
        codes, ranks = (np.unique(column, return_inverse=True)[1] for column in (images, labels))
        repeated = np.bincount(codes)[codes] > 1 if len(codes) else np.zeros(0, dtype=bool)
        if not repeated.any():
            raise MetricInputError(
                f"no image of {name!r} was shown more than once",
                remedy="pass the recordings before repetitions were averaged "
                "(for example load_assembly(average_repetitions=False))",
            )
        order = np.lexsort((ranks, codes))
        rows = order[repeated[order]]
        return rows, np.flatnonzero(np.diff(codes[rows], prepend=-1))


def _first_halves(starts: NDArray[np.intp], n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows belong to the first half of their image."""
    first = np.zeros(n, dtype=bool)
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        count = end - start
        first[start + rng.permutation(count)[: count // 2]] = True
    return first


def _image_means(values: NDArray[np.float64], starts: NDArray[np.intp], half: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean of each image's rows in a half, NaN left out."""
    measured = half[:, None] & ~np.isnan(values)
    total = np.add.reduceat(np.where(measured, values, 0.0), starts, axis=0)
    count = np.add.reduceat(measured, starts, axis=0, dtype=np.float64)
    return np.asarray(total / np.where(count > 0, count, np.nan))


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columnwise correlation over the images that both halves have."""
    both = ~(np.isnan(first) | np.isnan(second))
    if both.all():
        return pearson(first, second)
    return np.array([float(pearson(first[rows, i], second[rows, i])) for i, rows in enumerate(both.T)])
