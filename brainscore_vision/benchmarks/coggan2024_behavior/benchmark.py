"""Accuracy under 18 kinds of occlusion (Coggan & Tong 2024)."""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import attach_ceiling, bound_score, explained_variance
from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import as_table, coord_values, listed
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Score, Uncertainty
from brainscore_core.numerics import bootstrap_interval, mean_influence
from brainscore_core.numerics.discrimination import masked_correlation
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.aggregation import agreement_of_subjects
from brainscore_vision.benchmark_helpers.choices import ChoiceExperiment
from brainscore_vision.data.coggan2024_behavior import BIBTEX
from brainscore_vision.metric_helpers.behaviour import attach_remarks, matched_choices, right_choices
from brainscore_vision.model_interface import BrainModel

Table = NDArray[np.float64]


def mean_by_condition(
    values: NDArray[Any], subjects: NDArray[Any], *conditions: NDArray[Any]
) -> tuple[Table, NDArray[Any]]:
    """Mean of each subject in each condition.

    `values`: such as whether an answer was right. `subjects`: whose trial it was. `*conditions`: what tells conditions
    apart; each combination of values that occurs is a condition. Result: `means`: [several,] subjects × conditions; NaN
    where a subject has no trial; `names`.

    Examples
    --------
    >>> means, names = mean_by_condition(np.array([1, 0, 1]), np.array(["b", "b", "a"]), np.array([0, 0, 1]))
    >>> names.tolist(), means.tolist()
    (['a', 'b'], [[nan, 1.0], [0.5, nan]])
    """
    who, names = pd.factorize(subjects, sort=True)
    where = pd.MultiIndex.from_arrays(conditions)
    codes, distinct = pd.factorize(where, sort=True)
    shape = (len(names), len(distinct))
    cell, size = who * shape[1] + codes, shape[0] * shape[1]
    count = np.bincount(cell, minlength=size)
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    sums = np.stack([np.bincount(cell, row, minlength=size) for row in rows])
    means = np.where(count > 0, sums / np.maximum(count, 1), np.nan).reshape(len(rows), *shape)
    return (means if np.ndim(values) > 1 else means[0]), np.asarray(names)


def similarity(people: Table, model: Table, *, subjects: NDArray[Any]) -> Score:
    """Correlation over conditions of each subject's accuracies with the model's on the same trials; their mean.

    `people`, `model`: subjects × conditions. Result: a Score with ``raw`` (subject). Subjects whose correlation is
    undefined, as one of the two does not vary, are left out and counted in ``attrs['undefined']``. ``error`` and
    ``ci``: subjects vary, the model is kept.
    """
    values = np.array([masked_correlation(*pair).value for pair in zip(people, model, strict=True)])
    defined = values[~np.isnan(values)]
    score = Score(defined.mean() if defined.size else np.nan)
    score.attrs.update(
        raw=Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"]),
        scale="correlation",
        undefined=len(values) - len(defined),
    )
    attach_influence(score, mean_influence(values), units="subjects", ids=subjects)
    interval = bootstrap_interval(defined, "mean", units="subjects")
    if not defined.size:
        interval = interval._replace(reason="the model is right equally often in all conditions")
    return attach_interval(score, interval, units="subjects for these images", estimates="mean over subjects")


def consistency(people: Table, *, subjects: NDArray[Any]) -> Score:
    """Correlation over conditions of each subject's accuracies with the mean of all others; their mean [1]_.

    `people`: subjects × conditions. Result: the lower bound of a noise ceiling, on the scale of :func:`similarity`,
    with ``raw`` (subject); ``error`` and ``ci`` from the jackknife over subjects.

    References
    ----------
    .. [1] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """
    return agreement_of_subjects(
        people,
        lambda own, others: masked_correlation(own, others).value,
        subjects,
        scale="correlation",
        shown="images",
        estimates="mean correlation of a subject with the others",
    )


VISUAL_DEGREES: Final = 10
SQUARED: Final = "as published, the score is the square of raw / ceiling, with the sign of raw"
"""A remark for receipts: the rules of other benchmarks do not square the ceiling."""


