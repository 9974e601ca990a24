"""Split-half reliability of repeated measurements."""

from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values
from brainscore_core.metric_helpers.uncertainty import (
    attach_each,
    attach_neuroid_interval,
    attach_predictivity_interval,
    note_undefined,
    over_splits,
    units_along,
    units_of_stimuli,
)
from brainscore_core.metric_helpers.xarray_utils import XarrayCorrelation
from brainscore_core.metrics import NEUROID_GROUPS, Ceiling, Score
from brainscore_core.numerics import pearson, split_half_reliability
from brainscore_core.numerics.noise import half_means, spearman_brown
from brainscore_core.numerics.predictions import FEWEST, PredictivityOfSplits
from brainscore_core.numerics.resampling import median
from brainscore_core.numerics.splits import shuffle_splits
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_vision.metric_helpers.repetitions import ORDERS, find_drift, is_order, require_own_responses

_AVERAGED = (
    "pass the recordings before repetitions were averaged (for example load_assembly(average_repetitions=False)), "
    "or name the coordinate that tells them apart with split_coord"
)


class _Table(NamedTuple):
    values: NDArray[np.float64]
    stimuli: NDArray[np.intp]
    repetitions: NDArray[np.intp]
    n_repetitions: int
    of_stimuli: DataAssembly  # one presentation of each stimulus
    drift: str


