"""How often equal models are ranked apart if benchmarks with the same stimuli have different names.

The boards are those of ``comparison_cases`` and ``sparse_ranks``, with another name for each benchmark. Either only
the names identify the stimuli, as in receipts without the stimulus set, or the receipts of all name it.
Run with ``python perf/shared_stimuli.py [--simulations 400] [--only accuracy]``. Results are kept in
perf/comparison_coverage.json and written into docs/comparison_coverage.md.
"""

import argparse
import json
import math
import warnings
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from _tables import DOCUMENT, keep, table, write_section
from comparison_cases import RANKS, REGIMES
from sparse_ranks import board

from brainscore_core.numerics.means import rank_means
from brainscore_core.receipts.receipt import DataItem
from brainscore_core.statistics.comparison import side_of
from brainscore_core.statistics.units import influence_of

STORE = Path(__file__).with_name("comparison_coverage.json")
STIMULI = DataItem(kind="stimulus_set", identifier="pictures")
BOARDS = ((6, 6, 2), (10, 12, 2))
"""Numbers of models, of stimulus sets, and of data sets with each."""


def full_board(case, regime, seed):
    """Scores of equal models on data sets with the same stimuli; influences by names, and by stimuli."""
    rng = np.random.default_rng([zlib.crc32(f"{case.name}, {regime}".encode()), seed])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = case.draw(rng, regime, True)
    names = [f"Study{number}2026-metric" for number in range(len(case.benchmarks))]
    sides = [
        [side_of(score, f"model{row}", name) for score, name in zip(of_model, names, strict=True)]
        for row, of_model in enumerate(scores)
    ]
    alone = [[by_name(influence_of(side), name) for side, name in zip(row, names, strict=True)] for row in sides]
    stated = [
        [influence_of(replace(side, receipt=replace(side.receipt, data=(STIMULI,)))) for side in row] for row in sides
    ]
    return names, np.array([[float(score) for score in row] for row in scores]), alone, stated


def by_name(score, name):
    """The influence of units of which only the name of the benchmark is known, and taken for all that there is."""
    return replace(score, parts=tuple(replace(part, data=(name,)) for part in score.parts))


def board_with_gaps(size, differ, seed):
    """The same for models that were scored on overlapping parts of the data sets."""
    rng = np.random.default_rng([seed, *size])
    names, values, influences = board(rng, *size, differ, np.zeros(size[0]))
    single = [name.replace(".", "").replace("-x", "2026-x") for name in names]

    def named(known):
        return [
            [None if score is None else replace(score, parts=tuple(
                replace(part, data=(single[at], *part.data) if known else (single[at],)) for part in score.parts
            )) for at, score in enumerate(row)]
            for row in influences
        ]  # fmt: skip

    return single, values, named(False), named(True)


def placed_apart(names, values, influences):
    """Whether any model is ranked above another."""
    means = np.nan_to_num(np.nanmean(values, axis=1))
    return bool((rank_means(means, influences, np.full(len(names), 1 / len(names)), names).best > 1).any())


def main():
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--only", default="", help="boards with this text in their name")
    parser.add_argument("--tables", action="store_true", help="only write the table of what is kept")
    options = parser.parse_args()
    boards = [
        (case.name, regime, lambda seed, case=case, regime=regime: full_board(case, regime, seed))
        for case in RANKS
        if len(case.benchmarks) > 1
        for regime in REGIMES
    ]
    boards += [
        (
            f"{size[0]} models with gaps, {size[1]} stimulus sets in {size[1] * size[2]} data sets",
            f"differ by stimuli: {differ:g}",
            lambda seed, size=size, differ=differ: board_with_gaps(size, differ, seed),
        )
        for size in BOARDS
        for differ in (0.0, 0.02, 0.1)
    ]
    for name, regime, draw in boards:
        if options.tables or options.only not in name:
            continue
        counts = np.zeros(2, dtype=int)
        for seed in range(options.simulations):
            names, values, *identified = draw(seed)
            counts += [placed_apart(names, values, influences) for influences in identified]
        found = dict(zip(("by name", "by stimuli"), counts.tolist(), strict=True)) | {
            "simulations": options.simulations
        }
        print(name, regime, found, flush=True)
        keep(STORE, ("shared stimuli", name, regime), found)
    rows = []
    for name, regimes in json.loads(STORE.read_text())["shared stimuli"].items():
        for regime, found in regimes.items():
            n = found["simulations"]
            rates = [found[key] / n for key in ("by name", "by stimuli")]
            cells = [f"{100 * rate:.1f} ± {100 * math.sqrt(rate * (1 - rate) / n):.1f}" for rate in rates]
            rows.append([name, regime, *cells, str(n)])
    text = table(["ranked by", "regime", "by name alone", "by stimulus set", "boards"], rows)
    write_section("shared stimuli", f"± is a standard error.\n\n{text}", DOCUMENT.with_name("comparison_coverage.md"))


if __name__ == "__main__":
    main()
