"""How small an offset of a vernier without flankers can be (Malania et al. 2007)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import BenchmarkBase, attach_ceiling, bound_score
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, clipped
from brainscore_core.metrics import Score, Uncertainty, attach_uncertainty, declare_no_error
from brainscore_core.numerics import bootstrap_interval, jackknife_influence
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_metric
from brainscore_vision.benchmarks.malania2007.experiment import (
    BASELINE_CONDITION,
    CONDITIONS,
    THRESHOLD_ACCURACY,
    independent_variable,
    load_test_stimuli,
    load_thresholds,
    look,
    start,
)
from brainscore_vision.data.malania2007 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad


class VernierAcuity(BenchmarkBase):
    """Closeness of a model's threshold for a vernier without flankers to people's, mean over nine ways to learn.

    The model learns left from right from the fitting stimuli of one condition with flankers after the other, and is
    tested on verniers alone each time; it is compared with the subjects of that condition.

    Notes
    -----
    The ceiling is the mean of the nine ceilings. Each closeness is divided by it, limited to 1, and averaged. As the
    subjects are the same throughout, ``error`` and ``ci`` come from leaving out one subject everywhere (the ceiling is
    taken as known); those of the ceiling are means of the nine.

    References
    ----------
    .. [1] Malania et al. 2007, https://doi.org/10.1167/7.2.1
    """

    def __init__(self) -> None:
        self._baselines: LazyLoad[dict[str, DataAssembly]] = LazyLoad(
            lambda: {condition: load_thresholds(condition)["baseline_assembly"] for condition in CONDITIONS}
        )
        super().__init__(
            identifier="Malania2007.vernieracuity-threshold",
            version=1,
            ceiling_func=lambda: _mean_ceiling([_metric().ceiling(assembly) for assembly in self._baselines.values()]),
            parent="Malania2007",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Measure `candidate`'s threshold after each way to learn the task.

        Result: in [0, 1]; ``attrs['raw']`` is the mean closeness, before it is divided by the ceiling and limited. A
        NotApplicable if the candidate cannot give probabilities.
        """
        stimuli = load_test_stimuli(BASELINE_CONDITION)
        variable = independent_variable(stimuli)
        scores = []
        for condition, baseline in self._baselines.items():
            start(candidate, condition)
            scores.append(_metric(variable)(look(candidate, stimuli), baseline))
        score = _mean_score(scores, self.ceiling)
        score.attrs["independent_variable"] = variable
        return score


def _metric(variable: str = "image_label") -> Any:
    return load_metric("threshold", independent_variable=variable, threshold_accuracy=THRESHOLD_ACCURACY)


def _mean_ceiling(ceilings: list[Score]) -> Score:
    mean = Score(np.mean([float(ceiling) for ceiling in ceilings]))
    raw = Score(
        [float(ceiling) for ceiling in ceilings],
        coords={"condition": ("condition", list(CONDITIONS))},
        dims=["condition"],
    )
    mean.attrs.update(raw=raw, scale="similarity", meaning="human-human")
    uncertainties = [Uncertainty.of(ceiling) for ceiling in ceilings]
    limits = np.mean([uncertainty.limits for uncertainty in uncertainties], axis=0)
    reasons = [uncertainty.ci_reason for uncertainty in uncertainties if uncertainty.ci_reason]
    return attach_uncertainty(
        mean,
        error=float(np.mean([uncertainty.standard_error for uncertainty in uncertainties])),
        ci=(float(limits[0]), float(limits[1])),
        estimates=f"new subjects; mean over {len(ceilings)} conditions, the subjects being the same in all",
        method=uncertainties[0].ci_method,
        reason=reasons[0] if reasons else None,
    )


def _mean_score(scores: list[Score], ceiling: Score) -> Score:
    table = pd.concat([_by_subject(score) for score in scores], axis=1)
    closeness, limit = table.to_numpy().T, float(ceiling)

    def mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray(np.minimum(np.nanmean(values, axis=axis) / limit, 1.0).mean(axis=0))

    score = Score(float(mean(closeness, -1)))
    each = Score(
        closeness,
        coords={"condition": ("condition", list(CONDITIONS)), "subject": ("subject", table.index.to_numpy())},
        dims=["condition", "subject"],
    )
    raw = declare_no_error(Score(np.nanmean(closeness, axis=1).mean()), "see the ceiled score")
    raw.attrs.update(raw=each, scale="similarity")
    attach_ceiling(score, raw, ceiling)
    attach_influence(score, jackknife_influence(closeness, mean), units="subjects", ids=table.index.to_numpy())
    reasons = list(
        dict.fromkeys(of_condition.attrs["reason"] for of_condition in scores if "reason" in of_condition.attrs)
    )
    if reasons:
        score.attrs["reason"] = "; ".join(reasons)
    if not closeness[~np.isnan(closeness)].any():
        return bound_score(declare_no_error(score, score.attrs.get("reason", "the closeness is 0 to every subject")))
    interval = clipped(bootstrap_interval(closeness, mean, method="t", units="subjects"), 0.0)
    return bound_score(attach_interval(score, interval, units="subjects", estimates="mean over conditions"))


def _by_subject(score: Score) -> "pd.Series[float]":
    each = score.attrs[Score.RAW_VALUES_KEY]
    return pd.Series(np.asarray(each.values, dtype=np.float64), index=each["subject"].values)