@dataclass(eq=False)
class InternalConsistency(Ceiling):
    """Split-half reliability of the mean over repetitions, Spearman–Brown corrected.

    Repetitions are divided into random halves; each half is averaged, the two are correlated over stimuli (Pearson),
    and 2r/(1 + r) gives the reliability of the mean over all repetitions [1]_ [2]_, neuroid by neuroid. The ceiling is
    the mean over splits of the median over neuroids.

    Parameters
    ----------
    split_coord : str
        Coordinate of ``presentation`` (or dimension) that tells repetitions apart.
    splits : int
        Number of random divisions.
    random_state : int
        Seed; halves are those of scikit-learn's ``ShuffleSplit(train_size=.5)`` over the sorted repetition labels.
    stimulus_groups, neuroid_groups : str, optional
        Coordinates whose values group stimuli and neuroids that do not vary independently; by default those that the
        assembly declares (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`), and
        ``subject`` if it has that. None: no groups.

    Notes
    -----
    The result is a share of variance: with signal variance s² over stimuli, noise variance v of a presentation and R
    repetitions it estimates s²/(s² + v/R). A correlation with the averaged recordings is related to it as
    r²/reliability, without squaring it. With an odd R the halves differ by one repetition, and the estimate is
    slightly low.

    Presentations are averaged that agree in all coordinates but `split_coord`. Stimuli with fewer repetitions than
    others enter each split in which both halves have some of theirs. NaN counts as not measured. A neuroid that
    does not vary is NaN in ``raw``; the median leaves it out, and ``attrs['undefined']`` counts such values.

    Where a coordinate tells the order of presentations, responses that follow an order which all repetitions share are
    a warning (:func:`~brainscore_vision.metric_helpers.repetitions.find_drift`). Such a coordinate, if it
    alone makes all presentations differ, does not define a stimulus.

    ``attrs``: ``raw`` (split × neuroid, reliabilities); ``error`` and ``ci``, standard error and interval over new
    stimuli and new neuroids (neuroids alone, if they were not shown the same stimuli); ``split_error``, the standard
    deviation over splits (ddof 0) divided by √splits, as published; ``meaning``: ``'reliability'``; ``drift``:
    ``'unknown'``, ``'none'`` or ``'found'``.

    References
    ----------
    .. [1] Spearman (1910). British Journal of Psychology 3, 271–295. https://doi.org/10.1111/j.2044-8295.1910.tb00206.x
    .. [2] Brown (1910). British Journal of Psychology 3, 296–322. https://doi.org/10.1111/j.2044-8295.1910.tb00207.x

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> stimuli, repetitions = np.tile(np.arange(200), 10), np.repeat(np.arange(10), 200)
    >>> signal, noise = rng.standard_normal((200, 30)), rng.standard_normal((2000, 30))
    >>> assembly = NeuroidAssembly(
    ...     signal[stimuli] + 2 * noise,
    ...     coords={"stimulus_id": ("presentation", stimuli), "repetition": ("presentation", repetitions),
    ...             "neuroid_id": ("neuroid", np.arange(30))},
    ...     dims=["presentation", "neuroid"])
    >>> float(InternalConsistency()(assembly).round(1))  # 1 / (1 + 4 / 10) = 0.71
    0.7
    """

    meaning = "reliability"

    split_coord: str = "repetition"
    _: KW_ONLY
    splits: int = 10
    random_state: int = 1
    stimulus_groups: str | None = DECLARED
    neuroid_groups: str | None = NEUROID_GROUPS

    def __call__(self, assembly: DataAssembly) -> Score:
        """Estimate the reliability of `assembly`.

        Parameters
        ----------
        assembly : NeuroidAssembly, presentation × neuroid
            Single presentations, with `split_coord`.

        Returns
        -------
        Score
            At most 1; negative where halves disagree.

        Raises
        ------
        MetricInputError
            If there are no repetitions, for instance because they were averaged, or they are copies.
        """
        table = self._table(assembly)
        options: dict[str, Any] = {"n_splits": self.splits, "train_size": 0.5, "random_state": self.random_state}
        halves = list(shuffle_splits(table.n_repetitions, **options))
        values = split_half_reliability(table.values, table.stimuli, table.repetitions, halves)
        coords = {"split": ("split", np.arange(len(halves)))} | coords_for_dim(assembly, "neuroid")
        raw = Score(values, coords=coords, dims=["split", "neuroid"])
        value, spread = over_splits(median(values, axis=1))
        score = Score(value)
        score.attrs = {Score.RAW_VALUES_KEY: raw, "meaning": self.meaning, "split_error": spread, "drift": table.drift}
        self._attach_interval(score, table, halves)
        return note_undefined(score, raw.values, what="the correlation of two halves")

    def _attach_interval(
        self, score: Score, table: _Table, halves: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> None:
        """Attach the interval over stimuli and neuroids, or over neuroids alone if each was shown other stimuli."""
        stimuli = units_of_stimuli(table.of_stimuli, self.stimulus_groups)
        neuroids = units_along(table.of_stimuli, "neuroid", self.neuroid_groups, default=NEUROID_GROUPS)
        collected = PredictivityOfSplits(stimuli.codes, change=spearman_brown)
        for first, second in half_means(table.values, table.stimuli, table.repetitions, halves):
            measured = ~(np.isnan(first) | np.isnan(second))
            rows = np.flatnonzero(measured.all(axis=1))
            if len(rows) < FEWEST or measured.any(axis=1).sum() > len(rows):
                few = f"{len(rows)} stimuli with responses of all neuroids"
                attach_neuroid_interval(score, score.attrs[Score.RAW_VALUES_KEY], reason=few)
                return
            collected.add(first[rows], second[rows], test=rows)
        attach_predictivity_interval(score, collected.result(), stimuli=stimuli, neuroids=neuroids)

    def _table(self, assembly: DataAssembly) -> _Table:
        coord = self.split_coord
        if coord not in assembly.dims:
            assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
            if coord not in assembly.coords:
                raise MetricInputError(f"the assembly has no repetitions: no coordinate {coord!r}", remedy=_AVERAGED)
            labels = coord_values(assembly, coord, role="assembly")
            stimulus_coords = [name for name in coords_for_dim(assembly, "presentation") if name != coord]
            stimuli = _codes([assembly[name].values for name in stimulus_coords], len(labels))
            # when it was shown does not define a stimulus
            timeless = [name for name in stimulus_coords if name not in ORDERS or not is_order(assembly, str(name))]
            codes = _codes([assembly[name].values for name in timeless], len(labels))
            if len(timeless) < len(stimulus_coords) and not _repeated(codes, labels):
                stimulus_coords, stimuli = timeless, codes
            values = assembly.values
            of_stimuli = assembly.isel(presentation=np.unique(stimuli, return_index=True)[1])
        else:
            assembly = as_table(assembly, ("presentation", coord, "neuroid"), role="assembly")
            n, r, _ = assembly.shape
            labels, stimuli, stimulus_coords = np.tile(np.arange(r), n), np.repeat(np.arange(n), r), []
            values = assembly.values.reshape(n * r, -1)
            of_stimuli = assembly.isel({coord: 0})
        if len(labels) and pd.isna(labels).any():
            raise MetricInputError(
                f"coordinate {coord!r} has missing values", remedy="number the repetitions of each stimulus"
            )
        unique, repetitions = np.unique(labels, return_inverse=True)
        if len(unique) < 2:
            raise MetricInputError(
                f"the assembly has no repetitions: {coord!r} takes {len(unique)} value", remedy=_AVERAGED
            )
        if len(np.unique(stimuli * len(unique) + repetitions)) == len(np.unique(stimuli)):
            raise self._nothing_repeats(assembly, stimulus_coords)
        if values.dtype.kind not in "fiub":
            raise MetricInputError(f"the assembly holds values of type {values.dtype}", remedy="pass recordings")
        require_own_responses(values, stimuli)
        groups = units_of_stimuli(of_stimuli, self.stimulus_groups).clusters
        drift = find_drift(assembly, values, stimuli, repetitions, groups=groups)
        return _Table(values, stimuli, repetitions, len(unique), of_stimuli, drift)

    def _nothing_repeats(self, assembly: DataAssembly, stimulus_coords: list[Hashable]) -> MetricInputError:
        message = f"no two presentations differ in {self.split_coord!r} alone"
        if "stimulus_id" in stimulus_coords:
            n = len(assembly["stimulus_id"])
            alone = len(np.unique(_codes([assembly["stimulus_id"].values], n)))
            changing = [
                repr(name)
                for name in stimulus_coords
                if len(np.unique(_codes([assembly["stimulus_id"].values, assembly[name].values], n))) > alone
            ]
            if changing:
                return MetricInputError(
                    f"{message}: for the same stimulus {', '.join(changing)} change, too",
                    remedy=f"drop what does not define a stimulus, for example assembly.drop_vars([{changing[0]}])",
                )
        return MetricInputError(message, remedy=_AVERAGED)


class PearsonCorrelation(XarrayCorrelation):
    """Pearson correlation of two halves over stimuli, neuroid by neuroid.

    `stimulus_coord`, `neuroid_coord`: coordinates by which stimuli and neuroids are matched. `neuroid_dim`: dimension
    over which :meth:`aggregate` takes the median.
    """

    def __init__(
        self, stimulus_coord: str = "stimulus_id", neuroid_dim: str = "neuroid", neuroid_coord: str = "neuroid_id"
    ) -> None:
        super().__init__(pearson, stimulus_coord, neuroid_coord, columnwise=True)
        self._neuroid_dim = neuroid_dim

    def aggregate(self, scores: Score) -> Score:
        """Median over neuroids."""
        return scores.median(self._neuroid_dim)


def _repeated(stimuli: NDArray[np.intp], labels: NDArray[Any]) -> bool:
    """Whether a repetition has a stimulus twice."""
    return bool(pd.DataFrame({"stimulus": stimuli, "repetition": labels}).duplicated().any())


def _codes(columns: list[NDArray[Any]], length: int) -> NDArray[np.intp]:
    """One number for each distinct combination of the columns' values, from 0 on."""
    codes = np.zeros(length, dtype=np.intp)
    for column in columns:
        column_codes, unique = pd.factorize(column, use_na_sentinel=False)
        codes = pd.factorize(codes * max(1, len(unique)) + column_codes)[0]
    return codes


class TemporalInternalConsistency(InternalConsistency):
    """Split-half reliability of each time bin: :class:`InternalConsistency`, bin by bin.

    All bins are divided into the same halves. Arguments are those of :class:`InternalConsistency`.

    Notes
    -----
    The result has one value a time bin. ``attrs``: ``raw`` (time_bin × split × neuroid); ``error`` and the two limits
    in ``ci`` are arrays over ``time_bin``, NaN in bins where they cannot be had; ``error_reason`` and ``ci_reason``
    then say why. ``undefined`` counts NaN of all bins. Neighbouring bins share neuroids: their intervals are not
    independent.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> stimuli, repetitions = np.tile(np.arange(100), 4), np.repeat(np.arange(4), 100)
    >>> noise = rng.standard_normal((400, 20, 2)) * [4, 1]
    >>> assembly = NeuroidAssembly(
    ...     rng.standard_normal((100, 20, 1))[stimuli] + noise,
    ...     coords={"stimulus_id": ("presentation", stimuli), "repetition": ("presentation", repetitions),
    ...             "neuroid_id": ("neuroid", np.arange(20)),
    ...             "time_bin_start": ("time_bin", [0, 70]), "time_bin_end": ("time_bin", [70, 170])},
    ...     dims=["presentation", "neuroid", "time_bin"])
    >>> TemporalInternalConsistency()(assembly).values.round(1)  # 1 / (1 + 16 / 4) and 1 / (1 + 1 / 4)
    array([0.2, 0.8])
    """

    per_time_bin = True

    def __call__(self, assembly: DataAssembly) -> Score:
        """Estimate the reliability of each time bin of `assembly`.

        `assembly`: presentation × neuroid × time_bin; single presentations, with the coordinate that tells repetitions
        apart. Result: one value a time bin. A MetricInputError if there are no time bins or no repetitions.
        """
        if "time_bin" not in assembly.dims or assembly.sizes["time_bin"] == 0:
            raise MetricInputError(
                "the assembly has no time bins",
                remedy="record in several time bins, or use the ceiling 'internal_consistency'",
            )
        n_bins = assembly.sizes["time_bin"]
        estimate = super().__call__
        bins = [estimate(assembly.isel(time_bin=i, drop=True)) for i in range(n_bins)]
        along = coords_for_dim(assembly, "time_bin")
        first = bins[0].attrs[Score.RAW_VALUES_KEY]
        raw_coords: dict[str, Any] = dict(along)
        for dim in first.dims:
            raw_coords |= coords_for_dim(first, dim)

        score = Score(np.array([float(of_bin) for of_bin in bins]), coords=along, dims=["time_bin"])
        values = np.stack([of_bin.attrs[Score.RAW_VALUES_KEY].values for of_bin in bins])
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords=raw_coords, dims=["time_bin", *first.dims]),
            "meaning": self.meaning,
            "undefined": sum(of_bin.attrs["undefined"] for of_bin in bins),
        }
        return attach_each(score, bins, what="time bin")
