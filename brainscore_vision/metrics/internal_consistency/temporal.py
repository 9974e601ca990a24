"""Split-half reliability in each time bin."""

from typing import Any

import numpy as np

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.uncertainty import attach_each
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_vision.metrics.internal_consistency.ceiling import InternalConsistency


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
