"""Shape bias: how often decisions follow an image's shape among those that follow its shape or its texture."""

from typing import NamedTuple

import numpy as np


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
