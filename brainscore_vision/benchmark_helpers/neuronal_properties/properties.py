"""Properties of neuroids: tuning to orientation, spatial frequency and size, and responses to textures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_vision.benchmark_helpers.neuronal_properties.responses import as_curves, require_ascending

_ORIENTATION_KERNELS = {
    "hanning": (0.0, 0.4, 1.0, 0.4, 0.0),
    "flat": (1.0, 1.0, 1.0, 1.0, 1.0),
    "smooth": (0.0, 0.2, 1.0, 0.2, 0.0),
}
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
    smoothing : {'hanning', 'flat', 'smooth'} or None
        Relative weights: 0, 2/5, 1, 2/5, 0; five equal ones; 0, 1/5, 1, 1/5, 0; none.
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
    if smoothing is not None and smoothing not in _ORIENTATION_KERNELS:
        raise UserError(
            f"there is no smoothing {smoothing!r}", remedy=f"choose {', '.join(_ORIENTATION_KERNELS)} or None"
        )
    fit = curves @ _orientation_interpolation(angles, None if smoothing is None else _ORIENTATION_KERNELS[smoothing]).T
    peak = fit[:, _CYCLE].argmax(axis=1) + _CYCLE.start
    largest = fit[np.arange(len(fit)), peak]
    below = fit <= largest[:, np.newaxis] * threshold
    grid = np.arange(len(_GRID))
    before = np.where(below & (grid < peak[:, np.newaxis]), grid, -1).max(axis=1)
    after = np.where(below & (grid > peak[:, np.newaxis]), grid, len(grid)).min(axis=1)
    width = (after - before).astype(np.float64)
    width[(before < 0) | (after == len(grid)) | (width > 180)] = np.nan
    tuned = np.isfinite(curves).all(axis=1) & (np.ptp(curves, axis=1) > 0)
    chosen = np.where(tuned, _GRID[peak], np.nan)
    width = np.where(tuned, width / 2 if half else width, np.nan)
    fitted = fit[:, _CYCLE]
    if single:
        return OrientationTuning(width[0], chosen[0], _GRID[_CYCLE], fitted[0])
    return OrientationTuning(width, chosen, _GRID[_CYCLE], fitted)


def _orientation_interpolation(angles: NDArray[np.float64], kernel: tuple[float, ...] | None) -> NDArray[np.float64]:
    """Matrix from a curve to its fit on the grid: smoothing and spline are linear in the responses."""
    from scipy.interpolate import make_interp_spline

    repeated = np.tile(np.eye(len(angles)), 3)
    if kernel is not None:
        weights = np.array(kernel) / sum(kernel)
        repeated = np.array([np.convolve(weights, row, mode="same") for row in repeated])
    return np.asarray(make_interp_spline(np.r_[angles - 180, angles, angles + 180], repeated.T, k=3)(_GRID))


_FREQUENCY_KERNELS = {
    "hanning": (0.0, 0.4, 1.0, 0.4, 0.0),
    "flat": (1.0, 1.0, 1.0, 1.0, 1.0),
    "smooth": (0.0, 0.2, 1.0, 0.2, 0.0),
    "triangle": (0.5, 0.75, 1.0, 0.75, 0.5),
}
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
    if smoothing is not None and smoothing not in _FREQUENCY_KERNELS:
        raise UserError(
            f"there is no smoothing {smoothing!r}", remedy=f"choose {', '.join(_FREQUENCY_KERNELS)} or None"
        )
    if mode not in ("ratio", "oct"):
        raise UserError(f"unknown mode {mode!r}", remedy="choose 'ratio' or 'oct'")
    octaves = np.log2(frequencies)
    grid = np.linspace(octaves[0], octaves[-1], _POINTS)
    at_grid, at_stimuli = _frequency_interpolation(
        octaves, grid, None if smoothing is None else _FREQUENCY_KERNELS[smoothing]
    )
    fit = curves @ at_grid.T
    peak = fit.argmax(axis=1)
    below = fit <= fit[np.arange(len(fit)), peak][:, np.newaxis] * threshold
    points = np.arange(_POINTS)
    before = np.where(below & (points < peak[:, np.newaxis]), points, -1).max(axis=1)
    after = np.where(below & (points > peak[:, np.newaxis]), points, _POINTS).min(axis=1)
    ratio = 2 ** (grid[np.minimum(after, _POINTS - 1)] - grid[np.maximum(before, 0)])  # high / low
    width = ratio - 1 if mode == "oct" else 100 / ratio
    tuned = np.isfinite(curves).all(axis=1) & (np.ptp(curves, axis=1) > 0)
    width = np.where(tuned & (before >= 0) & (after < _POINTS), width, np.nan)
    best = np.where(tuned, 2 ** grid[peak], np.nan)
    residual = ((curves - curves @ at_stimuli.T) ** 2).sum(axis=1)
    total = ((curves - curves.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    explained = np.where(tuned, 1 - residual / np.where(tuned, total, 1), np.nan)
    if single:
        return SpatialFrequencyTuning(width[0], best[0], explained[0], 2**grid, fit[0])
    return SpatialFrequencyTuning(width, best, explained, 2**grid, fit)


def _frequency_interpolation(
    octaves: NDArray[np.float64], grid: NDArray[np.float64], kernel: tuple[float, ...] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrices from a curve to its fit on the grid and at the stimuli: smoothing and spline are linear in it."""
    from scipy.interpolate import make_interp_spline

    smoothed = np.eye(len(octaves))
    if kernel is not None:
        weights = np.array(kernel) / sum(kernel)
        continued = np.pad(smoothed, ((0, 0), (2, 2)), mode="edge")
        smoothed = np.array([np.convolve(weights, row, mode="valid") for row in continued])
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
