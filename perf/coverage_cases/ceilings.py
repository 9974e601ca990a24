"""Intervals of ceilings that are estimated from repeated measurements or from several subjects."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.numerics import rdm
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling
from brainscore_vision.metrics.rsa_ceiling.ceiling import ceiling_of_rdms

from .case import Case, average, coords, pooled_median

__all__ = ["CASES"]

STIMULI, REPETITIONS, NEUROIDS = 40, 4, 10


def _repeated(rng, n, bins=1):
    """Repetitions of neuroids with noise of their own."""
    signal = rng.standard_normal((STIMULI, n, bins))
    noise = rng.uniform(0.5, 3, (n, bins)) * rng.standard_normal((REPETITIONS, STIMULI, n, bins))
    where = coords(
        "presentation",
        stimulus_id=np.tile(np.arange(STIMULI), REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), STIMULI),
    ) | coords("neuroid", neuroid_id=np.arange(n))
    dims = ["presentation", "neuroid", "time_bin"]
    values = (signal + noise).reshape(-1, n, bins)
    if bins == 1:
        return NeuroidAssembly(values[..., 0], coords=where, dims=dims[:2])
    return NeuroidAssembly(
        values, coords=where | coords("time_bin", time_bin_start=[70, 120], time_bin_end=[120, 170]), dims=dims
    )


def _neuroids(name, bins=1):
    ceiling = load_ceiling(name)

    def draw(rng, n) -> Score:
        return ceiling(_repeated(rng, n, bins))

    truth = "median over the neuroids of all experiments, as many stimuli"
    return Case([name], "neuroids", truth, draw, pooled_median)


@cache
def _group():
    """What all subjects share."""
    return np.random.default_rng(8).standard_normal((STIMULI, NEUROIDS))


def _inter_subject():
    ceiling = load_ceiling("inter_subject")

    def draw(rng, n) -> Score:
        noise = rng.uniform(0.5, 2.5, (n, 1, 1)) * rng.standard_normal((n, STIMULI, NEUROIDS))
        where = coords(
            "presentation",
            stimulus_id=np.tile([f"s{i:02}" for i in range(STIMULI)], n),
            subject=np.repeat(np.arange(n), STIMULI),
        ) | coords("neuroid", neuroid_id=np.arange(NEUROIDS))
        values = (_group() + noise).reshape(-1, NEUROIDS)
        return ceiling(NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"]))

    return Case(["inter_subject"], "subjects", "mean of the scores", draw, average, simulations=300)


def _rsa_ceiling():
    """RDMs of subjects with different noise, as `ceiling_of_rdms` takes them."""
    shared = rdm(_group())

    def draw(rng, n) -> Score:
        noise = rng.uniform(0.1, 1, (n, 1)) * rng.standard_normal((n, len(shared)))
        return ceiling_of_rdms(shared + noise)

    return Case(["rsa_ceiling"], "subjects", "mean of the scores", draw, average, simulations=300)


CASES = [
    *(_neuroids(name) for name in ("internal_consistency", "predictor_consistency", "ncsnr")),
    _neuroids("internal_consistency_temporal", bins=2),
    _rsa_ceiling(),
    _inter_subject(),
]
