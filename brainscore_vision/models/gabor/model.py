"""A bank of V1 simple and complex cells whose tuning is drawn from distributions measured in macaques."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.gabor_bank import GaborBank, GaborFilters
from brainscore_vision.model_helpers.images import load_contrast
from brainscore_vision.model_helpers.static_features import FeatureModel

_SIZE = 224
_VISUAL_DEGREES = 8
_FILTERS = 48
_GRID = 8
_SEMI_SATURATION = 0.1
_SEED = 1982


class V1Responses(NamedTuple):
    """Responses of one image's cells, each filters × positions × positions."""

    simple: NDArray[np.float32]
    complex: NDArray[np.float32]


def draw_filters(number: int, seed: int) -> GaborFilters:
    """Draw filters from distributions measured in macaque V1.

    Parameters
    ----------
    number : int
        How many filters.
    seed : int
        Of the draws.

    Returns
    -------
    GaborFilters
        Preferred orientation: horizontal and vertical more frequent than oblique [1]_, density ∝ 1 + cos(4θ) / 4.
        Full orientation bandwidth: median 40° [1]_, log-normal with a standard deviation of 0.4 in the logarithm,
        kept within 15° to 120° (the broader cells that [1]_ also reports are not Gabor-like). Preferred spatial
        frequency: log-uniform over 0.5 to 8 cycles per degree, the range at 2–5° eccentricity [2]_. Frequency
        bandwidth: mean 1.8 octaves, within 0.8 to 3 octaves [2]_, standard deviation 0.5. Where a paper reports a
        range or a median only, the form of the distribution is our choice. Envelope sizes follow from the bandwidths.

    References
    ----------
    .. [1] De Valois, Yund & Hepler 1982, https://doi.org/10.1016/0042-6989(82)90112-2
    .. [2] Foster, Gaska, Nagler & Pollen 1985, https://doi.org/10.1113/jphysiol.1985.sp015776

    Examples
    --------
    >>> filters = draw_filters(100, seed=0)
    >>> bool(filters.frequency.min() >= 0.5), bool(filters.frequency.max() <= 8)
    (True, True)
    """
    random = np.random.RandomState(seed)  # its stream is frozen for ever, those of numpy's newer generators are not
    angles = np.linspace(0, 180, 1801)
    cumulative = angles + 0.25 * np.sin(np.deg2rad(4 * angles)) / np.deg2rad(4)
    return GaborFilters.from_bandwidths(
        orientation=np.interp(random.uniform(0, 180, number), cumulative, angles),
        frequency=np.exp(random.uniform(np.log(0.5), np.log(8.0), number)),
        frequency_bandwidth=np.clip(random.normal(1.8, 0.5, number), 0.8, 3.0),
        orientation_bandwidth=np.clip(np.exp(random.normal(np.log(40.0), 0.4, number)), 15.0, 120.0),
    )


class V1Bank:
    """Simple and complex cells at every position of a grid, with divisive normalisation.

    A complex cell responds with the energy of a quadrature pair of filters [1]_, a simple cell with the half-squared
    response of one filter of random phase. Each response is divided by σ² plus the mean energy of all filters at its
    position [2]_, so that contrast saturates. Simple and complex cells as parallel outputs of one Gabor bank with
    parameters from neurophysiology: as in the front end of [3]_ (there without normalisation).

    Parameters
    ----------
    filters : GaborFilters
        One simple and one complex cell each, at each position.
    phases : ndarray
        Phase of each filter's simple cell, in radians.
    size : int
        Height and width of images in pixels.
    visual_degrees : float
        Visual angle that they span.
    grid : int
        Positions in a row and in a column.
    semi_saturation : float
        σ, in units of contrast.

    References
    ----------
    .. [1] Adelson & Bergen 1985, https://doi.org/10.1364/JOSAA.2.000284
    .. [2] Heeger 1992, https://doi.org/10.1017/S0952523800009640
    .. [3] Dapello et al. 2020, https://doi.org/10.1101/2020.06.16.154542
    """

    def __init__(
        self,
        filters: GaborFilters,
        phases: NDArray[np.floating],
        *,
        size: int = _SIZE,
        visual_degrees: float = _VISUAL_DEGREES,
        grid: int = _GRID,
        semi_saturation: float = _SEMI_SATURATION,
    ) -> None:
        self._bank = GaborBank(filters, size=size, visual_degrees=visual_degrees, grid=grid)
        self._turn = np.exp(-1j * np.asarray(phases))[:, np.newaxis, np.newaxis].astype(np.complex64)
        self._semi_saturation = semi_saturation

    def __call__(self, contrast: NDArray[np.float32]) -> V1Responses:
        """Responses to one image, given as contrast (see :func:`load_contrast`)."""
        filtered = self._bank(contrast)
        energy = filtered.real**2 + filtered.imag**2
        pool = self._semi_saturation**2 + energy.mean(axis=0)
        half_squared = np.maximum((filtered * self._turn).real, 0) ** 2
        return V1Responses(simple=half_squared / pool, complex=energy / pool)


def gabor() -> FeatureModel:
    """48 filters × 8 × 8 positions over 8°, a simple and a complex cell each: 6,144 cells.

    Every region is given the same cells: beyond V1 they are a baseline.

    Examples
    --------
    >>> gabor().region_layer_map["V1"]
    ['simple', 'complex']
    """
    phases = np.random.RandomState(_SEED + 1).uniform(0, 2 * np.pi, _FILTERS)
    bank = V1Bank(draw_filters(_FILTERS, _SEED), phases)
    contrast = partial(load_contrast, size=_SIZE)
    cells = ["simple", "complex"]
    return FeatureModel(
        "gabor",
        layers={
            "simple": lambda responses: np.stack([response.simple for response in responses]),
            "complex": lambda responses: np.stack([response.complex for response in responses]),
        },
        region_layer_map=dict.fromkeys(("V1", "V2", "V4", "IT"), cells),
        visual_degrees=_VISUAL_DEGREES,
        load=lambda path: bank(contrast(path)),
    )
