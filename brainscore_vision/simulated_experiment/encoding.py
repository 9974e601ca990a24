"""The encoding model that generates Simulated2026: expected responses of its neuroids to an image.

Nothing is fitted and nothing is looked up: expected responses are a fixed function of the pixels.

* V1: energies of quadrature Gabor filters [1]_ divisively normalised [2]_ and averaged over the 4° × 4°
  around fixation. A neuroid weights them by tuning curves for orientation (von Mises) and spatial frequency
  (Gaussian in octaves), rectifies smoothly, and adds its own spontaneous activity.
* IT: the normalised energies of the whole image, averaged over neighbouring positions, are compared with stored
  prototypes (Gaussian tuning), four exemplars of each category; the best match over positions counts [3]_. A neuroid
  prefers one category: it weights that category's prototypes most, others at random, adds a resting
  drive and rectifies smoothly.

References
----------
.. [1] Adelson & Bergen 1985, https://doi.org/10.1364/JOSAA.2.000284
.. [2] Heeger 1992, https://doi.org/10.1017/S0952523800009640
.. [3] Riesenhuber & Poggio 1999, https://doi.org/10.1038/14819
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.simulated_experiment.stimuli import CATEGORIES, IMAGE_SIZE, PER_CATEGORY, VISUAL_DEGREES, draw
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

NEUROIDS = 96
"""Neuroids of each region."""

_ORIENTATIONS = np.arange(0.0, 180.0, 30.0)
_FREQUENCIES = np.array([0.75, 1.5, 3.0])
_GRID = 8
_SEMI_SATURATION = 0.1
_PROTOTYPES_PER_CATEGORY = 4
_IT_RESTING_DRIVE = 1.0
_TUNING_WIDTH = 60.0  # of squared distance to a prototype
_SEED = 1985

Array = NDArray[np.float64]


class EncodingModel:
    """Expected responses of the simulated neuroids.

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_vision.simulated_experiment.stimuli import draw
    >>> model = EncodingModel()
    >>> energies = model.energies(draw("grating", 0))
    >>> model.v1(energies[np.newaxis]).shape, model.it(energies[np.newaxis]).shape
    ((1, 96), (1, 96))
    """

    def __init__(self) -> None:
        orientation, frequency = np.meshgrid(_ORIENTATIONS, _FREQUENCIES, indexing="ij")
        filters = GaborFilters.from_bandwidths(
            orientation=orientation.ravel(),
            frequency=frequency.ravel(),
            frequency_bandwidth=1.5,
            orientation_bandwidth=40.0,
        )
        self._bank = GaborBank(filters, size=IMAGE_SIZE, visual_degrees=VISUAL_DEGREES, grid=_GRID, dtype=np.complex128)

    def energies(self, image: NDArray[np.uint8]) -> Array:
        """Divisively normalised energies of one image.

        Parameters
        ----------
        image : ndarray of uint8, 128 × 128
            Grey levels.

        Returns
        -------
        ndarray, filters × positions × positions
            In [0, filters): energy / (semi-saturation² + mean energy over the filters at the position).
        """
        energy = np.abs(self._bank((image.astype(np.float64) - 128) / 128)) ** 2
        return energy / (_SEMI_SATURATION**2 + energy.mean(axis=0))

    def v1(self, energies: Array) -> Array:
        """Expected V1 responses, images × neuroids, from energies, images × filters × positions × positions."""
        centre = slice(_GRID // 2 - 2, _GRID // 2 + 2)
        pooled = energies[:, :, centre, centre].mean(axis=(2, 3))
        return _rectify(pooled @ self._v1_weights) + self._v1_spontaneous

    def it(self, energies: Array) -> Array:
        """Expected IT responses, images × neuroids, from energies, images × filters × positions × positions."""
        return _rectify(self._similarities(energies) @ self._it_weights + _IT_RESTING_DRIVE)

    @cached_property
    def _v1_weights(self) -> Array:
        random = np.random.RandomState([_SEED, 1])  # frozen stream, see stimuli.py
        filters = self._bank.filters
        preferred = random.uniform(0, 180, NEUROIDS)
        frequency = np.exp(random.uniform(np.log(_FREQUENCIES[0]), np.log(_FREQUENCIES[-1]), NEUROIDS))
        offset = np.deg2rad(2 * (filters.orientation[:, np.newaxis] - preferred))
        octaves = np.log2(filters.frequency[:, np.newaxis] / frequency)
        weights = np.exp(2.0 * (np.cos(offset) - 1)) * np.exp(-0.5 * (octaves / 0.6) ** 2)
        return weights / weights.sum(axis=0)

    @cached_property
    def _v1_spontaneous(self) -> Array:
        return np.random.RandomState([_SEED, 3]).gamma(2.0, 0.7, NEUROIDS)

    @cached_property
    def _it_weights(self) -> Array:
        random = np.random.RandomState([_SEED, 2])
        preferred = np.arange(NEUROIDS) % len(CATEGORIES)
        category = np.repeat(np.arange(len(CATEGORIES)), _PROTOTYPES_PER_CATEGORY)[:, np.newaxis]
        weights = random.standard_normal((len(category), NEUROIDS)) * 0.3
        return weights + np.where(category == preferred, random.uniform(0.5, 1.5, weights.shape), 0.0)

    @cached_property
    def _prototypes(self) -> Array:
        """Patches of 2 × 2 positions (after averaging) from exemplars that are not among the stimuli."""
        exemplars = range(PER_CATEGORY, PER_CATEGORY + _PROTOTYPES_PER_CATEGORY)
        images = [draw(category, number) for category in CATEGORIES for number in exemplars]
        maps = _average_neighbours(np.stack([self.energies(image) for image in images]))
        middle = maps.shape[-1] // 2
        return maps[:, :, middle - 1 : middle + 1, middle - 1 : middle + 1].reshape(len(images), -1)

    def _similarities(self, energies: Array) -> Array:
        maps = _average_neighbours(energies)
        best = np.full((len(energies), len(self._prototypes)), np.inf)
        for row in range(maps.shape[-1] - 1):
            for column in range(maps.shape[-1] - 1):
                patches = maps[:, :, row : row + 2, column : column + 2].reshape(len(energies), -1)
                squared = (
                    (patches**2).sum(axis=1)[:, np.newaxis]
                    - 2 * patches @ self._prototypes.T
                    + (self._prototypes**2).sum(axis=1)
                )
                best = np.minimum(best, squared)
        return np.exp(-best / _TUNING_WIDTH)


def _average_neighbours(maps: Array) -> Array:
    """Average over blocks of 2 × 2 positions that overlap by half."""
    return (maps[..., :-1, :-1] + maps[..., 1:, :-1] + maps[..., :-1, 1:] + maps[..., 1:, 1:]) / 4


def _rectify(drive: Array) -> Array:
    return np.logaddexp(0.0, 2 * drive) / 2
