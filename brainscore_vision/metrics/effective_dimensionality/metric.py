"""Compare how many directions two representations use."""

import math

import numpy as np

from brainscore_core.metric_helpers.geometry import Matched, codes_in_source_order, matched, stimuli_that_vary
from brainscore_core.metric_helpers.uncertainty import Units, attach_influence, attach_varied, units_of_stimuli
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import influence_interval, participation_ratio
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.resampling import SMALL
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

_BLOCKS = 20
"""Number of groups of stimuli up to which each is left out; more are left out in as many blocks, for the bias alone."""


class EffectiveDimensionality(Metric):
    """Ratio of the smaller to the larger effective dimensionality of source and target.

    Effective dimensionality is the participation ratio (Σλ)² / Σλ² of the eigenvalues λ of the covariance between
    neuroids [1]_: d where d directions have equal variance.

    `stimulus_groups`: coordinate of the target in whose groups stimuli were drawn: whole groups vary
    (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`).

    Notes
    -----
    In (0, 1]; 1 where both use equally many directions, which need not be the same ones. ``raw`` holds the two
    participation ratios (``side``: source, target). The participation ratio cannot exceed the number of neuroids or of
    stimuli − 1, and measurement noise raises it: a difference between 100 recorded neuroids and 10,000 features may be
    one of sampling. ``error`` and ``ci`` come from each stimulus's influence on the logarithm of the ratio, stimuli (or
    their groups) as the independent units; an interval that contains equal dimensionalities ends at 1. Few stimuli bias
    the ratio, so the interval is around the value minus the jackknife's estimate of its bias and need not contain the
    score; below 20 stimuli there is none.
    NaN with a reason where a side does not vary.

    References
    ----------
    .. [1] Gao et al. (2017). bioRxiv 214262. https://doi.org/10.1101/214262

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.vstack([np.eye(4), -np.eye(4)]),
    ...     coords={"stimulus_id": ("presentation", list("abcdefgh")), "neuroid_id": ("neuroid", list(range(4)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> score = EffectiveDimensionality()(assembly.isel(neuroid=[0, 1, 2]), assembly)
    >>> round(float(score), 2), score.attrs["raw"].values.round(2).tolist()
    (0.75, [3.0, 4.0])
    """

    scale = "similarity"
    compares = "recordings"
    min_neuroids = 2
    from_products = True

    def __init__(self, *, stimulus_groups: str | None = DECLARED) -> None:
        self._stimulus_groups = stimulus_groups

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` and `target`.

        `source`, `target`: presentation × neuroid; with the same ``stimulus_id``, in any order, each once; any numbers
        of neuroids. Result: a Score in (0, 1]; NaN with a reason where undefined. A MetricInputError if the two hold
        different stimuli, a stimulus twice, NaN, or fewer than 3 stimuli.
        """
        pair = matched(source, target, fewest=3, what="dimensionality")
        sides = {"source": participation_ratio(pair.X), "target": participation_ratio(pair.Y)}
        values = [side.value for side in sides.values()]
        log_ratio = math.log(values[0] / values[1])
        score = Score(math.exp(-abs(log_ratio)))
        score.attrs[Score.RAW_VALUES_KEY] = Score(values, coords={"side": list(sides)}, dims=["side"])
        score.attrs["scale"] = self.scale
        stimuli = units_of_stimuli(pair.target, self._stimulus_groups)
        varied = stimuli_that_vary(pair, sides["source"].log_influence - sides["target"].log_influence, stimuli)
        influence, bias = varied.influence, sides["source"].log_bias - sides["target"].log_bias
        if stimuli.grouped and math.isfinite(log_ratio):
            left_out = _without_groups(pair, stimuli)
            bias = (len(left_out) - 1) * (float(np.mean(left_out)) - log_ratio)
            influence = deletion_influence(left_out) if len(left_out) == stimuli.number else influence
        slope = -math.copysign(float(score), log_ratio)
        attach_influence(
            score, slope * influence, units=varied.name, ids=varied.ids, bias=slope * bias, stimuli=varied.units
        )
        interval = influence_interval(log_ratio - bias, influence)
        reasons = [f"the {name} {side.reason}" for name, side in sides.items() if side.reason is not None]
        if reasons:
            interval = interval._replace(reason=" and ".join(reasons))
        elif interval.reason is None and len(pair.order) < SMALL:
            reason = f"{len(pair.order)} stimuli: at least {SMALL} are needed to correct the value's bias"
            interval = interval._replace(low=math.nan, high=math.nan, reason=reason)
        ends = np.exp(-np.abs([interval.low, interval.high]))
        high = 1.0 if interval.low <= 0 <= interval.high else float(ends.max())
        interval = interval._replace(low=float(ends.min()), high=high, error=interval.error * float(score))
        return attach_varied(score, interval, [varied.units], estimates="ratio of the dimensionalities")


def _without_groups(pair: Matched, units: Units) -> list[float]:
    """Logarithm of the ratio without each group of stimuli, or without each block of groups."""
    codes = codes_in_source_order(pair, units) % _BLOCKS
    left_out = []
    for block in range(min(units.number, _BLOCKS)):
        source, target = (participation_ratio(side[codes != block]).value for side in (pair.X, pair.Y))
        left_out.append(math.log(source / target))
    return left_out
