"""Simulated measurements: expected responses of an encoding model, plus noise of known variance, repeated.

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

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.simulated_experiment.stimuli import CATEGORIES, IMAGE_SIZE, PER_CATEGORY, VISUAL_DEGREES, draw
from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

REPETITIONS = 12
SEED = 2026
"""Of the noise."""

Array = NDArray[np.float64]

NEUROIDS = 96
"""Neuroids of each region."""

_ORIENTATIONS = np.arange(0.0, 180.0, 30.0)
_FREQUENCIES = np.array([0.75, 1.5, 3.0])
_GRID = 8
_SEMI_SATURATION = 0.1
_PROTOTYPES_PER_CATEGORY = 4
_IT_RESTING_DRIVE = 1.0
_TUNING_WIDTH = 60.0  # of squared distance to a prototype
_NEUROID_SEED = 1985
_RELIABILITIES = (0.75, 0.95)


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

        `image`: 128 × 128. Result: filters × positions × positions; in [0, filters): energy / (semi-saturation² + mean
        energy over the filters at the position).
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
        random = np.random.RandomState([_NEUROID_SEED, 1])  # frozen stream, see stimuli.py
        filters = self._bank.filters
        preferred = random.uniform(0, 180, NEUROIDS)
        frequency = np.exp(random.uniform(np.log(_FREQUENCIES[0]), np.log(_FREQUENCIES[-1]), NEUROIDS))
        offset = np.deg2rad(2 * (filters.orientation[:, np.newaxis] - preferred))
        octaves = np.log2(filters.frequency[:, np.newaxis] / frequency)
        weights = np.exp(2.0 * (np.cos(offset) - 1)) * np.exp(-0.5 * (octaves / 0.6) ** 2)
        return weights / weights.sum(axis=0)

    @cached_property
    def _v1_spontaneous(self) -> Array:
        return np.random.RandomState([_NEUROID_SEED, 3]).gamma(2.0, 0.7, NEUROIDS)

    @cached_property
    def _it_weights(self) -> Array:
        random = np.random.RandomState([_NEUROID_SEED, 2])
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


class Simulation(NamedTuple):
    """Measurements of one region and what is known about them."""

    responses: Array  # repetitions × stimuli × neuroids
    noise_sd: Array  # standard deviation of the noise of one repetition
    reliability: Array  # True reliability of the average over all repetitions


def reliability_of(expected: Array, noise_sd: Array, repetitions: int = REPETITIONS) -> Array:
    """True reliability of the average over repetitions, for these very stimuli.

    Reliability is the share of variance that is not noise: S² / (S² + σ² / R), with S² the variance of the expected
    responses over the stimuli (divisor n − 1), σ² the noise variance of one repetition, R the number of repetitions.
    A split-half correlation corrected after Spearman and Brown estimates the same quantity.

    `expected`: stimuli × neuroids. `noise_sd`: standard deviation of the noise of one repetition.

    Examples
    --------
    >>> import numpy as np
    >>> reliability_of(np.array([[-1.0], [0.0], [1.0]]), np.array([2.0]), repetitions=4)
    array([0.5])
    """
    signal = expected.var(axis=0, ddof=1)
    return signal / (signal + noise_sd**2 / repetitions)


def noise_sd_for(expected: Array, reliability: Array, repetitions: int = REPETITIONS) -> Array:
    """Noise of one repetition that gives the average over repetitions this reliability."""
    signal = expected.var(axis=0, ddof=1)
    return np.sqrt(repetitions * signal * (1 - reliability) / reliability)


def simulate(expected: Array, *, stream: int, repetitions: int = REPETITIONS) -> Simulation:
    """Measure: add independent Gaussian noise to the expected responses, once a repetition.

    `expected`: stimuli × neuroids. `stream`: which stream of random numbers; another for each region. `repetitions`:
    how often each stimulus is shown. Result: reliabilities are spread evenly from 0.75 to 0.95 over the neuroids, in
    random order.
    """
    random = np.random.RandomState([SEED, stream])  # a stream that is frozen for ever
    neuroids = expected.shape[1]
    noise_sd = noise_sd_for(expected, random.permutation(np.linspace(*_RELIABILITIES, neuroids)), repetitions)
    noise = random.standard_normal((repetitions, *expected.shape))
    return Simulation(
        responses=expected + noise_sd * noise,
        noise_sd=noise_sd,
        reliability=reliability_of(expected, noise_sd, repetitions),
    )


def measured_assembly(identifier: str, stimuli: StimulusSet, simulations: Mapping[str, Simulation]) -> NeuroidAssembly:
    """Measurements of all regions, single repetitions.

    Result: presentation × neuroid. ``presentation`` has the columns of the stimuli and ``repetition``; ``neuroid`` has
    ``neuroid_id``, ``region``, ``noise_sd`` (noise of one repetition) and ``reliability`` (true reliability of the
    average over repetitions).
    """
    responses = np.concatenate([simulation.responses for simulation in simulations.values()], axis=2)
    repetitions, shown, neuroids = responses.shape
    coords: dict[str, Any] = {
        str(column): ("presentation", np.tile(stimuli[column].to_numpy(), repetitions)) for column in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    labels = [(region, number) for region, simulation in simulations.items()
              for number in range(len(simulation.noise_sd))]  # fmt: skip
    coords["neuroid_id"] = ("neuroid", [f"{region}.{number}" for region, number in labels])
    coords["region"] = ("neuroid", [region for region, _ in labels])
    for name in ("noise_sd", "reliability"):
        values = [getattr(simulation, name) for simulation in simulations.values()]
        coords[name] = ("neuroid", np.concatenate(values))
    measured = NeuroidAssembly(
        responses.reshape(repetitions * shown, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.name = identifier
    measured.attrs |= {"identifier": identifier, "stimulus_set_identifier": identifier, "stimulus_set": stimuli}
    return measured
