"""Match of odd-one-out choices."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import ceil_score
from brainscore_core.errors import spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_core.metric_helpers.uncertainty import attach_influence
from brainscore_core.metrics import Metric, Score, Uncertainty, amend_uncertainty, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import metric_registry

_TARGET = ("image_1", "image_2", "image_3")
_SOURCE = ("stimulus_id_0", "stimulus_id_1", "stimulus_id_2")


class OddOneOutMatch(Metric):
    """Share of triplets of which a model takes the same image for the odd one as people [1]_.

    Notes
    -----
    People's choice is the coordinate ``image_3`` of the target. One of three is right by chance:
    :meth:`ceil_score` maps chance to 0 and the ceiling to 1. ``attrs`` as those of the metric ``accuracy``: ``raw``,
    one boolean a triplet; ``error`` and ``ci`` with triplets as the independent units, the images that they share
    notwithstanding; ``std``.

    References
    ----------
    .. [1] Hebart et al. (2023). eLife 12, e82580. https://doi.org/10.7554/eLife.82580

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> people = BehavioralAssembly(
    ...     ["c", "d"], coords={"image_1": ("presentation", ["a", "b"]), "image_2": ("presentation", ["b", "c"]),
    ...                         "image_3": ("presentation", ["c", "d"])}, dims=["presentation"])
    >>> metric = OddOneOutMatch()
    >>> float(metric(BehavioralAssembly([2, 0], dims=["presentation"]), people))
    0.5
    """

    scale = "accuracy"
    compares = "choices"

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's choices with people's.

        `source`: one choice a triplet: its position (0, 1 or 2), or the ``stimulus_id`` chosen. Matched to the target
        by the coordinates ``stimulus_id_0`` … ``stimulus_id_2``, the images shown; without them in the target's order.
        `target`: triplets, with the coordinates ``image_1``, ``image_2`` and ``image_3``, the last of which people
        chose. Result: in [0, 1]. A MetricInputError if the triplets differ in number or kind, or a choice is not in its
        triplet.
        """
        target = as_table(target, ("presentation",), role="target")
        source = as_table(source, ("presentation",), role="source")
        triplets = np.stack([coord_values(target, name, role="target") for name in _TARGET], axis=1)
        if len(source) != len(triplets) or not len(triplets):
            raise MetricInputError(
                f"{len(source)} choices, but {len(triplets)} triplets", remedy="pass one choice for each triplet"
            )
        if all(name in source.coords for name in _SOURCE):
            shown = np.stack([coord_values(source, name, role="source") for name in _SOURCE], axis=1)
            source = source.isel(presentation=_matching(shown, triplets))
        chosen = _chosen(np.asarray(source.values), triplets)
        of_people = DataAssembly(triplets[:, 2], dims=["presentation"], attrs={"choices": np.unique(triplets)})
        score = metric_registry.make("accuracy", stimulus_groups=None)(
            DataAssembly(chosen, dims=["presentation"]), of_people
        )
        amend_uncertainty(score, ci_estimates=f"new triplets; {len(triplets):,} triplets; share of matching choices")
        attach_influence(score, Uncertainty.of(score).influence.values, units="triplets")
        return score

    def ceil_score(self, score: Score, ceiling: Score | float, *, chance: float = 1 / 3) -> Score:
        """(score − chance) / (ceiling − chance).

        `score`: from this metric. `ceiling`: share of choices that the best model would match; 0.6767 for Hebart et al.
        (2023). `chance`: share that a random model matches. Result: not clipped: below 0 the model does worse than
        chance. ``error`` and ``ci`` are those of :func:`~brainscore_core.benchmarks.ceil_score`: a plain number is
        exact, and where the ceiling's interval includes chance, ``undetermined`` is the reason why the value says
        nothing. A MetricInputError if the ceiling is not above chance.
        """
        if not float(ceiling) > chance:
            raise MetricInputError(
                f"the ceiling {float(ceiling):.4f} is not above chance {chance:.4f}", remedy="check the ceiling"
            )
        limit = ceiling if isinstance(ceiling, Score) else declare_no_error(Score(ceiling), "given as a constant")
        result = ceil_score(_less(score, chance), _less(limit, chance))
        result.attrs.update({Score.RAW_VALUES_KEY: score, "ceiling": limit})
        uncertainty = Uncertainty.of(result)
        if reason := uncertainty.undetermined:
            low, high = Uncertainty.of(limit).unclamped_limits
            interval = f"{float(limit):.3f}, {low:.3f} to {high:.3f}"
            explanation = f"the interval of the ceiling {interval}, includes chance, {chance:.3f}"
            missing = uncertainty.error_reason and uncertainty.error_reason.replace(reason, explanation)
            amend_uncertainty(result, undetermined=explanation, error_reason=missing)
        return result


def _less(score: Score, chance: float) -> Score:
    """The score's distance from chance, with its uncertainty."""
    result = Score(float(score) - chance)
    result.attrs = dict(score.attrs)
    result.attrs["uncertainty"] = Uncertainty.of(score).mapped(lambda value: value - chance, 1.0)
    return result


def _matching(shown: NDArray[Any], triplets: NDArray[Any]) -> NDArray[np.intp]:
    """Rows of the triplets that were shown, in the order of the target's triplets."""
    names = np.stack([shown.astype(object), triplets.astype(object)])
    codes = pd.factorize(names.ravel())[0].reshape(names.shape)
    ours, theirs = (np.lexsort(side.T) for side in codes)
    differing = (codes[0][ours] != codes[1][theirs]).any(axis=1)
    if differing.any():
        surplus = shown[ours[differing.argmax()]]
        raise MetricInputError(
            f"source and target hold different triplets, such as {listed(surplus)} in the source; the first of the "
            f"target is {listed(triplets[0])}",
            remedy=spelling_hint(surplus, np.unique(triplets))
            or "show the model image_1, image_2 and image_3 of each row of the target, in this order",
        )
    rows = np.empty(len(shown), dtype=np.intp)
    rows[theirs] = ours
    return rows


def _chosen(values: NDArray[Any], triplets: NDArray[Any]) -> NDArray[Any]:
    rows = np.arange(len(triplets))
    if values.dtype.kind in "iu" and triplets.dtype.kind not in "iu":
        wrong = (values < 0) | (values > 2)
        chosen = triplets[rows, np.clip(values, 0, 2)]
    else:
        chosen, wrong = values, ~(triplets == values[:, None]).any(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        raise MetricInputError(
            f"{int(wrong.sum())} choices are not in their triplet, the first at {first}: {listed(values[[first]])}, of "
            f"{listed(triplets[first])}",
            remedy="pass positions 0, 1, 2 or the stimulus_id chosen",
        )
    return np.asarray(chosen)
