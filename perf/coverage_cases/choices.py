"""Intervals over images or objects of the consistency of choices between two objects."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords, once

__all__ = ["CASES"]

OBJECTS, TRIALS = 8, 100


@cache
def _difficulty(objects):
    """How hard two objects are to tell apart, for people and for the model."""
    rng = np.random.default_rng(3)
    shared, own = rng.standard_normal((2, objects, objects))
    return 0.5 * shared, 0.35 * shared + 0.35 * own


def _experiment(rng, *, images, objects, trials):
    """People's choices, and the model's probabilities for the same images."""
    names = np.array([f"object{i:03}" for i in range(objects)])
    truth = np.arange(images) % objects
    of_people, of_model = _difficulty(objects)
    shared, own = rng.standard_normal((2, images, 1))
    skill = 1.2 + 0.5 * shared + of_people[truth]
    logits = 1.2 + 0.4 * shared + 0.4 * own + of_model[truth]
    image = np.repeat(np.arange(images), trials)
    other = (truth[image] + rng.integers(1, objects, len(image))) % objects
    right = rng.random(len(image)) < 1 / (1 + np.exp(-skill[image, other]))
    ids = np.array([f"image{i:05}" for i in range(images)])
    people = BehavioralAssembly(
        np.where(right, names[truth[image]], names[other]),
        coords=coords("presentation", stimulus_id=ids[image], sample_obj=names[truth[image]], dist_obj=names[other]),
        dims=["presentation"],
    )
    odds = np.exp(-logits)  # of a distractor against the own object
    odds[np.arange(images), truth] = 1
    model = BehavioralAssembly(
        odds / odds.sum(axis=1, keepdims=True),
        coords=coords("presentation", stimulus_id=ids) | coords("choice", choice=names),
        dims=["presentation", "choice"],
    )
    return model, people


def _images(name, *, ceiling=False):
    metric = load_metric(name)

    def score(rng, n) -> Score:
        model, people = _experiment(rng, images=n, objects=OBJECTS, trials=TRIALS)
        return metric.ceiling(people, skipna=True) if ceiling else metric(model, people)

    truth = once(lambda: np.mean([float(score(np.random.default_rng([9, i]), 4000)) for i in range(4)]))
    label = f"{name}.ceiling" if ceiling else name
    return Case(
        [label],
        "images",
        "mean of 4 experiments with 4,000 images",
        score,
        truth,
        sizes=(20, 50, 100, 200),
        simulations=200,
    )


def _objects(name, *, ceiling=False):
    metric = load_metric(name)

    def score(rng, n) -> Score:
        model, people = _experiment_of_objects(rng, n)
        return metric.ceiling(people, skipna=True) if ceiling else metric(model, people)

    label = f"{name}.ceiling" if ceiling else name
    return Case([label], "objects", "mean of the scores", score, average, sizes=(10, 20, 50), simulations=200)


def _experiment_of_objects(rng, n):
    """Objects that are harder or easier, and pairs that are; one image each, 20 trials a pair."""
    shared, own, pair = rng.standard_normal((3, n, n))
    ease, ease_of_model = rng.standard_normal((2, n, 1))
    pair, shared, own = ((side + side.T) / 2 for side in (pair, shared, own))
    skill = 1.2 + 0.5 * (ease + ease.T) + 0.3 * pair
    logits = 1.2 + 0.3 * (ease + ease.T) + 0.3 * (ease_of_model + ease_of_model.T) + 0.3 * own + 0.1 * shared
    labels = np.array([f"object{i:03}" for i in range(n)])
    a, b = (part.ravel() for part in np.nonzero(~np.eye(n, dtype=bool)))
    a, b = np.repeat(a, 20), np.repeat(b, 20)
    right = rng.random(len(a)) < 1 / (1 + np.exp(-skill[a, b]))
    people = BehavioralAssembly(
        np.where(right, labels[a], labels[b]),
        coords=coords("presentation", stimulus_id=labels[a], sample_obj=labels[a], dist_obj=labels[b]),
        dims=["presentation"],
    )
    odds = np.where(np.eye(n, dtype=bool), 1.0, np.exp(-logits))
    model = BehavioralAssembly(
        odds / odds.sum(axis=1, keepdims=True),
        coords=coords("presentation", stimulus_id=labels) | coords("choice", choice=labels),
        dims=["presentation", "choice"],
    )
    return model, people


CASES = [
    *(_images(name) for name in ("i1", "i1n", "i2", "i2n")),
    *(_images(name, ceiling=True) for name in ("i1", "i1n", "i2", "i2n")),
    *(_objects(name) for name in ("o1", "o2")),
    *(_objects(name, ceiling=True) for name in ("o1", "o2")),
]
