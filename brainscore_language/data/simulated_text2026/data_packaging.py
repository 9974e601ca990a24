"""Recordings of 24 stories of eight sentences in five subjects."""

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language.simulated_experiment import sentences, simulated_recordings

NOISE = 0.8
"""Standard deviation of the noise; that of the signal is 1."""


def recordings() -> NeuroidAssembly:
    """Responses, presentation × neuroid."""
    return simulated_recordings(
        sentences(192, topics=24, seed=2026),
        {"stimulus_id": np.arange(192), "story": np.repeat(np.arange(24), 8)},
        {"neuroid_id": np.arange(40), "subject": np.repeat(list("abcde"), 8)},
        noise=NOISE,
        seed=2026,
    )


def recordings_in_context() -> NeuroidAssembly:
    """Responses to stories of unlike sentences, which depend most on the sentence before."""
    return simulated_recordings(
        sentences(192, topics=192, seed=2027),
        {"stimulus_id": np.arange(192), "story": np.repeat(np.arange(24), 8)},
        {"neuroid_id": np.arange(40), "subject": np.repeat(list("abcde"), 8)},
        noise=NOISE,
        seed=2027,
        context="story",
    )
