"""A bank of V1 simple and complex cells whose tuning is drawn from distributions measured in macaques."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.images import load_contrast
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters, draw_filters

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


class V1Bank:
    """Simple and complex cells at every position of a grid, with divisive normalisation.

    A complex cell responds with the energy of a quadrature pair of filters [1]_, a simple cell with the half-squared
    response of one filter of random phase. Each response is divided by σ² plus the mean energy of all filters at its
    position [2]_, so that contrast saturates. Simple and complex cells as parallel outputs of one Gabor bank with
    parameters from neurophysiology: as in the front end of [3]_ (there without normalisation).

    There are one simple and one complex cell for each filter at each position. Phases are in radians, `size` is in
    pixels, `grid` the number of positions in a row and in a column, `semi_saturation` is σ, in units of contrast.

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
