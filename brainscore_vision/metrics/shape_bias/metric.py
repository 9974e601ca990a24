"""The metric ``shape_bias``, and the numbers it is computed from."""

from typing import NamedTuple

import numpy as np

from brainscore_core.errors import respelled, spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
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


def count_cues(
    choices: np.ndarray,
    *,
    shapes: np.ndarray,
    textures: np.ndarray,
    observers: np.ndarray,
    stimuli: np.ndarray,
    n_observers: int,
    n_stimuli: int,
) -> CueCounts:
    """Count the decisions for either cue.

    Images whose shape and texture are of one category tell nothing and count 0.
    """
    conflict = shapes != textures
    counts = []
    for cue in (shapes, textures):
        followed = conflict & (choices == cue)
        count = np.zeros((n_observers, n_stimuli), dtype=np.int64)
        np.add.at(count, (observers[followed], stimuli[followed]), 1)
        counts.append(count)
    return CueCounts(*counts)


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
        categories = [category for _, *both in cues.values() for category in both]
        remarks = [
            check_labels(_labels(target), categories, role="target"),
            check_labels(_labels(source), categories),
        ]
        people, observers = _counts_of_people(target, cues)
        model = _counts_of_model(source, cues)
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
                ids=(observers, np.array(sorted(cues))),
            )
            attach_interval(bias, _interval(biases, n_stimuli), units="stimuli", estimates="shape bias of the model")
        attach_remarks(score, *remarks)
        score.attrs.update(scale=self.scale, raw=bias, shape_bias=of_model, human_shape_bias=of_people)
        score.attrs.update(predictions=_followed(source, cues), targets=_followed(target, cues))
        return score

    def ceiling(self, target: BehavioralAssembly) -> Score:
        """How close each observer is to all others together.

        `target`: people's labels, as for calling the metric; at least two observers. Result: mean over observers of 1 −
        |shape bias of one − shape bias of the others|; t interval over observers; ``attrs['raw']``: the value of each
        observer.
        """
        people, observers = _counts_of_people(target, _cues(target))
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


def _cues(target: DataAssembly) -> dict[str, tuple[int, str, str]]:
    """Number, shape and texture of each stimulus."""
    columns = [_level(target, name, "target") for name in ("stimulus_id", "shape", "texture")]
    if other_spellings := respelled(columns[2], columns[1]):
        raise MetricInputError(
            f"{len(other_spellings)} textures of the target are shapes in another spelling",
            remedy=spelling_hint(columns[2], columns[1]),
        )
    cues = {stimulus: (shape, texture) for stimulus, shape, texture in zip(*columns, strict=True)}
    return {stimulus: (number, *cues[stimulus]) for number, stimulus in enumerate(sorted(cues))}


def _counts_of_people(target: DataAssembly, cues: dict[str, tuple[int, str, str]]) -> tuple[CueCounts, list[str]]:
    observers, rows = np.unique(_level(target, "subject", "target"), return_inverse=True)
    return _counts(target, cues, rows, n_observers=len(observers)), [str(observer) for observer in observers]


def _counts_of_model(source: DataAssembly, cues: dict[str, tuple[int, str, str]]) -> CueCounts:
    shown = set(_level(source, "stimulus_id", "source"))
    for names, known_names, problem in (
        (set(cues) - shown, shown, "people saw but not the model"),
        (shown - set(cues), set(cues), "no person saw"),
    ):
        if names:
            raise MetricInputError(
                f"{len(names)} stimuli that {problem}, such as {listed([min(names)])}; the other side has "
                f"{listed(sorted(known_names))}",
                remedy=spelling_hint(names, known_names)
                or "compare decisions on the same stimuli: select them from both assemblies first",
            )
    return _counts(source, cues, np.zeros(source.sizes["presentation"], dtype=int), n_observers=1)


def _counts(
    assembly: DataAssembly, cues: dict[str, tuple[int, str, str]], rows: np.ndarray, *, n_observers: int
) -> CueCounts:
    numbers, shapes, textures = zip(*(cues[name] for name in _level(assembly, "stimulus_id", "assembly")), strict=True)
    return count_cues(
        _labels(assembly),
        shapes=np.array(shapes),
        textures=np.array(textures),
        observers=rows,
        stimuli=np.array(numbers),
        n_observers=n_observers,
        n_stimuli=len(cues),
    )


def _followed(assembly: DataAssembly, cues: dict[str, tuple[int, str, str]]) -> DataAssembly:
    names = _level(assembly, "stimulus_id", "assembly")
    labels = _labels(assembly)
    shapes, textures = (np.array([cues[name][field] for name in names]) for field in (1, 2))
    conflict = shapes != textures
    followed = np.where(conflict & (labels == shapes), 1.0, np.where(conflict & (labels == textures), 0.0, np.nan))
    coords = {"stimulus_id": ("presentation", names)}
    if "subject" in assembly.coords:
        coords["subject"] = ("presentation", _level(assembly, "subject", "assembly"))
    return DataAssembly(followed, coords=coords, dims=["presentation"])


def _labels(assembly: DataAssembly) -> np.ndarray:
    return np.asarray(as_table(assembly, ("presentation",), role="labels").values).astype(str)


def _level(assembly: DataAssembly, name: str, role: str) -> np.ndarray:
    return coord_values(assembly, name, role=role).astype(str)
