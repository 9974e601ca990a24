"""Agreement of right and wrong decisions beyond what accuracy alone brings about."""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.metric_helpers.uncertainty import Units, attach_influence, attach_jackknife, attach_varied, clipped
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import combined_interval, crossed_kappa, pairwise_kappa
from brainscore_core.numerics.resampling import mean
from brainscore_core.populations import FEWEST_GROUPS, these
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_vision.metric_helpers.behaviour import (
    attach_remarks,
    choices_of,
    images_of,
    matched_choices,
    right_choices,
)

_RIGHT_THROUGHOUT = "undefined for every subject: there kappa is 0/0, as both are always right or always wrong"


class _Trials(NamedTuple):
    stimuli: NDArray[Any]
    correct: NDArray[np.bool_]
    truth: NDArray[Any]
    subjects: NDArray[Any]
    subject_codes: NDArray[np.intp]
    conditions: NDArray[Any]
    condition_codes: NDArray[np.intp]
    others: list[Any]
    """Subjects' choices that are not a right label."""
    remark: str


class ErrorConsistency(Metric):
    """Error consistency: Cohen's kappa of being right, between a model and each subject [1]_.

    For each subject and condition κ = (observed − expected)/(1 − expected) agreement of being right or wrong on the
    images that the subject saw. The score is the absolute value of the mean over subjects of the mean over
    conditions.

    `truth_coord`: coordinate of the target with the right answers. `stimulus_groups`: coordinate of the target in whose
    groups images were drawn (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`).

    Notes
    -----
    κ is NaN where model and subject are both always right or both always wrong in a condition: agreement by chance is
    certain there. Means leave NaN out; ``attrs['undefined']`` counts them. A missing answer counts as wrong.

    ``attrs``: ``raw`` (condition × subject); ``error`` and ``ci`` over new subjects and new images, the model's choices
    being fixed: the variance due to subjects + that due to images − that of their interaction, which is part of both
    [2]_, with Student's t. Images are left out of each subject's counts exactly. With fewer than five subjects only
    images vary. ``influence`` (subject × presentation) keeps both parts; ``std``, the standard deviation over
    conditions and subjects, which the existing platform publishes as the error; ``signed``, the mean before its sign
    was dropped; ``predictions`` and ``targets``, whether model and subject were right, trial by trial.

    References
    ----------
    .. [1] Geirhos, Meding & Wichmann (2020). NeurIPS 33. https://doi.org/10.48550/arXiv.2006.16736
    .. [2] Owen (2007). Annals of Applied Statistics 1, 386–411. https://doi.org/10.1214/07-AOAS122

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> model = BehavioralAssembly(
    ...     ["cat", "cat", "dog", "dog"], coords={"stimulus_id": ("presentation", list("abcd"))}, dims=["presentation"])
    >>> trials = BehavioralAssembly(
    ...     ["cat", "dog", "dog", "dog"] * 2,
    ...     coords={"stimulus_id": ("presentation", list("abcd") * 2),
    ...             "truth": ("presentation", ["cat", "cat", "dog", "cat"] * 2),
    ...             "subject": ("presentation", [1] * 4 + [2] * 4), "condition": ("presentation", [0] * 8)},
    ...     dims=["presentation"])
    >>> metric = ErrorConsistency()
    >>> float(metric(model, trials)), float(metric.ceiling(trials))
    (0.5, 1.0)
    """

    scale = "similarity"
    compares = "choices"

    def __init__(self, truth_coord: str = "truth", *, stimulus_groups: str | None = DECLARED) -> None:
        self._truth_coord = truth_coord
        self.stimulus_groups = stimulus_groups

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's choices with the subjects'.

        `source`: the model's choices, one a stimulus. Stimuli that no subject saw are left aside. `target`: the
        subjects' choices, one a trial, with ``stimulus_id``, ``subject``, the right answers, and ``condition`` (all
        trials are one condition where it is missing). Result: a Score in [0, 1]; NaN with a reason where no κ is
        defined. A MetricInputError if coordinates or the model's choices for some stimuli are missing, or a stimulus
        has several; or if no choice of the model, or of the subjects, is a label of the target.
        """
        trials = self._trials(target)
        correct, _, remark = right_choices(matched_choices(source, trials.stimuli), trials.truth, others=trials.others)
        images = images_of(target, self.stimulus_groups)
        agreement = crossed_kappa(
            correct,
            trials.correct,
            subjects=trials.subject_codes,
            conditions=trials.condition_codes,
            units=images.codes,
        )
        values, per_subject = agreement.values, agreement.per_subject
        signed = float(mean(per_subject, axis=0))
        score = Score(abs(signed))
        coords = {"condition": ("condition", trials.conditions), "subject": ("subject", trials.subjects)}
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords=coords, dims=["condition", "subject"]),
            "scale": self.scale,
            "signed": signed,
            "std": float(np.nanstd(values)) if np.isfinite(values).any() else math.nan,
            "undefined": self._undefined(values, trials),
            "predictions": _record(correct, trials),
            "targets": _record(trials.correct, trials),
        }
        attach_remarks(score, remark, trials.remark)
        sign = -1.0 if signed < 0 else 1.0
        influence = sign * agreement.influence
        defined = np.isfinite(per_subject)
        subjects = int(defined.sum())
        if subjects < FEWEST_GROUPS:
            varied = [influence.mean(axis=0)]
            attach_influence(score, varied[0], units=images.name, ids=images.ids, stimuli=images.units)
            units = [images.units._replace(plural=f"{images.units.plural} for {these(subjects, 'subject')}")]
        else:
            names, ids = ("subjects", images.name), (trials.subjects, images.ids)
            attach_influence(score, influence, units=names, ids=ids, stimuli=images.units)
            varied = [influence[defined] * (subjects / len(defined))]
            units = [Units(np.arange(subjects), subjects, "new subjects", f"{subjects:,} subjects"), images.units]
        interval = combined_interval(float(score), varied)
        if math.isnan(signed):
            interval = interval._replace(reason=_RIGHT_THROUGHOUT)
        return attach_varied(score, clipped(interval, 0.0), units, estimates="mean over subjects")

    @staticmethod
    def _undefined(values: NDArray[np.float64], trials: _Trials) -> int:
        seen = np.zeros(values.shape, dtype=bool)
        seen[trials.condition_codes, trials.subject_codes] = True
        return int((np.isnan(values) & seen).sum())

    def ceiling(self, assembly: DataAssembly) -> Score:
        """Error consistency between subjects.

        Absolute value of the mean over pairs of subjects of the mean over conditions, each pair on the images that both
        saw. A condition in which a pair's κ is undefined is left out of the pair's mean.

        `assembly`: as the target of the metric; a subject sees an image at most once in a condition. Result: a Score
        with ``meaning`` ``'human-human'``, ``raw`` (condition × subject × subject_other), ``signed`` as for the metric,
        ``error`` and ``ci`` from the jackknife over subjects. A MetricInputError if there are fewer than two subjects,
        or a subject answers twice to an image in a condition.
        """
        trials = self._trials(assembly)
        m = len(trials.subjects)
        if m < 2:
            raise MetricInputError(f"{m} subject: consistency needs a second one", remedy="pass all subjects' trials")
        values = np.stack(
            [self._pairs(trials, trials.condition_codes == code) for code in range(len(trials.conditions))]
        )
        signed = _mean_of_pairs(values, np.arange(m))
        score = Score(abs(signed))
        coords = {
            "condition": ("condition", trials.conditions),
            "subject": ("subject", trials.subjects),
            "subject_other": ("subject_other", trials.subjects),
        }
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords=coords, dims=["condition", "subject", "subject_other"]),
            "scale": self.scale,
            "signed": signed,
            "meaning": "human-human",
        }
        return attach_jackknife(
            score,
            lambda: [math.copysign(1.0, signed) * _mean_of_pairs(values, np.delete(range(m), i)) for i in range(m)],
            subjects=trials.subjects,
            low=0.0,
            high=math.inf,
            estimates="mean over pairs of subjects",
            undefined=_RIGHT_THROUGHOUT,
        )

    def _pairs(self, trials: _Trials, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        images, names = pd.factorize(trials.stimuli[chosen])
        subjects = trials.subject_codes[chosen]
        shape = (len(trials.subjects), len(names))
        if len(np.unique(subjects * shape[1] + images)) < len(images):
            table = pd.DataFrame({"subject": subjects, "image": images})
            first = table[table.duplicated()].iloc[0]
            raise MetricInputError(
                f"subject {listed([trials.subjects[first['subject']]])} answers several times to "
                f"{listed([names[first['image']]])} in one condition",
                remedy="keep one answer of each subject to each stimulus in a condition",
            )
        correct, seen = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        correct[subjects, images] = trials.correct[chosen]
        seen[subjects, images] = True
        return pairwise_kappa(correct, seen)

    def _trials(self, assembly: DataAssembly) -> _Trials:
        names = [
            self._truth_coord,
            "subject",
            "stimulus_id",
            *(["condition"] if "condition" in assembly.coords else []),
        ]
        choices = choices_of(assembly, *names, role="target")
        truth, subject, stimuli = (choices.columns[name] for name in names[:3])
        condition = choices.columns.get("condition", np.zeros(len(truth), dtype=int))
        subjects, subject_codes = np.unique(subject, return_inverse=True)
        conditions, condition_codes = np.unique(condition, return_inverse=True)
        correct, invalid_labels, remark = right_choices(choices.values, truth, role="target", stimuli=stimuli)
        return _Trials(
            stimuli, correct, truth, subjects, subject_codes, conditions, condition_codes, invalid_labels, remark
        )


def _mean_of_pairs(values: NDArray[np.float64], subjects: NDArray[np.intp]) -> float:
    rows, columns = np.triu_indices(len(subjects), k=1)
    return float(mean(mean(values[:, subjects[rows], subjects[columns]], axis=0), axis=0))


def _record(correct: NDArray[np.bool_], trials: _Trials) -> DataAssembly:
    coords = {
        "stimulus_id": ("presentation", trials.stimuli),
        "subject": ("presentation", trials.subjects[trials.subject_codes]),
        "condition": ("presentation", trials.conditions[trials.condition_codes]),
    }
    return DataAssembly(correct, coords=coords, dims=["presentation"])
