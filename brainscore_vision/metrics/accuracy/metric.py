"""Share of right choices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, require_same
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_varied, clipped
from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import Interval, bootstrap_interval, combined_interval, mean_influence
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_vision.metric_helpers.behaviour import Images, attach_remarks, images_of, matched_choices, right_choices


class Accuracy(Metric):
    """Share of choices that equal the right ones.

    `stimulus_groups`: coordinate of the target in whose groups images were drawn
    (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`); ``'truth'``: the right
    choices.

    Notes
    -----
    ``attrs``: ``raw``, one boolean a choice; ``error`` and ``ci`` over new images, the choices being fixed (Wilson's
    interval [1]_ where each image has one choice, otherwise a bootstrap); over new groups of images, each left out as a
    whole, Student's t;
    ``std``, the standard deviation of the booleans, which the existing platform publishes as the error. A missing
    choice counts as wrong.

    References
    ----------
    .. [1] Wilson (1927). Journal of the American Statistical Association 22, 209–212. https://doi.org/10.2307/2276774

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> choices = BehavioralAssembly(
    ...     ["cat", "dog", "dog"], coords={"stimulus_id": ("presentation", list("abc"))}, dims=["presentation"])
    >>> round(float(Accuracy()(choices, ["cat", "dog", "cat"])), 3)
    0.667
    """

    scale = "accuracy"
    compares = "choices"

    def __init__(self, *, stimulus_groups: str | None = DECLARED) -> None:
        self.stimulus_groups = stimulus_groups

    def __call__(self, source: DataAssembly | Sequence[Any], target: DataAssembly | Sequence[Any]) -> Score:
        """Compare choices.

        `source`: choices. Where both sides have ``stimulus_id``, one a stimulus. `target`: right choices; matched by
        ``stimulus_id`` where both sides have it (a stimulus may then come several times), otherwise by position.
        ``attrs['choices']``, if there are more labels to choose from than right ones. A MetricInputError if the two do
        not match, or are empty, right choices are missing, or no choice is a label of the target.
        """
        if isinstance(source, DataAssembly):
            source = as_table(source, ("presentation",), role="source")
        chosen = np.asarray(source.values if isinstance(source, DataAssembly) else source)
        stimuli: NDArray[Any] | None = None
        if isinstance(target, DataAssembly):
            target = as_table(target, ("presentation",), role="target")
            if isinstance(source, DataAssembly) and all("stimulus_id" in side.coords for side in (source, target)):
                stimuli = coord_values(target, "stimulus_id", role="target")
                shown = coord_values(source, "stimulus_id", role="source")
                remedy = "show the model the target's stimuli, or select what both have"
                require_same(shown, stimuli, what="stimuli", remedy=remedy)
                chosen = matched_choices(source, stimuli)
            right = np.asarray(target.values)
        else:
            right = np.asarray(target)
        if right.shape != chosen.shape or right.size == 0:
            raise MetricInputError(
                f"{chosen.size} choices, but {right.size} right ones", remedy="pass one right choice for each choice"
            )
        if right.ndim != 1:
            raise MetricInputError(
                f"choices of the shape {right.shape} are not one label a trial", remedy="pass sequences of labels"
            )
        choices = target.attrs.get("choices", ()) if isinstance(target, DataAssembly) else ()
        correct, _, remark = right_choices(chosen, right, others=choices)
        score = Score(correct.mean())
        coords = {} if stimuli is None else {"stimulus_id": ("presentation", stimuli)}
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(correct, coords=coords, dims=["presentation"]),
            "scale": self.scale,
            "std": float(correct.std()),
        }
        attach_remarks(score, remark)
        images = images_of(_trials(target, right, stimuli), self.stimulus_groups)
        if images.units.grouped:
            influence = deletion_influence(_without(correct, images))
            attach_influence(score, influence, units=images.name, ids=images.ids, stimuli=images.units)
            interval = clipped(combined_interval(float(score), [influence]), low=0.0)
        else:
            attach_influence(score, mean_influence(correct), units="stimuli", ids=stimuli, stimuli=images.units)
            interval = _interval(correct, stimuli)
        return attach_varied(score, interval, [images.units], estimates="share of right choices")

    def ceiling(self, assembly: DataAssembly | None = None) -> Score:
        """The largest accuracy there is, 1, whatever the measurements."""
        score = declare_no_error(Score(1.0), "the largest accuracy there is, by definition")
        score.attrs["meaning"] = "upper bound"
        return score


def _trials(target: Any, right: NDArray[Any], stimuli: NDArray[Any] | None) -> xr.DataArray:
    """The right choices as a coordinate beside those of the target; each trial an image if these are not known."""
    coords: dict[str, Any] = {}
    if isinstance(target, DataAssembly):
        names = coords_for_dim(target, "presentation")
        coords = {str(name): ("presentation", coord.values) for name, coord in names.items()}
    coords |= {
        "truth": ("presentation", right),
        "stimulus_id": ("presentation", np.arange(len(right)) if stimuli is None else stimuli),
    }
    return xr.DataArray(right, coords=coords, dims=["presentation"], attrs=getattr(target, "attrs", None))


def _interval(correct: NDArray[np.bool_], stimuli: NDArray[Any] | None) -> Interval:
    n = len(correct)
    codes = np.arange(n) if stimuli is None else pd.factorize(stimuli)[0]
    m = int(codes.max()) + 1
    if m < n:  # answers to one stimulus belong together
        sums = np.stack([np.bincount(codes, correct, m), np.bincount(codes, minlength=m)])
        return bootstrap_interval(sums, _ratio, units="stimuli")
    from scipy.stats import binomtest

    limits = binomtest(int(correct.sum()), n).proportion_ci(0.95, method="wilson")
    return Interval(float(limits.low), float(limits.high), float(correct.std() / np.sqrt(n)), "wilson", n)


def _without(correct: NDArray[np.bool_], images: Images) -> NDArray[np.float64]:
    """Share of right choices without each group of images."""
    right, asked = np.bincount(images.codes, correct), np.bincount(images.codes)
    return np.asarray((right.sum() - right) / (asked.sum() - asked))


def _ratio(sums: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    right, asked = sums.sum(axis=axis)
    return np.asarray(right / asked)
