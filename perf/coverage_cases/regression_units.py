"""Intervals of regressions where stimuli and neuroids are drawn anew, also in groups."""

from brainscore_core.metrics import Score
from brainscore_vision import load_metric

from .case import Case, average
from .geometry_units import experiment

__all__ = ["CASES"]


def _case(name, regime, neuroids, sizes, **options):
    regression = {"n_components": 5} if name == "pls" else None
    # so many objects cannot all be in a tenth of the stimuli
    splits = {"stratification_coord": None} if options.get("groups") else None
    metric = load_metric(name, regression_kwargs=regression, crossvalidation_kwargs=splits)

    def draw(rng, n) -> Score:
        return metric(*experiment(rng, n, neuroids, **options))

    return Case([f"{name}: {regime}"], "stimuli", "mean of the scores", draw, average, sizes=sizes, simulations=400)


def _cases(name, sizes):
    return [
        _case(name, "50 neuroids", 50, sizes),
        _case(name, "8 neuroids", 8, (100,)),
        _case(name, "168 neuroids", 168, (100,)),
        _case(name, "reliability .1", 50, (100,), noise=3.0),
        _case(name, "reliability .9", 50, (100,), noise=0.33),
        _case(name, "8 groups of stimuli", 50, (96,), groups=8),
        _case(name, "30 groups of stimuli", 50, (90,), groups=30),
        _case(name, "2 animals, kept", 50, (100,), animals=2),
        _case(name, "5 animals", 50, (100,), animals=5),
        _case(name, "10 animals", 50, (100,), animals=10),
        _case(name, "shared noise", 50, (100,), shared=0.4),
        _case(name, "unequal repetitions", 50, (100,), unequal=True),
    ]


CASES = [
    *_cases("ridge", (60, 100, 640)),
    # much like it, so that some regimes are left out
    *(
        case
        for case in _cases("pls", (100, 640))
        if not case.names[0].endswith(("168 neuroids", "unequal repetitions"))
    ),
]
