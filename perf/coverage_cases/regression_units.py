"""Intervals of regressions where stimuli and neuroids are drawn anew, also in groups."""

import numpy as np

from brainscore_core.metrics import Score
from brainscore_vision import load_metric

from .case import Case, average
from .geometry_units import experiment
from .regression import assembly

__all__ = ["CASES"]


def _case(name, regime, neuroids, sizes, *, splits=None, **options):
    regression = {"n_components": 5} if name == "pls" else None
    if options.get("groups"):  # so many objects cannot all be in a tenth of the stimuli
        splits = {"stratification_coord": None}
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
        _case(name, "20 groups of stimuli, undeclared", 50, (100,), groups=20, named="category"),
        _case(name, "2 animals, kept", 50, (100,), animals=2),
        _case(name, "5 animals", 50, (100,), animals=5),
        _case(name, "10 animals", 50, (100,), animals=10),
        _case(name, "shared noise", 50, (100,), shared=0.4),
        _case(name, "unequal repetitions", 50, (100,), unequal=True),
    ]


def _kept(name, regime, neuroids, sizes):
    """Splits test so few stimuli that only neuroids vary: the truth is the score of more of them."""
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        source, recorded = experiment(rng, n, 20 * neuroids)
        score, truth = metric(source, recorded.isel(neuroid=slice(neuroids))), float(metric(source, recorded))
        error = Score(float(score) - truth)
        error.attrs["ci"] = tuple(limit - truth for limit in score.attrs["ci"])
        return error

    text = "score of 20 times as many neuroids for the same stimuli"
    return Case([f"{name}: {regime}"], "neuroids", text, draw, lambda scores, n: 0.0, sizes=sizes, simulations=200)


LATENT, FEATURES, NEUROIDS = 10, 30, 50


def _common_noise(name, strength):
    """Noise of each stimulus that all neuroids have in common, such as that of arousal."""
    metric = load_metric(name)
    model = np.random.default_rng(1).standard_normal((LATENT, FEATURES)) / np.sqrt(LATENT)
    model *= np.where(np.arange(LATENT) < LATENT // 2, 1.0, 0.4)[:, None]  # half of them are hardly seen

    def draw(rng, n) -> Score:
        latent = rng.standard_normal((n, LATENT))
        responses = latent @ rng.standard_normal((LATENT, NEUROIDS)) / np.sqrt(LATENT)
        responses += rng.uniform(0.5, 1.5, NEUROIDS) * rng.standard_normal((n, NEUROIDS))
        responses += strength * rng.uniform(0.5, 1.5, NEUROIDS) * rng.standard_normal((n, 1))
        return metric(assembly(latent @ model + 0.3 * rng.standard_normal((n, FEATURES))), assembly(responses))

    regime = f"common noise, {strength:g} × the signal"
    return Case([f"{name}: {regime}"], "stimuli", "mean of the scores", draw, average, sizes=(100,), simulations=400)


CASES = [
    *_cases("ridge", (60, 100, 640)),
    _case("ridge", "5 folds, as advised", 50, (20,), splits={"kfold": True, "splits": 5}),
    _case("ridge", "7 folds, as advised", 50, (30,), splits={"kfold": True, "splits": 7}),
    _kept("ridge", "these stimuli only", 50, (30,)),
    # much like it, so that some regimes are left out
    *(
        case
        for case in _cases("pls", (100, 640))
        if not case.names[0].endswith(("168 neuroids", "unequal repetitions"))
    ),
    *(
        _common_noise(name, strength)
        for name in ("ridge", "pls", "linear_predictivity", "neuron_to_neuron")
        for strength in (1.0, 2.0)
    ),
]
