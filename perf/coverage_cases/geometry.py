"""Intervals over stimuli, and where they vary also neuroids, of metrics that compare geometries."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.numerics import compare_rdms, compare_rdms_whitened, crossnobis_rdm, mahalanobis_rdm, rdm
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

from .case import Case, coords, once

__all__ = ["CASES"]

FEATURES, NEUROIDS, REPETITIONS = 8, 6, 4
DRAWN = 30
"""Neuroids that are drawn anew in each experiment."""
TRUTH = "mean of 40 experiments with 500 stimuli, less their bias"
FIXED = "mean of 8 experiments with 2,000 stimuli, less their bias"


def _assembly(values, **columns):
    n = len(values) // (REPETITIONS if "repetition" in columns else 1)
    stimuli = np.resize(np.arange(n), len(values))
    where = coords("presentation", stimulus_id=[f"s{i:05}" for i in stimuli], **columns)
    where |= coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


@cache
def _weights():
    return np.random.default_rng(1).standard_normal((FEATURES, NEUROIDS)) / np.sqrt(FEATURES)


@cache
def _noise():
    """Noise of neuroids that share it, with variances between 1/10 and 10."""
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((NEUROIDS, NEUROIDS)))[0]
    return rotation * np.logspace(-0.5, 0.5, NEUROIDS)


def _stimuli(rng, n):
    features = rng.standard_normal((n, FEATURES))
    return features, features @ _weights() + 0.7 * rng.standard_normal((n, NEUROIDS))


def _stimuli_and_neuroids(rng, n):
    features = rng.standard_normal((n, FEATURES))
    weights = rng.standard_normal((FEATURES, DRAWN)) / np.sqrt(FEATURES)
    return features, features @ weights + 0.7 * rng.standard_normal((n, DRAWN))


def _drawn(name, simulations=300):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        return metric(*map(_assembly, _stimuli_and_neuroids(rng, n)))

    def population():
        whole = load_metric(name.removesuffix("_cv"))
        scores = [whole(*map(_assembly, _stimuli_and_neuroids(np.random.default_rng([9, i]), 500))) for i in range(40)]
        return np.mean([float(score) - score.attrs.get("bias", 0.0) for score in scores])

    return Case([name], "stimuli (and 30 neuroids)", TRUTH, draw, once(population), simulations=simulations)


def _case(name, simulations=400):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        return metric(*map(_assembly, _stimuli(rng, n)))

    def population():
        whole = load_metric(name.removesuffix("_cv"))
        scores = [whole(*map(_assembly, _stimuli(np.random.default_rng([9, i]), 2000))) for i in range(8)]
        return np.mean([float(score) - score.attrs.get("bias", 0.0) for score in scores])

    return Case([name], "stimuli", FIXED, draw, once(population), simulations=simulations)


def _noisy(name):
    metric = load_metric(name)

    def experiment(rng, n):
        features = rng.standard_normal((n, FEATURES))
        return features, features @ _weights() + rng.standard_normal((REPETITIONS, n, NEUROIDS)) @ _noise().T

    def draw(rng, n) -> Score:
        features, folds = experiment(rng, n)
        repetition = np.repeat(np.arange(REPETITIONS), n)
        return metric(_assembly(features), _assembly(folds.reshape(-1, NEUROIDS), repetition=repetition))

    def population():
        true = np.linalg.inv(_noise() @ _noise().T)
        values = []
        for i in range(8):
            features, folds = experiment(np.random.default_rng([9, i]), 2000)
            distances = mahalanobis_rdm(folds.mean(0), true) if "mahalanobis" in name else crossnobis_rdm(folds, true)
            compare = compare_rdms_whitened if "whitened" in name else compare_rdms
            similarity = compare(rdm(features, dissimilarity="sqeuclidean"), distances)
            values.append(similarity.value - similarity.bias)
        return np.mean(values)

    truth = "mean of 8 experiments with 2,000 stimuli and the true noise covariance"
    return Case([name], "stimuli", truth, draw, once(population))


def _dimensionality():
    metric = load_metric("effective_dimensionality")

    def draw(rng, n) -> Score:
        return metric(*map(_assembly, _stimuli(rng, n)))

    def population():
        covariance = _weights().T @ _weights() + 0.49 * np.eye(NEUROIDS)
        return (np.trace(covariance) ** 2 / np.sum(covariance**2)) / FEATURES

    truth = "of the population's covariance"
    return Case(["effective_dimensionality"], "stimuli", truth, draw, once(population), simulations=400)


CASES = [
    *(_drawn(name) for name in ("rdm", "rdm_cosine", "rdm_euclidean", "rdm_whitened")),
    *(_drawn(name) for name in ("cka", "cka_rbf", "cka_biased")),
    _case("procrustes"),
    *(_drawn(name) for name in ("rdm_cv", "cka_cv")),
    *(_noisy(name) for name in ("rdm_mahalanobis", "rdm_crossnobis", "rdm_crossnobis_whitened")),
    _dimensionality(),
]
