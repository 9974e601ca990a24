"""Intervals of metrics of behaviour where images and subjects are drawn anew, also images in groups."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.populations import FEWEST_GROUPS
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords

__all__ = ["CASES"]

CATEGORIES = np.array(["bear", "cat", "dog", "elephant"])
OBJECTS = 8


def _chance(odds):
    return 1 / (1 + np.exp(-odds))


def _assembly(values, **columns):
    return BehavioralAssembly(values, coords=coords("presentation", **columns), dims=["presentation"])


@cache
def _few_people(number):
    return 0.7 * np.random.default_rng(1).standard_normal((number, 1))


def _images(rng, images, groups, named="object_name"):
    """How easy images are for people and for the model; images of a group resemble each other."""
    ease = rng.standard_normal((2, images))
    of_group = np.arange(images) % groups if groups else None
    if groups:
        ease = np.sqrt(0.5) * rng.standard_normal((2, groups))[:, of_group] + np.sqrt(0.5) * ease
    shared, own = ease
    columns = {"stimulus_id": np.arange(images), "truth": np.resize(CATEGORIES, images)}
    if groups:
        columns[named] = np.array([f"o{i:03}" for i in of_group])
    return 0.6 + 1.2 * shared, 0.8 + 0.9 * shared + 0.8 * own, columns


def _error_consistency(regime, subjects, sizes, *, groups=None, seen=1.0):
    metric = load_metric("error_consistency")

    def draw(rng, n) -> Score:
        ease, of_model, columns = _images(rng, n, groups)
        ability = _few_people(subjects) if subjects < FEWEST_GROUPS else 0.7 * rng.standard_normal((subjects, 1))
        right = rng.random((subjects, n)) < _chance(ease + ability)
        shown = rng.random((subjects, n)) < seen
        wrong = np.where(columns["truth"] == "cat", "dog", "cat")
        trials = {name: np.tile(column, subjects)[shown.ravel()] for name, column in columns.items()}
        trials["subject"] = np.repeat(np.arange(subjects), n)[shown.ravel()]
        chosen = np.where(right, columns["truth"], wrong)[shown]
        model = _assembly(np.where(of_model > 0, columns["truth"], wrong), stimulus_id=columns["stimulus_id"])
        return metric(model, _assembly(chosen, **trials))

    return Case([f"error_consistency: {regime}"], "images", "mean of the scores", draw, average, sizes, 1000)


def _accuracy(regime, groups, sizes, named="object_name"):
    metric = load_metric("accuracy")

    def draw(rng, n) -> Score:
        _, of_model, columns = _images(rng, n, groups, named)
        wrong = np.where(columns["truth"] == columns["truth"][0], columns["truth"][1], columns["truth"][0])
        model = _assembly(np.where(of_model > 0, columns["truth"], wrong), stimulus_id=columns["stimulus_id"])
        where = {name: column for name, column in columns.items() if name != "truth"}
        return metric(model, _assembly(columns["truth"], **where))

    return Case([f"accuracy: {regime}"], "images", "mean of the scores", draw, average, sizes, 1000)


@cache
def _difficulty():
    rng = np.random.default_rng(3)
    shared, own = rng.standard_normal((2, OBJECTS, OBJECTS))
    return 0.5 * shared, 0.35 * shared + 0.35 * own


def _consistency(name, subjects, sizes, *, trials=60, differ=0.6):
    """Each trial has a subject with an ability, and a tendency to confuse some objects, of their own."""
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        names = np.array([f"object{i:03}" for i in range(OBJECTS)])
        truth = np.arange(n) % OBJECTS
        of_people, of_model = _difficulty()
        shared, own = rng.standard_normal((2, n, 1))
        skill = 1.2 + 0.5 * shared + of_people[truth]
        logits = 1.2 + 0.4 * shared + 0.4 * own + of_model[truth]
        ability = differ * rng.standard_normal((subjects, 1, 1))
        confusion = differ * rng.standard_normal((subjects, OBJECTS, OBJECTS))
        image = np.repeat(np.arange(n), trials)
        subject = rng.integers(0, subjects, len(image))
        other = (truth[image] + rng.integers(1, OBJECTS, len(image))) % OBJECTS
        odds = skill[image, other] + (ability + confusion)[subject, truth[image], other]
        right = rng.random(len(image)) < _chance(odds)
        ids = np.array([f"image{i:05}" for i in range(n)])
        people = _assembly(
            np.where(right, names[truth[image]], names[other]),
            stimulus_id=ids[image],
            sample_obj=names[truth[image]],
            dist_obj=names[other],
            subject=subject,
        )
        odds = np.exp(-logits)
        odds[np.arange(n), truth] = 1
        model = BehavioralAssembly(
            odds / odds.sum(axis=1, keepdims=True),
            coords=coords("presentation", stimulus_id=ids) | coords("choice", choice=names),
            dims=["presentation", "choice"],
        )
        return metric(model, people)

    return Case([f"{name}: {subjects} subjects"], "images", "mean of the scores", draw, average, sizes, 400)


CASES = [
    _error_consistency("10 subjects", 10, (60, 160)),
    _error_consistency("4 subjects, kept", 4, (160,)),
    _error_consistency("2 subjects, kept", 2, (160,)),
    _error_consistency("10 subjects, half of the images each", 10, (160,), seen=0.5),
    _error_consistency("10 subjects, 8 groups of images", 10, (160,), groups=8),
    _error_consistency("10 subjects, 20 groups of images", 10, (160,), groups=20),
    _accuracy("images", None, (100,)),
    _accuracy("8 groups of images", 8, (160,)),
    _accuracy("20 groups of images", 20, (100,)),
    _accuracy("20 classes, undeclared", 20, (100, 400), "category"),
    _accuracy("20 right answers, undeclared", 20, (100, 400), "truth"),
    *(_consistency(name, 10, (96,)) for name in ("i1n", "i2n")),
    *(_consistency(name, 80, (96,)) for name in ("i2", "i2n")),
]
