"""Properties of single neuroids from arrays of responses, computed for all neuroids together.

Curves are neuroids × stimuli; a single curve gives single values. Undefined properties are NaN.
"""

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


_KERNELS = {
    "hanning": (0.0, 0.4, 1.0, 0.4, 0.0),
    "flat": (1.0, 1.0, 1.0, 1.0, 1.0),
    "smooth": (0.0, 0.2, 1.0, 0.2, 0.0),
    "triangle": (0.5, 0.75, 1.0, 0.75, 0.5),
}
"""Weights with which curves are smoothed, before they are divided by their sum."""


def _kernel(smoothing: str | None) -> NDArray[np.float64] | None:
    if smoothing is None:
        return None
    if smoothing not in _KERNELS:
        raise UserError(f"there is no smoothing {smoothing!r}", remedy=f"choose {', '.join(_KERNELS)} or None")
    return np.array(_KERNELS[smoothing]) / sum(_KERNELS[smoothing])


def _flanks(
    fit: NDArray[np.float64], peak: NDArray[np.intp], threshold: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Last point before each peak and first one after it at which a fit is below a share of it; −1 and n if none is."""
    below = fit <= fit[np.arange(len(fit)), peak][:, np.newaxis] * threshold
    points = np.arange(fit.shape[1])
    before = np.where(below & (points < peak[:, np.newaxis]), points, -1).max(axis=1)
    after = np.where(below & (points > peak[:, np.newaxis]), points, len(points)).min(axis=1)
    return before, after


def _is_tuned(curves: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(curves).all(axis=1) & (np.ptp(curves, axis=1) > 0))


_GRID = np.arange(-180.0, 360.0)
_CYCLE = slice(180, 360)  # of the grid: 0° to 179°


class OrientationTuning(NamedTuple):
    """Fitted orientation tuning.

    Attributes
    ----------
    bandwidth : array (neuroids,), or float
        In degrees; NaN if the curve does not fall to the threshold on both sides within 180°.
    preferred : array (neuroids,), or float
        In whole degrees, 0 to 179; NaN if the curve is flat.
    orientation : array (180,)
        0° to 179°.
    fit : array (neuroids, 180), or (180,)
        Smoothed and interpolated curve.
    """

    bandwidth: Any
    preferred: Any
    orientation: NDArray[np.float64]
    fit: NDArray[np.float64]


def circular_variance(curve: ArrayLike, orientation: ArrayLike) -> Any:
    """One minus the length of the mean vector: 0 for a response to one orientation only, 1 for equal responses.

    Parameters
    ----------
    curve : array, neuroids × orientations, or orientations
        Responses.
    orientation : array (orientations,)
        In degrees, over one half turn.

    Returns
    -------
    array (neuroids,), or float
        1 − |Σ r exp(2iθ)| / Σ |r|; NaN for a neuroid without any response.

    References
    ----------
    .. [1] Ringach, Shapley & Hawken (2002). Journal of Neuroscience 22, 5639–5651.
       https://doi.org/10.1523/JNEUROSCI.22-13-05639.2002

    Examples
    --------
    >>> angles = np.arange(0, 180, 15)
    >>> float(circular_variance(1 + np.cos(2 * np.deg2rad(angles - 40)), angles).round(6))  # half the mean: 1 − 1/2
    0.5
    """
    curves, single = as_curves(curve)
    angles = require_ascending(orientation, "orientation", of=curves)
    length = np.abs(curves @ np.exp(2j * np.deg2rad(angles)))
    with np.errstate(invalid="ignore"):
        values = 1 - length / np.abs(curves).sum(axis=1)
    return values[0] if single else values


def orthogonal_preferred_ratio(curve: ArrayLike) -> Any:
    """Response to the orthogonal orientation relative to that to the preferred orientation.

    Parameters
    ----------
    curve : array, neuroids × orientations, or orientations
        Responses to evenly spaced orientations over one half turn; for an odd number, the orthogonal orientation is
        rounded down.

    Returns
    -------
    array (neuroids,), or float
        NaN for a neuroid without any response.

    Examples
    --------
    >>> float(orthogonal_preferred_ratio([8.0, 4.0, 2.0, 4.0]))
    0.25
    """
    curves, single = as_curves(curve)
    number = curves.shape[1]
    best = curves.argmax(axis=1)
    rows = np.arange(len(curves))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = curves[rows, (best + number // 2) % number] / curves[rows, best]
    return values[0] if single else values


def orientation_tuning(
    curve: ArrayLike,
    orientation: ArrayLike,
    *,
    smoothing: str | None = "hanning",
    threshold: float = 0.5,
    half: bool = False,
) -> OrientationTuning:
    """Bandwidth and preferred orientation of a smoothed and interpolated curve.

    The curve is repeated to both sides, convolved with a kernel of five orientations, interpolated by a cubic spline
    to whole degrees.

    Parameters
    ----------
    curve : array, neuroids × orientations, or orientations
        Responses.
    orientation : array (orientations,)
        In degrees, ascending, within one half turn.
    smoothing : {'hanning', 'flat', 'smooth', 'triangle'} or None
        Relative weights: 0, 2/5, 1, 2/5, 0; five equal ones; 0, 1/5, 1, 1/5, 0; 1/2, 3/4, 1, 3/4, 1/2; none.
    threshold : float
        Share of the largest fitted response at which the width is measured: 1/2, or 0.707 for 1/√2.
    half : bool
        Whether the bandwidth is halved.

    Returns
    -------
    OrientationTuning

    Raises
    ------
    UserError
        If the smoothing is unknown, or orientations are not ascending.

    References
    ----------
    .. [1] Ringach, Shapley & Hawken (2002). Journal of Neuroscience 22, 5639–5651.
       https://doi.org/10.1523/JNEUROSCI.22-13-05639.2002
    .. [2] De Valois, Yund & Hepler (1982). Vision Research 22, 531–544. https://doi.org/10.1016/0042-6989(82)90112-2

    Examples
    --------
    >>> angles = np.arange(0, 180, 7.5)
    >>> tuning = orientation_tuning(np.exp(3 * np.cos(2 * np.deg2rad(angles - 45))), angles, smoothing=None)
    >>> float(tuning.preferred), float(tuning.bandwidth)  # 2 · 19.9° by the formula, on a grid of whole degrees
    (45.0, 40.0)
    """
    curves, single = as_curves(curve)
    angles = require_ascending(orientation, "orientation", of=curves)
    fit = curves @ _orientation_interpolation(angles, _kernel(smoothing)).T
    peak = fit[:, _CYCLE].argmax(axis=1) + _CYCLE.start
    before, after = _flanks(fit, peak, threshold)
    width = (after - before).astype(np.float64)
    width[(before < 0) | (after == len(_GRID)) | (width > 180)] = np.nan
    tuned = _is_tuned(curves)
    chosen = np.where(tuned, _GRID[peak], np.nan)
    width = np.where(tuned, width / 2 if half else width, np.nan)
    fitted = fit[:, _CYCLE]
    if single:
        return OrientationTuning(width[0], chosen[0], _GRID[_CYCLE], fitted[0])
    return OrientationTuning(width, chosen, _GRID[_CYCLE], fitted)


def _orientation_interpolation(angles: NDArray[np.float64], kernel: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Matrix from a curve to its fit on the grid: smoothing and spline are linear in the responses."""
    from scipy.interpolate import make_interp_spline

    repeated = np.tile(np.eye(len(angles)), 3)
    if kernel is not None:
        repeated = np.array([np.convolve(kernel, row, mode="same") for row in repeated])
    return np.asarray(make_interp_spline(np.r_[angles - 180, angles, angles + 180], repeated.T, k=3)(_GRID))


_POINTS = 100


class SpatialFrequencyTuning(NamedTuple):
    """Fitted spatial frequency tuning.

    Attributes
    ----------
    bandwidth : array (neuroids,), or float
        NaN if the curve does not fall to the threshold on both sides.
    peak : array (neuroids,), or float
        Preferred spatial frequency, in the unit of the stimuli; NaN if the curve is flat.
    r_squared : array (neuroids,), or float
        Share of the responses' variance that the fit explains; NaN if the curve is flat.
    spatial_frequency : array (100,)
        From the lowest to the highest, evenly spaced in octaves.
    fit : array (neuroids, 100), or (100,)
        Smoothed and interpolated curve.
    """

    bandwidth: Any
    peak: Any
    r_squared: Any
    spatial_frequency: NDArray[np.float64]
    fit: NDArray[np.float64]


def spatial_frequency_tuning(
    curve: ArrayLike,
    spatial_frequency: ArrayLike,
    *,
    smoothing: str | None = "triangle",
    threshold: float = 0.707,
    mode: str = "ratio",
) -> SpatialFrequencyTuning:
    """Peak and bandwidth of a smoothed and interpolated curve.

    The curve is extended by its first and last response, convolved with a kernel of five spatial frequencies, and
    interpolated by a cubic spline over octaves.

    Parameters
    ----------
    curve : array, neuroids × spatial frequencies, or spatial frequencies
        Responses.
    spatial_frequency : array (spatial frequencies,)
        At least four, positive, ascending.
    smoothing : {'triangle', 'hanning', 'flat', 'smooth'} or None
        Relative weights: 1/2, 3/4, 1, 3/4, 1/2; 0, 2/5, 1, 2/5, 0; five equal ones; 0, 1/5, 1, 1/5, 0; none.
    threshold : float
        Share of the largest fitted response at which the width is measured.
    mode : {'ratio', 'oct'}
        ``'ratio'``: 100 · low / high, the smaller the broader [1]_; ``'oct'``: high / low − 1, which despite the
        published name is not a number of octaves.

    Returns
    -------
    SpatialFrequencyTuning

    Raises
    ------
    UserError
        If smoothing or mode is unknown, or spatial frequencies are too few, not positive or not ascending.

    References
    ----------
    .. [1] Schiller, Finlay & Volman (1976). Journal of Neurophysiology 39, 1334–1351.
       https://doi.org/10.1152/jn.1976.39.6.1334
    .. [2] De Valois, Albrecht & Thorell (1982). Vision Research 22, 545–559.
       https://doi.org/10.1016/0042-6989(82)90113-4

    Examples
    --------
    >>> frequencies = np.logspace(-1, 4, 22, base=2)
    >>> tuning = spatial_frequency_tuning(
    ...     np.exp(-(np.log2(frequencies / 3) ** 2) / 2), frequencies, smoothing=None, threshold=np.exp(-0.5))
    >>> abs(np.log2(tuning.peak / 3)) < 0.05, abs(tuning.bandwidth - 25) < 2  # two octaves: a ratio of 1/4
    (np.True_, np.True_)
    """
    curves, single = as_curves(curve)
    frequencies = require_ascending(spatial_frequency, "spatial frequency", of=curves, least=4)
    if not frequencies[0] > 0:
        raise UserError(
            f"the lowest spatial frequency is {frequencies[0]:.4g}, and has no logarithm",
            remedy="leave out spatial frequencies that are not > 0",
        )
    if mode not in ("ratio", "oct"):
        raise UserError(f"unknown mode {mode!r}", remedy="choose 'ratio' or 'oct'")
    octaves = np.log2(frequencies)
    grid = np.linspace(octaves[0], octaves[-1], _POINTS)
    at_grid, at_stimuli = _frequency_interpolation(octaves, grid, _kernel(smoothing))
    fit = curves @ at_grid.T
    peak = fit.argmax(axis=1)
    before, after = _flanks(fit, peak, threshold)
    ratio = 2 ** (grid[np.minimum(after, _POINTS - 1)] - grid[np.maximum(before, 0)])  # high / low
    width = ratio - 1 if mode == "oct" else 100 / ratio
    tuned = _is_tuned(curves)
    width = np.where(tuned & (before >= 0) & (after < _POINTS), width, np.nan)
    best = np.where(tuned, 2 ** grid[peak], np.nan)
    residual = ((curves - curves @ at_stimuli.T) ** 2).sum(axis=1)
    total = ((curves - curves.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    explained = np.where(tuned, 1 - residual / np.where(tuned, total, 1), np.nan)
    if single:
        return SpatialFrequencyTuning(width[0], best[0], explained[0], 2**grid, fit[0])
    return SpatialFrequencyTuning(width, best, explained, 2**grid, fit)


def _frequency_interpolation(
    octaves: NDArray[np.float64], grid: NDArray[np.float64], kernel: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrices from a curve to its fit on the grid and at the stimuli: smoothing and spline are linear in it."""
    from scipy.interpolate import make_interp_spline

    smoothed = np.eye(len(octaves))
    if kernel is not None:
        continued = np.pad(smoothed, ((0, 0), (2, 2)), mode="edge")
        smoothed = np.array([np.convolve(kernel, row, mode="valid") for row in continued])
    spline = make_interp_spline(octaves, smoothed.T, k=3)
    return np.asarray(spline(grid)), np.asarray(spline(octaves))


_SUPPRESSED = 0.1
_SUMMATION = 0.95
_PLATEAU = 0.05


class SizeTuning(NamedTuple):
    """Size tuning; each attribute is an array (neuroids,), or a float for a single curve.

    Attributes
    ----------
    grating_summation_field
        Smallest diameter with a response of at least 95 % of the largest; NaN without suppression.
    surround_diameter
        Smallest diameter beyond the preferred one with a response within 5 % of that to the largest grating; NaN
        without suppression.
    surround_grating_summation_field_ratio
        Surround diameter / grating summation field.
    surround_suppression_index
        (largest response − response to the largest grating) / largest response; NaN if no response is above 0.
    """

    grating_summation_field: Any
    surround_diameter: Any
    surround_grating_summation_field_ratio: Any
    surround_suppression_index: Any


def size_tuning(curve: ArrayLike, radius: ArrayLike) -> SizeTuning:
    """Summation and suppression by size.

    Neuroids with a suppression index above 0.1 are suppressed; the others have no diameters.

    Parameters
    ----------
    curve : array, neuroids × radii, or radii
        Responses.
    radius : array (radii,)
        Radii of the gratings, ascending; diameters have their unit.

    Returns
    -------
    SizeTuning

    References
    ----------
    .. [1] Cavanaugh, Bair & Movshon (2002). Journal of Neurophysiology 88, 2530–2546.
       https://doi.org/10.1152/jn.00692.2001

    Examples
    --------
    >>> tuning = size_tuning([2.0, 10.0, 6.0, 5.0, 5.0], [0.1, 0.2, 0.4, 0.8, 1.6])
    >>> [round(float(value), 3) for value in tuning]
    [0.4, 1.6, 4.0, 0.5]
    """
    curves, single = as_curves(curve)
    radii = require_ascending(radius, "radius", of=curves, least=1)
    largest, plateau = curves.max(axis=1), curves[:, -1]
    responds = largest > 0
    index = np.where(responds, (largest - plateau) / np.where(responds, largest, 1), np.nan)
    suppressed = index > _SUPPRESSED
    summed = (curves >= _SUMMATION * largest[:, np.newaxis]).argmax(axis=1)
    settled = curves <= (plateau + _PLATEAU * np.abs(plateau))[:, np.newaxis]
    beyond = np.arange(len(radii)) > curves.argmax(axis=1)[:, np.newaxis]
    field = np.where(suppressed, 2 * radii[summed], np.nan)
    surround = np.where(suppressed, 2 * radii[(settled & beyond).argmax(axis=1)], np.nan)
    tuning = SizeTuning(field, surround, surround / field, index)
    return SizeTuning(*(values[0] for values in tuning)) if single else tuning


_REGULARISER = 0.02


class TextureModulation(NamedTuple):
    """Modulation index, mean over families: array (neuroids,) or float; and of each family: … × families."""

    modulation_index: Any
    by_family: NDArray[np.float64]


class MeanSquares(NamedTuple):
    """Mean squares of a nested analysis of variance, one value per neuroid; ``residual`` is NaN without repetitions."""

    residual: Any
    sample: Any
    family: Any


class VarianceRatio(NamedTuple):
    """Ratio of the variance over families to that over samples, and the share of each, one value per neuroid."""

    ratio: Any
    sample: Any
    family: Any


def texture_modulation(responses: ArrayLike) -> TextureModulation:
    """Relative difference of the responses to textures and to noise.

    Parameters
    ----------
    responses : array, … × 2 × families
        Mean responses to noise, then to texture.

    Returns
    -------
    TextureModulation
        (texture − noise) / (texture + noise) of each family, and its mean over the families where it is defined; NaN if
        it is undefined for all.

    References
    ----------
    .. [1] Freeman, Ziemba, Heeger, Simoncelli & Movshon (2013). Nature Neuroscience 16, 974–981.
       https://doi.org/10.1038/nn.3402

    Examples
    --------
    >>> index, by_family = texture_modulation([[2.0, 1.0], [2.0, 3.0]])
    >>> float(index), by_family.tolist()
    (0.25, [0.0, 0.5])
    """
    values = np.asarray(responses, dtype=np.float64)
    if values.ndim < 2 or values.shape[-2] != 2:
        raise UserError(
            f"responses have the shape {values.shape}: the last axis but one must be noise, texture",
            remedy="pass … × 2 × families",
        )
    noise, texture = values[..., 0, :], values[..., 1, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_family = (texture - noise) / (texture + noise)
    defined = ~np.isnan(by_family)
    with np.errstate(invalid="ignore"):
        index = np.where(defined, by_family, 0).sum(axis=-1) / defined.sum(axis=-1)
    return TextureModulation(index, by_family)


def sparseness(responses: ArrayLike) -> Any:
    """Treves–Rolls sparseness over stimuli: 0 for equal responses, 1 for a response to a single stimulus.

    Parameters
    ----------
    responses : array, … × stimuli
        Responses to at least two stimuli.

    Returns
    -------
    array of the shape of `responses` without stimuli, or float
        (1 − ⟨r⟩² / ⟨r²⟩) / (1 − 1/n); NaN without any response. In [0, 1] for responses that are not negative.

    References
    ----------
    .. [1] Vinje & Gallant (2000). Science 287, 1273–1276. https://doi.org/10.1126/science.287.5456.1273

    Examples
    --------
    >>> float(sparseness([1.0, 1.0, 1.0, 1.0])), float(sparseness([0.0, 0.0, 3.0, 0.0]))
    (0.0, 1.0)
    """
    values = np.asarray(responses, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (1 - values.mean(axis=-1) ** 2 / (values**2).mean(axis=-1)) / (1 - 1 / np.float64(values.shape[-1]))


def mean_squares(responses: ArrayLike, *, repetitions: bool = False) -> MeanSquares:
    """Mean squares of samples nested in families.

    Parameters
    ----------
    responses : array, … × families × samples[ × repetitions]
        Responses, at least two of each.
    repetitions : bool
        Whether the last axis is repetitions.

    Returns
    -------
    MeanSquares

    Examples
    --------
    >>> squares = mean_squares([[1.0, 3.0], [5.0, 7.0]])
    >>> float(squares.sample), float(squares.family)
    (2.0, 16.0)
    """
    values = np.asarray(responses, dtype=np.float64)
    if not repetitions:
        values = values[..., np.newaxis]
    *_, families, samples, number = values.shape
    if families < 2 or samples < 2 or (repetitions and number < 2):
        raise UserError(
            f"{families} families × {samples} samples{f' × {number} repetitions' if repetitions else ''}: "
            "their variances need at least two of each",
            remedy="show more stimuli",
        )
    of_sample = values.mean(axis=-1)
    of_family = of_sample.mean(axis=-1)
    overall = of_family.mean(axis=-1)
    within = ((values - of_sample[..., np.newaxis]) ** 2).sum(axis=(-3, -2, -1))
    residual = within / (families * samples * (number - 1)) if repetitions else np.full(within.shape, np.nan)
    sample = number * ((of_sample - of_family[..., np.newaxis]) ** 2).sum(axis=(-2, -1)) / (families * (samples - 1))
    family = samples * number * ((of_family - overall[..., np.newaxis]) ** 2).sum(axis=-1) / (families - 1)
    return MeanSquares(residual[()], sample, family)


def variance_ratio(responses: ArrayLike, *, repetitions: bool = False) -> VarianceRatio:
    """Ratio of the variance between families of textures to the variance between samples of a family.

    Parameters
    ----------
    responses : array, … × families × samples[ × repetitions]
        Variance-stabilised responses.
    repetitions : bool
        Whether the last axis is repetitions.

    Returns
    -------
    VarianceRatio
        (family + 0.02) / (sample + 0.02), family and sample being components of variance as shares of the total; NaN
        if the responses do not vary.

    References
    ----------
    .. [1] Ziemba, Freeman, Movshon & Simoncelli (2016). PNAS 113, E3140–E3149.
       https://doi.org/10.1073/pnas.1510847113

    Examples
    --------
    >>> ratio, sample, family = variance_ratio([[1.0, 3.0], [5.0, 7.0]])  # components: 2, (16 − 2) / 2
    >>> [round(float(value), 4) for value in (ratio, sample, family)]
    [3.2936, 0.2222, 0.7778]
    """
    residual, of_sample, of_family = mean_squares(responses, repetitions=repetitions)
    shape = np.shape(responses)
    samples, number = (shape[-2], shape[-1]) if repetitions else (shape[-1], 1)
    noise = residual if repetitions else 0.0
    sample = (of_sample - noise) / number
    family = (of_family - of_sample) / (number * samples)
    total = noise + sample + family
    with np.errstate(divide="ignore", invalid="ignore"):
        sample, family = sample / total, family / total
        return VarianceRatio((family + _REGULARISER) / (sample + _REGULARISER), sample, family)
