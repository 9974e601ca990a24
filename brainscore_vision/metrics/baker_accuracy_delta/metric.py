"""Loss of accuracy from whole to rearranged shapes (Baker 2022)."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import Interval, bootstrap_interval, jackknife_influence
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.behaviour import attach_remarks, choices_of, right_choices

_NO_LOSS = "people lose no accuracy, so there is nothing to compare a loss with"


@dataclass(eq=False)
class BakerAccuracyDelta(Metric):
    """max(1 − |Δ_people − Δ_model| / Δ_people, 0), Δ being accuracy(whole) − accuracy(condition) [1]_.

    Δ_people is the mean of the Δ of half of the subjects, drawn at random `samples` times; the score is the mean.
    Δ_model takes the model's accuracy as the mean over the kinds of object that were shown.

    `image_types`: values of the coordinate ``image_type``: whole shapes, and the condition. `samples`: how many halves
    of the subjects are drawn, for the score and for the ceiling. `truth_coord`: coordinate with the right answer, which
    is the kind of object. `halves`: from whom a half is drawn: from all subjects, or, as the published implementation
    (brainscore-vision 2.4.2) does, by number from the subjects 1 … m − 1, so that it never has the last one.
    ``'published'`` gives the published numbers exactly; subjects that are not numbered are counted in their sorted
    order.

    Notes
    -----
    Samples in which people lose no accuracy (Δ_people ≤ 0) are NaN, left out, and counted in
    ``attrs['undefined']``. ``attrs``: ``raw`` (sample); ``delta`` and ``human_delta``, the model's and all subjects'
    Δ; ``std``, the standard deviation over samples, which the existing platform publishes as the error; ``error`` and
    ``ci`` of the closeness to all subjects' Δ, with subjects as the independent units while the model is kept; below
    20 subjects the t interval of their mean Δ is carried over.

    References
    ----------
    .. [1] Baker & Elder (2022). iScience 25, 104913. https://doi.org/10.1016/j.isci.2022.104913

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> def trials(values, subjects):
    ...     coords = {"image_type": ["w", "w", "f", "f"] * len(subjects), "animal": ["cat", "dog"] * 2 * len(subjects),
    ...               "subject": [name for name in subjects for _ in range(4)]}
    ...     return BehavioralAssembly(
    ...         values, coords={name: ("presentation", c) for name, c in coords.items()}, dims=["presentation"])
    >>> people = trials([1, 1, 0, 1] * 4, "abcd")
    >>> float(BakerAccuracyDelta(["w", "f"])(trials(["cat", "dog", "cat", "dog"], "m"), people))
    0.0
    """

    scale = "similarity"
    compares = "choices"

    image_types: Sequence[str]
    _: KW_ONLY
    samples: int = 100
    seed: int = 0
    truth_coord: str = "animal"
    halves: Literal["all", "published"] = "all"

    def __post_init__(self) -> None:
        if isinstance(self.image_types, str) or len(set(self.image_types)) != 2:
            raise ValueError(f"image_types is {self.image_types!r}; two are needed: whole shapes and the condition")
        if self.samples < 1:
            raise ValueError(f"samples is {self.samples}; at least 1 is needed")
        if self.halves not in {"all", "published"}:
            raise ValueError(f"halves is {self.halves!r}; known are 'all' and 'published'")

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's loss of accuracy with people's.

        `source`: the model's choices, with ``image_type`` and the right answer. `target`: people's answers, with
        ``image_type`` and ``subject``: numbers or booleans say whether they were right; for choices the right answer is
        needed too. Result: a Score in [0, 1]; NaN with a reason where people lose no accuracy. A MetricInputError if a
        coordinate is missing, or a side has no trials of an image type, or fewer than two subjects.
        """
        delta, remark = self._model_delta(source)
        deltas, subjects, remark_on_people = self._deltas(target)
        drawn = (
            self._published_halves(subjects, reseeded=True) if self.halves == "published" else self._halves(len(deltas))
        )
        values = _closeness(_means(deltas, drawn), delta)
        defined = values[~np.isnan(values)]
        score = Score(defined.mean() if defined.size else np.nan)
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords={"sample": np.arange(self.samples)}, dims=["sample"]),
            "scale": self.scale,
            "delta": delta,
            "human_delta": float(deltas.mean()),
            "std": float(defined.std()) if defined.size else float("nan"),
            "undefined": int(np.isnan(values).sum()),
        }
        attach_remarks(score, remark, remark_on_people)
        if not defined.size:
            return declare_no_error(score, _NO_LOSS)

        def statistic(resampled: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
            return _closeness(resampled.mean(axis=axis), delta)

        attach_influence(score, jackknife_influence(deltas, statistic), units="subjects", ids=subjects)
        interval = bootstrap_interval(deltas, statistic, units="subjects")
        if interval.method == "bca":  # too few subjects for resampling: limits of the mean loss, carried over
            interval = _carried_over(interval, bootstrap_interval(deltas, "mean", units="subjects"), delta)
        estimates = "closeness to the loss of accuracy of all subjects"
        return attach_interval(score, interval, units="subjects for these images", estimates=estimates)

    def ceiling(self, assembly: DataAssembly) -> Score:
        """Closeness of half of the subjects to the other half, corrected for their number by Spearman and Brown.

        `assembly`: as the target of the metric. Result: median over `samples` halvings of 2c/(1 + c), c being max(1 −
        |Δ₂ − Δ₁| / Δ₂, 0). ``raw`` (split), ``uncorrected`` (split), ``std`` over splits, ``undefined`` as for the
        metric, and ``meaning`` ``'reliability'``. No error: halves of the same subjects are not independent.
        """
        deltas, subjects, _ = self._deltas(assembly)
        drawn = (
            self._published_halves(subjects, reseeded=False)
            if self.halves == "published"
            else self._halves(len(deltas))
        )
        uncorrected = _closeness(_means(deltas, ~drawn), _means(deltas, drawn))
        corrected = 2 * uncorrected / (1 + uncorrected)
        defined = corrected[~np.isnan(corrected)]
        score = Score(np.median(defined) if defined.size else np.nan)
        coords = {"split": np.arange(self.samples)}
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(corrected, coords=coords, dims=["split"]),
            "uncorrected": Score(uncorrected, coords=coords, dims=["split"]),
            "scale": self.scale,
            "meaning": "reliability",
            "std": float(defined.std()) if defined.size else float("nan"),
            "undefined": int(np.isnan(corrected).sum()),
        }
        reason = "halves of the same subjects are not independent; attrs['std'] is their spread"
        return declare_no_error(score, reason if defined.size else _NO_LOSS)

    def _halves(self, m: int) -> NDArray[np.bool_]:
        """Which of the subjects are drawn (sample × subject)."""
        order = np.random.default_rng(self.seed).permuted(np.tile(np.arange(m), (self.samples, 1)), axis=1)
        return _members(order[:, : m // 2], np.arange(m))

    def _published_halves(self, subjects: NDArray[Any], *, reseeded: bool) -> NDArray[np.bool_]:
        """As `_halves`; the published score takes a new seed for each sample, the published ceiling one for all."""
        m = len(subjects)
        shared_stream = np.random.RandomState(self.seed)
        streams = [np.random.RandomState(self.seed + i) if reseeded else shared_stream for i in range(self.samples)]
        drawn = [stream.choice(np.arange(1, m), m // 2, replace=False) for stream in streams]
        return _members(np.stack(drawn), subjects if subjects.dtype.kind in "iuf" else np.arange(1, m + 1))

    def _model_delta(self, source: DataAssembly) -> tuple[float, str]:
        correct, kinds, remark = self._correct(source, "source", "image_type", self.truth_coord)
        table = pd.DataFrame({"correct": correct, "kind": kinds["image_type"], "of": kinds[self.truth_coord]})
        accuracy = table.groupby(["kind", "of"])["correct"].mean().groupby("kind").mean()
        return float(accuracy[self.image_types[0]] - accuracy[self.image_types[1]]), remark

    def _deltas(self, target: DataAssembly) -> tuple[NDArray[np.float64], NDArray[Any], str]:
        """Each subject's loss of accuracy, the subjects, sorted, and a remark on the labels."""
        correct, columns, remark = self._correct(target, "target", "image_type", "subject")
        subjects, codes = np.unique(columns["subject"], return_inverse=True)
        m = len(subjects)
        if m < 2:
            raise MetricInputError(f"{m} subject in the target; halves need two", remedy="pass all subjects' trials")
        accuracy = []
        for kind in self.image_types:
            mine = columns["image_type"] == kind
            asked = np.bincount(codes[mine], minlength=m)
            if not asked.all():
                raise MetricInputError(
                    f"subject {listed(subjects[asked == 0][:1])} has no trials of image_type {kind!r}",
                    remedy="drop the subject, or pass all of its trials",
                )
            accuracy.append(np.bincount(codes[mine], correct[mine], minlength=m) / asked)
        return np.asarray(accuracy[0] - accuracy[1]), subjects, remark

    def _correct(
        self, assembly: DataAssembly, role: str, *names: str
    ) -> tuple[NDArray[np.float64], dict[str, NDArray[Any]], str]:
        """Whether each choice was right, coordinates, and a remark on the labels."""
        answers = choices_of(assembly, *names, role=role)
        remark = ""
        if answers.values.dtype.kind in "biuf":
            correct = answers.values.astype(np.float64)
            invalid = correct[~np.isin(correct, (0, 1))]
            if invalid.size:
                raise MetricInputError(
                    f"the {role} holds numbers other than 0 and 1, such as {listed(invalid)}",
                    remedy="pass 1 for right and 0 for wrong answers, or the choices themselves",
                )
        else:
            truth = choices_of(assembly, self.truth_coord, role=role).columns[self.truth_coord]
            choices = right_choices(answers.values, truth, role=role)
            correct, remark = choices.correct.astype(np.float64), choices.remark
        kinds = np.unique(answers.columns["image_type"])
        for kind in self.image_types:
            if kind not in kinds:
                raise MetricInputError(
                    f"the {role} has no trials of image_type {kind!r}; it has {listed(kinds)}",
                    remedy="name two of these in image_types",
                )
        return correct, answers.columns, remark


def _members(drawn: NDArray[Any], subjects: NDArray[Any]) -> NDArray[np.bool_]:
    return np.stack([np.isin(subjects, each) for each in drawn])


def _means(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean of the chosen values, row by row; NaN where none is chosen."""
    return np.asarray(
        np.where(chosen, values, 0.0).sum(axis=1) / np.where(chosen.any(axis=1), chosen.sum(axis=1), np.nan)
    )


def _closeness(people: NDArray[np.float64], model: NDArray[np.float64] | float) -> NDArray[np.float64]:
    lost = people > 1e-12
    return np.asarray(np.where(lost, np.maximum(1 - np.abs(people - model) / np.where(lost, people, 1), 0), np.nan))


def _carried_over(interval: Interval, loss: Interval, delta: float) -> Interval:
    """The closeness that a model with a loss of `delta` has to people whose mean loss lies within limits."""
    ends = [0.0 if limit <= 0 else float(_closeness(np.array([limit]), delta)[0]) for limit in (loss.low, loss.high)]
    high = 1.0 if loss.low <= delta <= loss.high else max(ends)
    return interval._replace(low=min(ends), high=high, method=f"{loss.method}, of the mean loss")
