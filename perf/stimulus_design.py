"""Predicted probability of finding the true one of two models, beside that in simulated experiments.

Run with ``python perf/stimulus_design.py [--worlds 100]``. Maps are fitted to a simulated first experiment; stimuli are
chosen from a pool, or drawn at random, and shown in a second experiment with the same neuroids. Results are written
into docs/stimulus_design.md.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from _tables import table, write_section

from brainscore_core.numerics.correlation import pearson
from brainscore_core.numerics.stimulus_design import choose_stimuli, fit_maps, probability_of_truth

PAGE = Path(__file__).parent.parent / "docs" / "stimulus_design.md"
TRAINING, POOL, FEATURES, NOISE = 160, 200, 60, 48.0
CASES = [(10, 4, 40), (40, 2, 40), (80, 1, 80)]
"""Stimuli, repetitions and neuroids; the signal's mean variance is 1, and single presentations have `NOISE` more."""
EXPERIMENTS = 40
"""Simulated second experiments with the stimuli that were chosen in each world."""


def world(rng):
    """Features of two models, half of which are of both, for training and pool."""
    n, weights = TRAINING + POOL, np.arange(1, FEATURES + 1) ** -0.5
    own, other, both = (rng.standard_normal((n, FEATURES)) * weights for _ in range(3))
    return np.hstack([own, 1.5 * both]), np.hstack([other, 1.5 * both])


def best(maps, rows, responses):
    """Number of the model whose predictions correlate most with responses."""
    return int(np.argmax([np.mean(pearson(side.predictions[rows], responses)) for side in maps]))


def measured(seed, worlds, k, repetitions, neuroids, unexplained=0.5):
    """Predicted and simulated shares of experiments that find the truth: chosen stimuli, random ones, and no truth."""
    totals = {kind: np.zeros(3) for kind in ("chosen", "random")}
    for number in range(worlds):
        rng = np.random.default_rng([seed, k, number])
        models = world(rng)
        true = number % 2
        signal = models[true] @ rng.standard_normal((2 * FEATURES, neuroids))
        signal *= math.sqrt((1 - unexplained) / np.mean(np.sum(models[true] ** 2, axis=1)))
        signal += math.sqrt(unexplained) * rng.standard_normal(signal.shape)
        variance = np.full(neuroids, NOISE / repetitions)
        Y = signal[:TRAINING] + np.sqrt(variance) * rng.standard_normal((TRAINING, neuroids))
        maps = [fit_maps(features @ features.T, Y) for features in models]
        for kind, total in totals.items():
            rows = choose_stimuli(maps, k, noise=variance) if kind == "chosen" else rng.choice(POOL, k, replace=False)
            shares, chance = probability_of_truth(
                maps, rows, noise=variance, training_noise=variance, draws=40, seed=number
            )
            found = [
                best(maps, rows, signal[TRAINING + rows] + np.sqrt(variance) * rng.standard_normal((k, neuroids)))
                == true
                for _ in range(EXPERIMENTS)
            ]
            total += np.array([shares[true], np.mean(found), chance]) / worlds
    return totals


def main():
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=100)
    options = parser.parse_args()
    head = ["stimuli", "repetitions", "neuroids", "seed"] + [
        f"{kind}, {what}" for kind in ("chosen", "random") for what in ("predicted", "simulated", "no model true")
    ]
    rows = []
    for case in CASES:
        for seed in range(3):
            totals = measured(seed, options.worlds, *case)
            print(*case, seed, totals, flush=True)
            cells = [f"{100 * value:.0f}" for kind in ("chosen", "random") for value in totals[kind]]
            rows.append([*map(str, case), str(seed), *cells])
            write_section("power", table(head, rows), PAGE)


if __name__ == "__main__":
    main()
