"""Whether scores of halves of an experiment, which share neither stimuli nor neuroids, differ as their errors say."""

import math
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_dataset, load_metric, load_model
from brainscore_vision.benchmark_helpers.measurements import average_repetition
from brainscore_vision.testing import small_models

from .case import coords
from .regression import LATENT, MODEL

__all__ = ["METRICS", "Experiment", "compare_halves", "drawn", "measure", "simulated2026"]

METRICS = ("pls", "ridge", "ridgecv", "neuron_to_neuron", "rdm", "cka", "internal_consistency")
HALVINGS = dict.fromkeys(METRICS, 100) | {"ridge": 200, "rdm": 200}
EXPERIMENTS, HALVINGS_OF_EACH = 25, 30
STIMULI, NEUROIDS, REPETITIONS = 400, 96, 4
"""Of an experiment that is drawn."""


class Experiment(NamedTuple):
    """A model's features and recordings, both of the same stimuli; recordings also before averaging."""

    features: NeuroidAssembly
    repeated: NeuroidAssembly
    averaged: NeuroidAssembly


def measure(name: str, halvings: int | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What :func:`compare_halves` finds for each recording, and as ``drawn`` for experiments that are drawn anew.

    The latter are independent: ``z_error`` is the standard error of their ``z``, and ``scatter`` the standard deviation
    over experiments of the ``z`` of each.
    """
    for label, experiment in simulated2026().items():
        if name != "internal_consistency" or label.endswith("gabor"):  # which takes no features
            yield label, compare_halves(name, experiment, halvings or HALVINGS[name])
    each = [compare_halves(name, drawn(seed), halvings or HALVINGS_OF_EACH) for seed in range(EXPERIMENTS)]
    z = np.array([one["z"] for one in each])
    found = {key: round(float(np.mean([one[key] for one in each])), 4) for key in ("value", "error")}
    found |= {key: _root_mean_square([one[key] for one in each]) for key in ("z", "published")}
    found["z_error"] = round(float((z**2).std(ddof=1) / math.sqrt(len(z)) / (2 * found["z"])), 4)
    found["scatter"] = round(float(z.std(ddof=1)), 4)
    yield "drawn", found | {"halvings": sum(one["halvings"] for one in each)}


def drawn(seed: int) -> Experiment:
    """New stimuli, and new neuroids with weights and noise of their own."""
    rng = np.random.default_rng([7, seed])
    latent = rng.standard_normal((STIMULI, LATENT)) / np.sqrt(np.arange(1, LATENT + 1))
    features = latent @ MODEL
    features = np.tanh(features) + 0.5 * np.cos(features)
    signal = np.tanh(latent @ rng.standard_normal((LATENT, NEUROIDS)))
    noise = rng.uniform(0.5, 3, NEUROIDS) * rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS))
    ids = [f"s{i:03}" for i in range(STIMULI)]
    columns = {"stimulus_id": ids * REPETITIONS, "repetition": np.repeat(np.arange(REPETITIONS), STIMULI)}
    repeated = _assembly((signal + noise).reshape(-1, NEUROIDS), **columns)
    return Experiment(_assembly(features, stimulus_id=ids), repeated, average_repetition(repeated))


def _assembly(values: Any, **columns: Any) -> NeuroidAssembly:
    where = coords("presentation", **columns) | coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


@cache
def simulated2026() -> dict[str, Experiment]:
    """The recordings of both regions of Simulated2026, each with the features of two models."""
    measured = load_dataset("Simulated2026")
    models = {"gabor": load_model("gabor"), "small-edges": small_models()[1]}
    found = {}
    for region in ("V1", "IT"):
        repeated = measured.sel(region=region)
        averaged = average_repetition(repeated)
        for name, model in models.items():
            model.start_recording(region, [(70, 170)])
            features = model.look_at(measured.stimulus_set)
            found[f"{region}, {name}"] = Experiment(features, repeated, averaged)
    return found


def compare_halves(name: str, experiment: Experiment, halvings: int) -> dict[str, Any]:
    """Standard deviation of z = (a − b) / √(error_a² + error_b²) over random halvings.

    `name`: identifier of a metric or ceiling. `experiment`: what is halved. Stimuli and neuroids are taken as
    independent, whatever their groups: so they are divided. Result: ``z``, the root of the mean of z², whose mean is 0
    by symmetry; ``published``, the same with the spread over splits in place of the error (None without one); ``value``
    and ``error``, means; ``halvings``.
    """
    metric = load_metric(name, stimulus_groups=None, neuroid_groups=None)
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(halvings):
            for half in _halves(experiment, seed, repeated=name == "internal_consistency"):
                sides = [half.repeated] if name == "internal_consistency" else [half.features, half.averaged]
                score = metric(*sides)
                scores.append([float(score), score.attrs["error"], score.attrs.get("split_error", math.nan)])
    values, errors, spreads = np.array(scores).reshape(halvings, 2, 3).transpose(2, 0, 1)
    difference = values[:, 0] - values[:, 1]
    z, published = (difference / np.sqrt((part**2).sum(axis=1)) for part in (errors, spreads))
    return {
        "z": _root_mean_square(z),
        "published": _root_mean_square(published),
        "value": round(float(values.mean()), 4),
        "error": round(float(errors.mean()), 4),
        "halvings": halvings,
    }


def _root_mean_square(values: Any) -> float | None:
    if any(value is None or math.isnan(value) for value in values):
        return None
    return round(math.sqrt(sum(value**2 for value in values) / len(values)), 4)


def _halves(experiment: Experiment, seed: int, *, repeated: bool) -> Iterator[Experiment]:
    """Two experiments that share neither stimuli nor neuroids; only the recordings that are needed are halved."""
    rng = np.random.default_rng([3, seed])
    stimuli = rng.permutation(experiment.averaged["stimulus_id"].values)
    neuroids = rng.permutation(experiment.averaged.sizes["neuroid"])
    for ids, columns in zip(np.array_split(stimuli, 2), np.array_split(neuroids, 2), strict=True):

        def part(assembly: NeuroidAssembly, ids: Any = ids) -> NeuroidAssembly:
            return assembly.isel(presentation=np.flatnonzero(np.isin(assembly["stimulus_id"].values, ids)))

        columns = np.sort(columns)
        if repeated:
            yield experiment._replace(repeated=part(experiment.repeated.isel(neuroid=columns)))
        else:
            averaged = part(experiment.averaged.isel(neuroid=columns))
            yield experiment._replace(features=part(experiment.features), averaged=averaged)