class _Trials(NamedTuple):
    """The trials that count: those in which something occludes the object."""

    stimulus: NDArray[Any]
    subject: NDArray[Any]
    occluder: tuple[NDArray[Any], NDArray[Any]]
    """Type and colour."""
    truth: NDArray[Any]
    human_accuracy: NDArray[np.float64]


class ConditionWiseAccuracySimilarity(ChoiceExperiment):
    """Correlation of a model's and people's accuracies over 18 conditions: nine kinds of occluder, black or white.

    Thirty people named the object, one of eight, in 752 images each that no one else saw. The model learns the eight
    from other images and names all of them. For each subject, accuracies on that subject's images are correlated over
    conditions; images without an occluder do not count.

    Notes
    -----
    The ceiling puts the mean of the other subjects in the model's place. The score is (r / ceiling)², negative where r
    is; before it is clamped to [0, 1] it is ``attrs['unclamped']``.

    References
    ----------
    .. [1] Coggan & Tong 2024, Modeling human visual recognition of occluded objects (in preparation)
    """

    def __init__(self) -> None:
        super().__init__(
            "tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity",
            load=lambda: load_dataset("Coggan2024_behavior"),
            metric=None,
            visual_degrees=VISUAL_DEGREES,
            ceiling_func=lambda: _ceiling(_occluded(self._assembly.content)),
            parent="behavior",
            bibtex=BIBTEX,
            fitting_stimuli="Coggan2024_behavior_fitting",
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` learn the eight objects, and name those behind the occluders.

        Returns
        -------
        Score
            In [0, 1]; ``attrs['raw']`` is the mean correlation.

        Raises
        ------
        NotApplicable
            If the candidate cannot give probabilities.
        """
        self._learn(candidate)
        assembly = self._assembly.content
        choices = _choices(self._look(candidate, assembly.stimulus_set))
        trials = _occluded(assembly)
        correct, _, remark = right_choices(matched_choices(choices, trials.stimulus), trials.truth)
        means, subjects = mean_by_condition(
            np.stack([trials.human_accuracy, correct]), trials.subject, *trials.occluder
        )
        raw = attach_remarks(similarity(*means, subjects=subjects), remark)
        note("remark", text=SQUARED)
        return bound_score(_relate(raw, self.ceiling))


def _occluded(assembly: DataAssembly) -> _Trials:
    def column(name: str) -> NDArray[Any]:
        return coord_values(assembly, name, role="measurements")

    visibility = column("visibility").astype(np.float64)
    counted = visibility < 1
    if not counted.any():
        raise UserError(
            f"no trial of the measurements has a 'visibility' below 1; there are {listed(np.unique(visibility))}",
            remedy="check the unit of 'visibility', which is a share",
        )
    return _Trials(
        stimulus=column("stimulus_id")[counted],
        subject=column("subject")[counted],
        occluder=(column("occluder_type")[counted], column("occluder_color")[counted]),
        truth=column("object_class")[counted],
        human_accuracy=column("human_accuracy")[counted].astype(np.float64),
    )


def _ceiling(trials: _Trials) -> Score:
    people, subjects = mean_by_condition(trials.human_accuracy, trials.subject, *trials.occluder)
    return consistency(people, subjects=subjects)


def _choices(probabilities: DataAssembly) -> BehavioralAssembly:
    """The likeliest object for each stimulus; of equally likely ones the first."""
    table = as_table(probabilities, ("presentation", "choice"), role="model's probabilities")
    labels = coord_values(table, "choice", role="model's probabilities", dim="choice")
    values = np.asarray(table.values, dtype=np.float64)
    chosen = np.where(np.isnan(values).any(axis=1), None, labels[values.argmax(axis=1)])
    stimuli = coord_values(table, "stimulus_id", role="model's probabilities")
    return BehavioralAssembly(chosen, coords={"stimulus_id": ("presentation", stimuli)}, dims=["presentation"])


def _relate(raw: Score, ceiling: Score) -> Score:
    """(r / ceiling)² with the sign of r; its error and interval by those of both."""
    squared = Score(float(ceiling) * abs(float(ceiling)))
    squared.attrs["uncertainty"] = Uncertainty.of(ceiling).mapped(
        lambda value: np.sign(value) * value**2, 2 * abs(float(ceiling))
    )
    return attach_ceiling(explained_variance(raw, squared), raw, ceiling)
