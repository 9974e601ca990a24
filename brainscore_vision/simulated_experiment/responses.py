"""Simulated measurements: expected responses plus noise of known variance, repeated."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

REPETITIONS = 12
_RELIABILITIES = (0.75, 0.95)
SEED = 2026

Array = NDArray[np.float64]


class Simulation(NamedTuple):
    """Measurements of one region and what is known about them.

    Attributes
    ----------
    responses : ndarray, repetitions × stimuli × neuroids
        Measurements.
    noise_sd : ndarray, neuroids
        Standard deviation of the noise of one repetition.
    reliability : ndarray, neuroids
        True reliability of the average over all repetitions.
    """

    responses: Array
    noise_sd: Array
    reliability: Array


def reliability_of(expected: Array, noise_sd: Array, repetitions: int = REPETITIONS) -> Array:
    """True reliability of the average over repetitions, for these very stimuli.

    Reliability is the share of variance that is not noise: S² / (S² + σ² / R), with S² the variance of the expected
    responses over the stimuli (divisor n − 1), σ² the noise variance of one repetition, R the number of repetitions.
    A split-half correlation corrected after Spearman and Brown estimates the same quantity.

    Parameters
    ----------
    expected : ndarray, stimuli × neuroids
        Expected responses.
    noise_sd : ndarray, neuroids
        Standard deviation of the noise of one repetition.
    repetitions : int
        R.

    Returns
    -------
    ndarray, neuroids
        In [0, 1].

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

    Parameters
    ----------
    expected : ndarray, stimuli × neuroids
        Expected responses.
    stream : int
        Which stream of random numbers; another for each region.
    repetitions : int
        How often each stimulus is shown.

    Returns
    -------
    Simulation
        Reliabilities are spread evenly from 0.75 to 0.95 over the neuroids, in random order.
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
