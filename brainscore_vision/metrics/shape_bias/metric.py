"""The metric ``shape_bias``, and the numbers it is computed from."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from brainscore_core.errors import respelled, spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, require_same
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Metric, Score, declare_no_error
from brainscore_core.numerics import Interval, bootstrap_interval
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_vision.metric_helpers.behaviour import attach_remarks, check_labels


class CueCounts(NamedTuple):
    """How often each stimulus was named after its shape and after its texture."""

    shape: np.ndarray
    """observers × stimuli."""
    texture: np.ndarray
    """observers × stimuli."""


def shape_bias(shape_decisions: float, texture_decisions: float) -> float:
    """Share of shape decisions among the decisions for either cue.

    NaN where neither was ever chosen.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231

    Examples
    --------
    >>> shape_bias(3, 1)
    0.75
    """
    total = shape_decisions + texture_decisions
    return float(shape_decisions / total) if total > 0 else float("nan")


def bias_influence(counts: CueCounts) -> np.ndarray:
    """What each observer's decision on each stimulus does to the shape bias of all of them.

    The derivative by the cell's weight, times the number of cells (observers × stimuli); its mean is 0.

    Examples
    --------
    >>> bias_influence(CueCounts(np.array([[1, 0]]), np.array([[0, 1]]))).tolist()
    [[0.5, -0.5]]
    """
    decisions = counts.shape + counts.texture
    bias = counts.shape.sum() / decisions.sum()
    return np.asarray((counts.shape - bias * decisions) / decisions.sum() * decisions.size)


def bootstrap_similarity(
    model: CueCounts, people: CueCounts, *, bootstraps: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Resample stimuli (for both at once) and observers.

    Returns 1 − |shape bias of the model − shape bias of the people|, and the shape bias of the model, of each resample.
    """
    generator = np.random.default_rng(seed)
    n_observers, n_stimuli = people.shape.shape
    stimuli = generator.multinomial(n_stimuli, np.full(n_stimuli, 1 / n_stimuli), size=bootstraps)
    observers = generator.multinomial(n_observers, np.full(n_observers, 1 / n_observers), size=bootstraps)
    with np.errstate(invalid="ignore"):
        shape, texture = (stimuli @ cue[0] for cue in model)
        of_model = shape / (shape + texture)
        shape, texture = (np.einsum("bo,bo->b", stimuli @ cue.T, observers) for cue in people)
        of_people = shape / (shape + texture)
    return 1 - np.abs(of_model - of_people), of_model


_TAILS = (0.025, 0.975)


class ShapeBias(Metric):
    """1 − |shape bias of the model − shape bias of people|.

    The shape bias is the share of shape decisions among all decisions for the category of an image's shape or of its
    texture, over images in which the two are in conflict. People's is that of all observers' decisions together.

    `bootstraps`: how often stimuli and observers are resampled for error and confidence interval. `seed`: of the random
    generator.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> stimuli = {"stimulus_id": ("presentation", ["a", "b"]), "shape": ("presentation", ["cat", "dog"]),
    ...            "texture": ("presentation", ["clock", "oven"]), "subject": ("presentation", ["s1", "s1"])}
    >>> people = BehavioralAssembly(["cat", "dog"], coords=stimuli, dims=["presentation"])
    >>> model = BehavioralAssembly(["cat", "oven"], coords=stimuli, dims=["presentation"])
    >>> score = ShapeBias()(model, people)
    >>> float(score), score.attrs["shape_bias"], score.attrs["human_shape_bias"]
    (0.5, 0.5, 1.0)
    """

    scale = "similarity"
    compares = "choices"

    def __init__(self, *, bootstraps: int = 1000, seed: int = 0) -> None:
        self._bootstraps = bootstraps
        self._seed = seed

    def __call__(self, source: BehavioralAssembly, target: BehavioralAssembly) -> Score:  # type: ignore[override] # of choices only
        """Compare a model with people.

        `source`: the model's labels: presentation (× choice, one choice), with ``stimulus_id``. `target`: people's
        labels: presentation, with ``stimulus_id, shape, texture, subject``. Result: a Score in [0, 1]; NaN where the
        model never chose either cue. ``attrs['raw']`` is the model's shape bias with its own uncertainty;
        ``attrs['shape_bias']`` and ``attrs['human_shape_bias']`` are both as numbers; ``attrs['predictions']`` and
        ``attrs['targets']`` are the model's and people's decisions one by one: 1 for the shape, 0 for the texture, NaN
        for neither. A MetricInputError if a level is missing, or the two are not about the same stimuli.
        """
        cues = _cues(target)
        stimuli, categories = list(cues), [category for both in cues.values() for category in both]
        remarks = [check_labels(_labels(target), categories, role="target"), check_labels(_labels(source), categories)]
        observers = np.unique(_level(target, "subject", "target")).tolist()
        targets, predictions = _followed(target, cues, "target"), _followed(source, cues, "source")
        people, model = _counts(targets, stimuli, observers), _counts(predictions, stimuli)
        of_model = shape_bias(model.shape.sum(), model.texture.sum())
        of_people = shape_bias(people.shape.sum(), people.texture.sum())
        score, bias = Score(1 - abs(of_model - of_people)), Score(of_model)
        if np.isnan(of_model) or np.isnan(of_people):
            reason = "neither the shape's nor the texture's category was ever chosen, so there is no shape bias"
            declare_no_error(score, reason)
            declare_no_error(bias, reason)
        else:
            similarities, biases = bootstrap_similarity(model, people, bootstraps=self._bootstraps, seed=self._seed)
            n_observers, n_stimuli = people.shape.shape
            attach_interval(
                score,
                _interval(similarities, n_stimuli),
                units="stimuli and new observers",
                estimates=f"{n_observers:,} observers; 1 − difference of biases",
            )
            influence = bias_influence(model) - bias_influence(people)
            attach_influence(
                score,
                -np.sign(of_model - of_people) * influence,
                units=("subjects", "stimuli"),
                ids=(observers, np.array(stimuli)),
            )
            attach_interval(bias, _interval(biases, n_stimuli), units="stimuli", estimates="shape bias of the model")
        attach_remarks(score, *remarks)
        score.attrs.update(scale=self.scale, raw=bias, shape_bias=of_model, human_shape_bias=of_people)
        score.attrs.update(predictions=predictions, targets=targets)
        return score

    def ceiling(self, target: BehavioralAssembly) -> Score:
        """How close each observer is to all others together.

        `target`: people's labels, as for calling the metric; at least two observers. Result: mean over observers of 1 −
        |shape bias of one − shape bias of the others|; t interval over observers; ``attrs['raw']``: the value of each
        observer.
        """
        cues, observers = _cues(target), np.unique(_level(target, "subject", "target")).tolist()
        people = _counts(_followed(target, cues, "target"), list(cues), observers)
        if len(observers) < 2:
            raise MetricInputError(
                f"a ceiling needs at least two observers; there is {len(observers)}: {', '.join(observers)}",
                remedy="keep the trials apart by observer in the level 'subject'",
            )
        shape, texture = people.shape.sum(axis=1), people.texture.sum(axis=1)
        values = np.array(
            [
                1 - abs(shape_bias(n_shape, n_texture) - shape_bias(shape.sum() - n_shape, texture.sum() - n_texture))
                for n_shape, n_texture in zip(shape, texture, strict=True)
            ]
        )
        score = Score(values.mean())
        interval = bootstrap_interval(values, "mean", method="t", units="observers")
        attach_interval(score, interval, units="observers for these stimuli", estimates="mean over observers")
        each = Score(values, coords={"subject": ("subject", observers)}, dims=["subject"])
        score.attrs.update(scale=self.scale, meaning="human-human", raw=each)
        return score


