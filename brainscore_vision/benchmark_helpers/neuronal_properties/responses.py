"""Responses of neuroids to factorial designs: preferred stimuli, phase harmonics, receptive fields, firing rates."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError

_SHOWN = 3


class Factorial(NamedTuple):
    """Stimuli in which every combination of some parameters occurs once.

    Attributes
    ----------
    order : ndarray of int
        Positions of the stimuli, with one axis for each parameter.
    levels : dict of str to ndarray
        Ascending values of each parameter.
    """

    order: NDArray[np.intp]
    levels: dict[str, NDArray[Any]]


def factorial(columns: Mapping[str, ArrayLike], *, what: str = "the stimuli") -> Factorial:
    """Find the presentation of each combination of stimulus parameters, for stimuli in any order.

    Parameters
    ----------
    columns : mapping of str to array (stimuli,)
        Value of each parameter for each stimulus.
    what : str
        Name of the stimuli in messages.

    Returns
    -------
    Factorial

    Raises
    ------
    UserError
        If a combination is missing or occurs several times.

    Examples
    --------
    >>> design = factorial({"orientation": [0, 90, 0, 90], "phase": [0, 0, 180, 180]})
    >>> design.order.tolist()
    [[0, 2], [1, 3]]
    """
    levels = [np.unique(np.asarray(values), return_inverse=True) for values in columns.values()]
    shape = tuple(len(values) for values, _ in levels)
    cells = np.ravel_multi_index(tuple(codes.ravel() for _, codes in levels), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape)))
    if (counts != 1).any():
        wrong = np.flatnonzero(counts != 1)
        named = [_combination(columns, levels, np.unravel_index(cell, shape), counts[cell]) for cell in wrong[:_SHOWN]]
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise UserError(
            f"{what} do not show each combination of {', '.join(columns)} once: {'; '.join(named)}{more}",
            remedy="show all of them, and average repetitions first",
        )
    order = np.empty(len(cells), dtype=np.intp)
    order[cells] = np.arange(len(cells))
    return Factorial(order.reshape(shape), {name: values for name, (values, _) in zip(columns, levels, strict=True)})


def condition_ranks(values: ArrayLike, conditions: Mapping[str, ArrayLike]) -> NDArray[np.intp]:
    """Rank of each value among the stimuli of the same condition.

    Gratings with the same number of cycles have different radii at different spatial frequencies: the rank of the
    radius, with spatial frequency among the conditions, identifies the number of cycles.

    Parameters
    ----------
    values : array (stimuli,)
        Values to rank; equal values are ranked in the order of the stimuli.
    conditions : mapping of str to array (stimuli,)
        Stimuli that agree in all of these have the same condition.

    Returns
    -------
    array (stimuli,)
        From 0.

    Examples
    --------
    >>> condition_ranks([1.0, 0.5, 2.0, 1.0], {"spatial_frequency": [1, 2, 1, 2]}).tolist()
    [0, 0, 1, 1]
    """
    table = np.asarray(values)
    codes = np.zeros(len(table), dtype=np.intp)
    for column in conditions.values():
        levels, inverse = np.unique(np.asarray(column), return_inverse=True)
        codes = codes * len(levels) + inverse.ravel()
    order = np.lexsort((table, codes))
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0]) if len(order) else np.zeros(0, dtype=np.intp)
    lengths = np.diff(np.r_[starts, len(order)])
    ranks = np.empty(len(table), dtype=np.intp)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return ranks


class Harmonics(NamedTuple):
    """Mean response over phases (F0, "DC") and amplitude of its first harmonic (F1, "AC")."""

    mean: NDArray[np.float64]
    modulation: NDArray[np.float64]


class Preferred(NamedTuple):
    """Largest response of each neuroid, and its position.

    Attributes
    ----------
    response : array (neuroids,)
        NaN where a response is NaN.
    at : tuple of arrays (neuroids,)
        One per stimulus axis; the first of equal responses.
    """

    response: NDArray[np.float64]
    at: tuple[NDArray[np.intp], ...]

    def curve(self, responses: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        """Responses along one stimulus axis, with all others at their preferred values.

        Parameters
        ----------
        responses : array, neuroids × stimulus axes
            As for :func:`preferred`.
        axis : int
            Stimulus axis, from 0.

        Returns
        -------
        array, neuroids × that axis
        """
        where: list[Any] = [at[:, np.newaxis] for at in self.at]
        where[axis] = np.arange(responses.shape[axis + 1])[np.newaxis]
        return np.asarray(responses[np.arange(len(responses))[:, np.newaxis], *where])


def harmonics(responses: ArrayLike) -> Harmonics:
    """Mean and first harmonic of responses to gratings of evenly spaced phases.

    Parameters
    ----------
    responses : array, … × phases
        Ascending phases over a complete cycle.

    Returns
    -------
    Harmonics
        Arrays of the shape of `responses` without phases; ``modulation`` is 2 |Σ r exp(−2πi k/n)| / n.

    Raises
    ------
    UserError
        If there is only one phase.

    Examples
    --------
    >>> phase = np.deg2rad(np.arange(0, 360, 45))
    >>> f0, f1 = harmonics(10 + 4 * np.cos(phase - 1))
    >>> float(f0.round(6)), float(f1.round(6))
    (10.0, 4.0)
    """
    values = np.asarray(responses, dtype=np.float64)
    phases = values.shape[-1]
    if phases < 2:
        raise UserError("the modulation by phase needs gratings of two phases or more", remedy="show more phases")
    angle = 2 * np.pi * np.arange(phases) / phases
    cosine, sine = (
        sum(weight * values[..., phase] for phase, weight in enumerate(wave)) for wave in (np.cos(angle), np.sin(angle))
    )
    return Harmonics(values.mean(axis=-1), 2 / phases * np.hypot(cosine, sine))


def preferred(responses: ArrayLike) -> Preferred:
    """Find each neuroid's largest response.

    Parameters
    ----------
    responses : array, neuroids × stimulus axes
        Responses to crossed stimuli.

    Returns
    -------
    Preferred

    Examples
    --------
    >>> best = preferred([[[1.0, 2.0], [5.0, 0.0]]])  # one neuroid, 2 × 2 stimuli
    >>> best.response.tolist(), [at.tolist() for at in best.at]
    ([5.0], [[1], [0]])
    """
    values = np.asarray(responses, dtype=np.float64)
    flat = values.reshape(len(values), -1)
    at = flat.argmax(axis=1)
    return Preferred(flat[np.arange(len(flat)), at], tuple(np.unravel_index(at, values.shape[1:])))


def as_curves(curve: ArrayLike) -> tuple[NDArray[np.float64], bool]:
    """Convert curves to neuroids × stimuli in float64; also return whether there was a single curve."""
    values = np.asarray(curve, dtype=np.float64)
    if values.ndim not in (1, 2):
        raise UserError(f"tuning curves have {values.ndim} axes", remedy="pass neuroids × stimuli, or one curve")
    return np.atleast_2d(values), values.ndim == 1


def require_ascending(values: ArrayLike, name: str, *, of: NDArray[Any], least: int = 2) -> NDArray[np.float64]:
    """Convert stimulus values to float64; they must be ascending, one for each response of the curves `of`."""
    stimuli = np.asarray(values, dtype=np.float64)
    if stimuli.shape != of.shape[-1:] or len(stimuli) < least or not (np.diff(stimuli) > 0).all():
        raise UserError(
            f"curves have {of.shape[-1]} responses, but there are {stimuli.size} values of {name}: the same number is "
            f"needed, at least {least}, in ascending order",
            remedy=f"sort stimuli and responses by {name}",
        )
    return stimuli


class RateScale(NamedTuple):
    """Firing rate = `slope` · activation + `offset`, from `responsive` neuroids (their number).

    Both are NaN if there is none.
    """

    slope: float
    offset: float
    responsive: int


def rate_scale(
    largest: ArrayLike, blank: ArrayLike, *, median_largest: float, median_blank: float, least: float
) -> RateScale:
    """Scale activations so that their medians are those of recorded firing rates.

    Parameters
    ----------
    largest : array (neuroids,)
        Activation by each neuroid's preferred stimulus.
    blank : array (neuroids,)
        Activation by a blank.
    median_largest, median_blank : float
        Recorded medians, in spikes per second.
    least : float
        Share of the population's largest increase over blank that a neuroid must exceed to count as responsive.

    Returns
    -------
    RateScale
        NaN if no neuroid responds more than to a blank.

    References
    ----------
    .. [1] Marques, Schrimpf & DiCarlo (2021). https://doi.org/10.1101/2021.03.01.433495

    Examples
    --------
    >>> rate_scale([1.0, 3.0, 5.0], [0.0, 1.0, 1.0], median_largest=20.0, median_blank=0.0, least=0.02)
    RateScale(slope=10.0, offset=-10.0, responsive=3)
    """
    high, low = np.asarray(largest, dtype=np.float64), np.asarray(blank, dtype=np.float64)
    finite = np.isfinite(high) & np.isfinite(low)
    high, low = high[finite], low[finite]
    increase = high - low
    responsive: NDArray[np.bool_] = increase > least * increase.max(initial=-np.inf)
    if not responsive.any() or increase.max() <= 0:
        return RateScale(np.nan, np.nan, 0)
    top, bottom = float(np.median(high[responsive])), float(np.median(low[responsive]))  # top > bottom, as each is
    slope = (median_largest - median_blank) / (top - bottom)
    return RateScale(slope, median_blank - slope * bottom, int(responsive.sum()))


_BLOCK = 1 << 20  # responses that are weighted together


def receptive_field_maps(responses: ArrayLike, blank: ArrayLike, order: ArrayLike) -> NDArray[np.floating]:
    """Largest response at each position minus the response to a blank.

    Parameters
    ----------
    responses : array, presentations × neuroids
        Responses to gratings; negative ones count as 0. Their precision is kept.
    blank : array (neuroids,)
        Responses to a blank screen; negative ones count as 0.
    order : array of int, vertical positions × horizontal positions × …
        Presentations at each position, such as ``factorial(…).order``.

    Returns
    -------
    array, neuroids × vertical positions × horizontal positions
        Never below 0; NaN if a response is NaN.

    Examples
    --------
    >>> maps = receptive_field_maps([[1.0], [4.0], [0.5], [2.0]], [1.0], [[[0, 1], [2, 3]]])
    >>> maps.tolist()  # one row of two positions, two gratings at each
    [[[3.0, 1.0]]]
    """
    values, spontaneous = np.asarray(responses), np.asarray(blank)
    at = np.asarray(order)
    if values.ndim != 2 or spontaneous.shape != values.shape[1:]:
        raise UserError(
            f"responses are {values.shape}, those to a blank {spontaneous.shape}",
            remedy="pass presentations × neuroids, and one value per neuroid",
        )
    rows, columns = at.shape[:2]
    at = at.reshape(rows * columns, -1)
    largest = np.empty((len(at), values.shape[1]), dtype=np.result_type(values, spontaneous, np.float32))
    for position, shown in enumerate(at):  # in a loop, without copying responses of hundreds of thousands of neuroids
        start = int(shown[0])
        contiguous = np.array_equal(shown, np.arange(start, start + len(shown)))
        values[slice(start, start + len(shown)) if contiguous else shown].max(axis=0, out=largest[position])
    np.maximum(largest, 0, out=largest)
    largest -= np.maximum(spontaneous, 0)
    np.maximum(largest, 0, out=largest)
    return np.ascontiguousarray(largest.T).reshape(-1, rows, columns)


def receptive_field_centres(
    maps: ArrayLike, position_y: ArrayLike, position_x: ArrayLike, *, threshold: float = 0.05
) -> NDArray[np.float64]:
    """Centre of mass of the responsive part of a receptive field.

    Parameters
    ----------
    maps : array, neuroids × vertical positions × horizontal positions
        As :func:`receptive_field_maps` returns them.
    position_y, position_x : array
        Positions in degrees, ascending.
    threshold : float
        Positions with a smaller share of the largest response are left out.

    Returns
    -------
    array (neuroids, 2)
        Vertical, horizontal, in degrees; NaN for a neuroid that responds nowhere.

    Examples
    --------
    >>> receptive_field_centres([[[0.0, 1.0, 3.0]]], [0.5], [-1.0, 0.0, 1.0]).tolist()
    [[0.5, 0.75]]
    """
    values = np.asarray(maps)
    y, x = np.asarray(position_y, dtype=np.float64), np.asarray(position_x, dtype=np.float64)
    rows, columns = np.meshgrid(np.arange(len(y)), np.arange(len(x)), indexing="ij")
    moments = np.stack([np.ones(rows.size), rows.ravel(), columns.ravel()], axis=1)
    centres = np.full((len(values), 2), np.nan)
    width = max(1, _BLOCK // max(1, rows.size))
    for start in range(0, len(values), width):
        weights = values[start : start + width].reshape(-1, rows.size).astype(np.float64)
        largest = weights.max(axis=1)
        weights *= weights > threshold * largest[:, np.newaxis]
        responds = largest > 0
        total, down, right = (weights[responds] @ moments).T
        block = centres[start : start + width]
        block[responds, 0] = np.interp(down / total, np.arange(len(y)), y)
        block[responds, 1] = np.interp(right / total, np.arange(len(x)), x)
    return centres


def _combination(columns: Mapping[str, ArrayLike], all_levels: Any, cell: Any, count: int) -> str:
    values = ", ".join(
        f"{name} {levels[at]:.6g}" if levels.dtype.kind in "fiu" else f"{name} {levels[at]!r}"
        for name, (levels, _), at in zip(columns, all_levels, cell, strict=True)
    )
    return f"{values} is missing" if count == 0 else f"{values} occurs {count} times"
