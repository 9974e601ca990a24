"""Intervals of metrics of geometry where stimuli and neuroids are drawn anew, also in groups."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords

__all__ = ["CASES", "experiment"]

FEATURES = 8


@cache
def _model():
    return np.random.default_rng(1).standard_normal((FEATURES, 20)) / np.sqrt(FEATURES)


@cache
def _two_animals():
    return np.random.default_rng(2).standard_normal((2, FEATURES))


def experiment(
    rng, stimuli, neuroids, *, groups=None, named="object_name", animals=None, shared=0.0, noise=0.7, unequal=False
):
    """Model and recording; stimuli of a group, and neuroids of an animal, resemble each other.

    `named` is the coordinate of the groups. With `unequal`, responses are averaged over 1 to 8 presentations of a
    stimulus.
    """
    features = rng.standard_normal((stimuli, FEATURES))
    columns = {"stimulus_id": [f"s{i:05}" for i in range(stimuli)]}
    if groups:
        of_group = np.arange(stimuli) % groups
        features = np.sqrt(0.7) * rng.standard_normal((groups, FEATURES))[of_group] + np.sqrt(0.3) * features
        columns[named] = [f"o{i:03}" for i in of_group]
    weights = rng.standard_normal((neuroids, FEATURES))
    of_animal = None
    if animals:
        centres = _two_animals() if animals == 2 else rng.standard_normal((animals, FEATURES))
        of_animal = np.arange(neuroids) % animals
        weights = (centres[of_animal] + weights) / np.sqrt(2)
    if unequal:
        noise = noise * np.sqrt(3 / rng.integers(1, 9, (stimuli, 1)))
    responses = features @ weights.T / np.sqrt(FEATURES) + noise * rng.standard_normal((stimuli, neuroids))
    if shared:  # noise of 3 factors that all neuroids share
        responses += shared * rng.standard_normal((stimuli, 3)) @ rng.standard_normal((3, neuroids))
    where = coords("presentation", **columns)
    target = coords("neuroid", neuroid_id=np.arange(neuroids))
    if of_animal is not None:
        target |= coords("neuroid", subject=[f"m{i:02}" for i in of_animal])
    source = NeuroidAssembly(
        features @ _model(),
        coords=where | coords("neuroid", neuroid_id=np.arange(20)),
        dims=["presentation", "neuroid"],
    )
    return source, NeuroidAssembly(responses, coords=where | target, dims=["presentation", "neuroid"])


def _case(name, regime, neuroids, sizes, **options):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        return metric(*experiment(rng, n, neuroids, **options))

    return Case([f"{name}: {regime}"], "stimuli", "mean of the scores", draw, average, sizes=sizes, simulations=400)


def _cases(name, sizes):
    return [
        _case(name, "50 neuroids", 50, sizes),
        _case(name, "8 neuroids", 8, (100,)),
        _case(name, "168 neuroids", 168, (100,)),
        _case(name, "8 groups of stimuli", 50, (96,), groups=8),
        _case(name, "30 groups of stimuli", 50, (90,), groups=30),
        _case(name, "20 groups of stimuli, undeclared", 50, (100,), groups=20, named="category"),
        _case(name, "2 animals, kept", 50, (100,), animals=2),
        _case(name, "5 animals", 50, (100,), animals=5),
        _case(name, "10 animals", 50, (100,), animals=10),
        _case(name, "shared noise", 50, (100,), shared=0.4),
        _case(name, "unequal repetitions", 50, (100,), unequal=True),
    ]


CASES = [
    *_cases("rdm", (60, 100, 640)),
    # much like it, so that some regimes are left out
    *(
        case
        for case in _cases("cka", (100, 640))
        if not case.names[0].endswith(("168 neuroids", "unequal repetitions"))
    ),
]