def _interval(resampled: np.ndarray, n: int) -> Interval:
    defined = resampled[~np.isnan(resampled)]
    if len(defined) < 0.95 * len(resampled):
        return Interval(np.nan, np.nan, np.nan, "bootstrap", n, "too few resamples hold a decision for either cue")
    low, high = np.quantile(defined, _TAILS)
    return Interval(float(low), float(high), float(defined.std(ddof=1)), "bootstrap", n)


def _cues(target: DataAssembly) -> dict[str, tuple[str, str]]:
    """Shape and texture of each stimulus, sorted."""
    columns = [_level(target, name, "target") for name in ("stimulus_id", "shape", "texture")]
    if other_spellings := respelled(columns[2], columns[1]):
        raise MetricInputError(
            f"{len(other_spellings)} textures of the target are shapes in another spelling",
            remedy=spelling_hint(columns[2], columns[1]),
        )
    cues = {stimulus: (shape, texture) for stimulus, shape, texture in zip(*columns, strict=True)}
    return dict(sorted(cues.items()))


def _followed(assembly: DataAssembly, cues: dict[str, tuple[str, str]], role: str) -> DataAssembly:
    """Each decision: 1 for the shape, 0 for the texture, NaN for neither or if both are of one category."""
    names = _level(assembly, "stimulus_id", role)
    require_same(
        names,
        list(cues),
        what="stimuli",
        remedy="compare decisions on the same stimuli: select them from both assemblies first",
    )
    shapes, textures = np.array([cues[name] for name in names]).T
    labels, conflict = _labels(assembly), shapes != textures
    followed = np.where(conflict & (labels == shapes), 1.0, np.where(conflict & (labels == textures), 0.0, np.nan))
    coords = {"stimulus_id": ("presentation", names)}
    if "subject" in assembly.coords:
        coords["subject"] = ("presentation", _level(assembly, "subject", role))
    return DataAssembly(followed, coords=coords, dims=["presentation"])


def _counts(followed: DataAssembly, stimuli: list[str], observers: list[str] | None = None) -> CueCounts:
    """Decisions for either cue, of all observers together or of each."""
    cells, m, n = pd.Index(stimuli).get_indexer(followed["stimulus_id"].values), len(observers or [""]), len(stimuli)
    if observers is not None:
        cells = cells + n * pd.Index(observers).get_indexer(followed["subject"].values)
    return CueCounts(*(np.bincount(cells[followed.values == cue], minlength=m * n).reshape(m, n) for cue in (1, 0)))


def _labels(assembly: DataAssembly) -> np.ndarray:
    return np.asarray(as_table(assembly, ("presentation",), role="labels").values).astype(str)


def _level(assembly: DataAssembly, name: str, role: str) -> np.ndarray:
    return coord_values(assembly, name, role=role).astype(str)
