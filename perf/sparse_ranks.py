"""How often equal models are placed above one another on a board with gaps; writes docs/comparison_coverage.md.

Models are scored on overlapping parts of the benchmarks: on 50 to 100 % of the data sets, and on 95 % of the benchmarks
of these. Those that differ by data set have equal means over all benchmarks, but not over those that two of them share.
Run with ``python perf/sparse_ranks.py [--simulations 400] [--write]``.
"""

import argparse
from unittest.mock import patch

import numpy as np
from _tables import DOCUMENT, table, write_section

from brainscore_core.numerics.influence import ScoreInfluence, UnitInfluence, unit_influence
from brainscore_core.numerics.means import rank_means

UNITS = 50
CODES = unit_influence("stimuli", "", range(UNITS), np.zeros(UNITS)).codes
NOISE = 0.05
"""Standard deviation of what a stimulus does to the scores of one model, as large as what it does to those of all."""
BOARDS = ((6, 4, 1), (6, 6, 2), (10, 12, 2), (10, 30, 1))
"""Numbers of models, data sets, and benchmarks of each."""


def board(rng, models, data_sets, each, differ, quality):
    """Names of benchmarks, scores with NaN for gaps, and influences."""
    names = [f"Set{number:02d}.{part}-x" for number in range(data_sets) for part in range(each)]
    own = differ * rng.standard_normal((models, data_sets))
    own -= own.mean(axis=1, keepdims=True)
    true = 0.4 + np.repeat(own, each, axis=1) + quality[:, None]
    present = rng.random((models, data_sets)) < rng.uniform(0.5, 1.0, (models, 1))
    for row in present:
        row[rng.permutation(data_sets)[: max(0, (data_sets + 1) // 2 - row.sum())]] = True
    present = np.repeat(present, each, axis=1) & (rng.random((models, len(names))) < 0.95)
    values, influences = np.full(present.shape, np.nan), [[None] * len(names) for _ in range(models)]
    for at, name in enumerate(names):
        if at % each == 0:
            shared, of_models = rng.standard_normal(UNITS), rng.standard_normal((models, UNITS))
        answers = NOISE * (shared + of_models + 0.5 * rng.standard_normal((models, UNITS)))
        means = answers.mean(axis=1)
        effects = (answers - means[:, None]) / np.sqrt(UNITS * (UNITS - 1))
        for model in np.flatnonzero(present[:, at]):
            values[model, at] = true[model, at] + means[model]
            part = UnitInfluence("stimuli", (name.partition(".")[0],), CODES, effects[model])
            influences[model][at] = ScoreInfluence(values[model, at], (part,))
    return names, values, influences


def without_others(difference, present, shares, values, weight, groups):
    """No variance of what a pair lacks."""
    return np.zeros_like(difference), np.full_like(difference, np.inf)


def simulate(size, differ, simulations):
    """Shares of boards with a false placement, with and without the variance of what pairs lack, and of those found."""
    models, data_sets, each = size
    false, naive, found = 0, 0, []
    for seed in range(simulations):
        for quality in (np.zeros(models), 0.1 * np.arange(models)):
            rng = np.random.default_rng([seed, models, data_sets])
            names, values, influences = board(rng, models, data_sets, each, differ, quality)
            weights = np.full(len(names), 1 / len(names))
            means = np.array([row[row == row].mean() if (row == row).any() else np.nan for row in values])
            best = rank_means(means, influences, weights, names).best - 1
            if quality.any():
                found.append(best.sum() / (models * (models - 1) / 2))
                continue
            false += bool(best.any())
            with patch("brainscore_core.numerics.means._of_other_groups", without_others):
                naive += bool((rank_means(means, influences, weights, names).best > 1).any())
    return false / simulations, naive / simulations, float(np.mean(found))


def main():
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="write docs/comparison_coverage.md")
    options = parser.parse_args()
    rows = []
    for models, data_sets, each in BOARDS:
        for differ in (0.0, 0.02, 0.1):
            shares = simulate((models, data_sets, each), differ, options.simulations)
            size = f"{models} models, {data_sets} data sets of {each}"
            rows.append([size, f"{differ:g}", *(f"{100 * share:.1f}" for share in shares)])
            print(rows[-1], flush=True)
    error = 100 * np.sqrt(0.05 * 0.95 / options.simulations)
    head = ["board", "differ by data set", "false placements", "without what pairs lack", "power"]
    text = f"{options.simulations} boards each; the standard error of 5 % is {error:.1f}.\n\n{table(head, rows)}"
    print(text)
    if options.write:
        write_section("sparse ranks", text, DOCUMENT.with_name("comparison_coverage.md"))


if __name__ == "__main__":
    main()
