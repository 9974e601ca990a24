"""Loss of accuracy from whole to rearranged shapes (Baker 2022)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import bootstrap_interval
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError, listed
from brainscore_vision.metric_helpers.behaviour import choices_of
from brainscore_vision.metric_helpers.uncertainty import attach_interval

__all__ = ["BakerAccuracyDelta"]


class BakerAccuracyDelta(Metric):
    """max(1 − |Δ_people − Δ_model| / Δ_people, 0), Δ being accuracy(whole) − accuracy(condition) [1]_.

    People's Δ pools the trials of half of the subjects, drawn at random `samples` times; the score is the mean.

    Parameters
    ----------
    image_types : (str, str)
        Values of the coordinate ``image_type``: whole shapes, and the condition.
    samples : int
        How many halves of the subjects are drawn.
    seed : int
        Of the halves.
    truth_coord : str
        Coordinate with the right answer.

    Notes
    -----
    Every subject can be drawn; the existing platform never draws the last one, so the two agree only as closely as
    their samples do. Samples in which people lose no accuracy (Δ_people ≤ 0) are NaN, left out, and counted in
    ``attrs['undefined']``. ``attrs``: ``raw`` (sample); ``delta`` and ``human_delta``, the model's and all subjects'
    Δ; ``std``, the standard deviation over samples, which the existing platform publishes as the error; ``error`` and
    ``ci`` of the closeness to all subjects' Δ, with subjects as the independent units while the model is kept.

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

    def __init__(
        self, image_types: Sequence[str], *, samples: int = 100, seed: int = 0, truth_coord: str = "animal"
    ) -> None:
        if isinstance(image_types, str) or len(set(image_types)) != 2:
            raise ValueError(f"image_types is {image_types!r}; two are needed: whole shapes and the condition")
        if samples < 1:
            raise ValueError(f"samples is {samples}; at least 1 is needed")
        self._types = tuple(image_types)
        self._samples = samples
        self._seed = seed
        self._truth_coord = truth_coord

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare a model's loss of accuracy with people's.

        Parameters
        ----------
        source : BehavioralAssembly, presentation
            The model's choices, with ``image_type`` and the right answer.
        target : BehavioralAssembly, presentation
            People's answers, with ``image_type`` and ``subject``: numbers or booleans say whether they were right; for
            choices the right answer is needed too.

        Returns
        -------
        Score
            In [0, 1]; NaN with a reason where people lose no accuracy.

        Raises
        ------
        MetricInputError
            If a coordinate is missing, or a side has no trials of an image type, or fewer than two subjects.
        """
        ours = self._counts(source, "source", None)
        subjects = np.unique(choices_of(target, "subject", role="target").columns["subject"])
        m = len(subjects)
        if m < 2:
            raise MetricInputError(f"{m} subject in the target; halves need two", remedy="pass all subjects' trials")
        counts = self._counts(target, "target", subjects)
        delta = float(_delta(ours)[0])
        rng = np.random.default_rng(self._seed)
        drawn = rng.permuted(np.tile(np.arange(m), (self._samples, 1)), axis=1)[:, : m // 2]
        values = _closeness(_delta(counts[:, drawn].sum(axis=-1)), delta)
        defined = values[~np.isnan(values)]
        score = Score(defined.mean() if defined.size else np.nan)
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords={"sample": np.arange(self._samples)}, dims=["sample"]),
            "scale": self.scale,
            "delta": delta,
            "human_delta": float(_delta(counts.sum(axis=1))),
            "std": float(defined.std()) if defined.size else float("nan"),
            "undefined": int(np.isnan(values).sum()),
        }
        if not defined.size:
            return declare_no_error(score, "people lose no accuracy, so there is nothing to compare a loss with")

        def statistic(summands: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
            return _closeness(_delta(summands.sum(axis=axis)), delta)

        interval = bootstrap_interval(counts, statistic, units="subjects")
        estimates = "closeness to the loss of accuracy of all subjects, which vary; the model is kept"
        return attach_interval(score, interval, estimates=estimates)

    def _counts(self, assembly: DataAssembly, role: str, subjects: NDArray[Any] | None) -> NDArray[np.float64]:
        """(right whole, right condition, asked whole, asked condition) × subjects."""
        names = ["image_type"] if subjects is None else ["image_type", "subject"]
        answers = choices_of(assembly, *names, role=role)
        if answers.values.dtype.kind in "biuf":
            correct = answers.values.astype(np.float64)
            other = correct[~np.isin(correct, (0, 1))]
            if other.size:
                raise MetricInputError(
                    f"the {role} holds numbers other than 0 and 1, such as {listed(other)}",
                    remedy="pass 1 for right and 0 for wrong answers, or the choices themselves",
                )
        else:
            truth = choices_of(assembly, self._truth_coord, role=role).columns[self._truth_coord]
            correct = (answers.values == truth).astype(np.float64)
        n = 1 if subjects is None else len(subjects)
        code = (
            np.zeros(len(correct), dtype=int)
            if subjects is None
            else np.searchsorted(subjects, answers.columns["subject"])
        )
        parts = []
        for weights in (correct, np.ones_like(correct)):
            for kind in self._types:
                mine = answers.columns["image_type"] == kind
                parts.append(np.bincount(code[mine], weights[mine], minlength=n))
        counts = np.stack(parts).astype(np.float64)
        for kind, asked in zip(self._types, counts[2:].sum(axis=1), strict=True):
            if not asked:
                present = np.unique(answers.columns["image_type"])
                raise MetricInputError(
                    f"the {role} has no trials of image_type {kind!r}; it has {listed(present)}",
                    remedy="name two of these in image_types",
                )
        return counts


def _delta(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    right, asked = counts[:2], counts[2:]
    accuracy = np.where(asked > 0, right / np.maximum(asked, 1), np.nan)
    return np.asarray(accuracy[0] - accuracy[1])


def _closeness(people: NDArray[np.float64], model: float) -> NDArray[np.float64]:
    lost = people > 1e-12
    return np.asarray(np.where(lost, np.maximum(1 - np.abs(people - model) / np.where(lost, people, 1), 0), np.nan))
