"""How often two equally good models are called different where each is partial to some categories of stimuli.

    python perf/undeclared_groups.py        400 experiments; two minutes

The categories are a coordinate that nobody declares. Compared are `ridge`, with five folds on 200 stimuli of 20
categories and 40 neuroids, with the stimuli taken as independent (``stimulus_groups=None``) and as found by default,
and `linear_predictivity`.
"""

import math
import sys
import warnings

import numpy as np
from coverage_cases.case import coords

from brainscore_core.statistics.comparison import compare_scores
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

STIMULI, CATEGORIES, LATENTS, NEUROIDS = 200, 20, 20, 40
SPLITS = {"stratification_coord": None, "kfold": True, "splits": 5}


def _recorded(values, category):
    where = coords("presentation", stimulus_id=[f"s{i:04}" for i in range(STIMULI)], category=category)
    where |= coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


def experiment(seed):
    """Recordings, and two models whose noise depends on the category, each in its own way."""
    rng = np.random.default_rng([5, STIMULI, seed])
    of_stimulus = np.arange(STIMULI) % CATEGORIES
    category = np.array([f"c{number}" for number in of_stimulus])
    centres, own = rng.standard_normal((CATEGORIES, LATENTS)), rng.standard_normal((STIMULI, LATENTS))
    latents = np.sqrt(0.3) * centres[of_stimulus] + np.sqrt(0.7) * own
    responses = latents @ rng.standard_normal((LATENTS, NEUROIDS)) / np.sqrt(LATENTS)
    target = _recorded(responses + 0.7 * rng.standard_normal(responses.shape), category)
    models = []
    for _ in range(2):
        spread = 0.4 * np.exp(0.5 * rng.standard_normal(CATEGORIES))[of_stimulus][:, None]
        models.append(_recorded(latents + spread * rng.standard_normal(latents.shape), category))
    return target, models


def main(simulations):
    metrics = {
        "ridge, independent": load_metric("ridge", crossvalidation_kwargs=SPLITS, stimulus_groups=None),
        "ridge": load_metric("ridge", crossvalidation_kwargs=SPLITS),
        "linear_predictivity": load_metric("linear_predictivity", crossvalidation_kwargs=SPLITS),
    }
    tests = {name: [] for name in metrics}
    for seed in range(simulations):
        target, models = experiment(seed)
        for name, metric in metrics.items():
            tests[name].append(compare_scores(*(metric(model, target) for model in models)))
    for name, found in tests.items():
        share = float(np.mean([test.p <= 0.05 for test in found]))
        error = math.sqrt(share * (1 - share) / simulations)
        spread = float(np.std([test.difference / test.error for test in found]))
        print(f"{name:19} false positives {share:.3f} ± {error:.3f}, difference / standard error {spread:.2f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if sys.argv[1:] else 400)
