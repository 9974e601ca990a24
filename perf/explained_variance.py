"""Bias and coverage of what models explain uniquely, and false findings of what none explains, on simulated responses.

Run with ``python perf/explained_variance.py [NAMES] [--simulations 200] [--tables]``. The truth is what maps
fitted to as many stimuli explain of new ones, on average over experiments. Results are kept in
perf/explained_variance.json and written into docs/explain.md.
"""

import argparse
import json
import math
import time
import zlib
from pathlib import Path

import numpy as np
from _tables import keep, table, write_section

from brainscore_core.numerics.explained_variance import explain, unexplained

STORE = Path(__file__).with_suffix(".json")
PAGE = STORE.parent.parent / "docs" / "explain.md"
STIMULI, NEUROIDS, NEW, REPETITIONS = 160, 40, 600, 2
SHARES = (0.3, 0.2, 0.3)
"""Variance of the first model alone, of the second one, and of both."""

REGIMES = {
    "8 + 8 features each": {},
    "400 + 400 features each": {"features": 400},
    "one model twice": {"copy": True},
    "nothing unique to the first": {"shares": (0.0, 0.2, 0.3)},
    "400 + 400 features, nothing unique": {"features": 400, "shares": (0.0, 0.2, 0.3)},
    "features of one model × 1000": {"factor": 1000.0},
    "noise shared by all neuroids": {"shared_noise": True},
    "40 groups of 4 stimuli": {"group": 4},
    "reliability 0.2": {"reliability": 0.2},
}


def responses(rng, signal, reliability, shared_noise):
    """Mean responses over the repetitions, and the variance of the means."""
    noise = rng.standard_normal((REPETITIONS, *signal.shape))
    if shared_noise:
        noise = (noise + rng.standard_normal((REPETITIONS, len(signal), 1))) / math.sqrt(2)
    single = signal + math.sqrt((1 - reliability) / reliability * REPETITIONS) * noise
    return single.mean(axis=0), single.var(axis=0, ddof=1) / REPETITIONS


def grouped(rng, n, columns, group):
    """Random numbers of stimuli that resemble the others of their group."""
    alone = rng.standard_normal((n, columns))
    if group == 1:
        return alone
    shared = rng.standard_normal((math.ceil(n / group), columns)).repeat(group, axis=0)[:n]
    return np.sqrt(0.5) * (alone + shared)


def folds(rng, codes, number=10):
    """Training and test rows; groups are kept together."""
    units = np.array_split(rng.permutation(codes.max() + 1), number)
    return [(np.flatnonzero(~np.isin(codes, unit)), np.flatnonzero(np.isin(codes, unit))) for unit in units]


def experiment(rng, *, features=8, shares=SHARES, copy=False, factor=1.0, shared_noise=False, group=1, reliability=0.5):
    """Features of two models, the signal without noise, mean responses, and the variance of these."""
    n = STIMULI + NEW
    scale = np.arange(1, features + 1) ** -0.5 if features > 100 else np.ones(features)
    own, other, both = (grouped(rng, n, features, group) * scale for _ in range(3))

    def part(inputs, share):
        values = inputs @ rng.standard_normal((inputs.shape[1], NEUROIDS))
        return math.sqrt(share) * values / values.std(axis=0)

    parts = [part(inputs, share) for inputs, share in zip((own, other, both), shares, strict=True)]
    signal = sum(parts) + math.sqrt(1 - sum(shares)) * grouped(rng, n, NEUROIDS, group)
    models = [np.hstack([own, both]), factor * np.hstack([other, both])]
    if copy:
        models[1] = models[0]
    return models, signal, *responses(rng, signal[:STIMULI], reliability, shared_noise)


def truth(models, signal, Y, splits, codes):
    """What maps fitted to the training rows of the first split explain of new stimuli."""
    train = splits[0][0]
    rows = np.concatenate([train, np.arange(STIMULI, len(signal))])
    fitted, new = np.arange(len(train)), np.arange(len(train), len(rows))
    everything = np.concatenate([Y[train], signal[STIMULI:]])
    groups = np.concatenate([codes[train], codes.max() + 1 + np.arange(NEW)])
    # the second split only has to test each row once
    result = explain(
        [features[rows] @ features[rows].T for features in models],
        everything,
        [(fitted, new), (new[:5], fitted)],
        groups=groups,
    )
    total = result.total[new].mean()
    return {members: values[new].mean() / total for members, values in result.parts().items()}


def partition(name, simulations):
    """Estimates of one regime beside the truth."""
    options = REGIMES[name]
    kept = {}
    for seed in range(simulations):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        models, signal, Y, noise = experiment(rng, **options)
        codes = np.arange(STIMULI) // options.get("group", 1)
        splits = folds(rng, codes)
        products = [features[:STIMULI] @ features[:STIMULI].T for features in models]
        result = explain(products, Y, splits, noise=noise, groups=codes)
        expected = truth(models, signal, Y, splits, codes)
        for members, values in result.parts().items():
            estimate, interval = result.share(values)
            true = expected[members]
            kept.setdefault(members, []).append((true, estimate, interval.error, interval.low, interval.high))
    return {
        label: summary(np.array(values))
        for label, values in zip(("first", "second", "shared"), kept.values(), strict=True)
    }


def summary(values):
    """Bias, and coverage of the mean truth over experiments, which intervals are for."""
    truths, estimates, errors, low, high = values.T
    true, difference = truths.mean(), estimates - truths
    return {
        "truth": float(true),
        "bias": float(difference.mean()),
        "error of bias": float(difference.std(ddof=1) / math.sqrt(len(values))),
        "width": float(errors.mean() / max(estimates.std(ddof=1), 1e-12)),
        "coverage": float(np.mean((low - 1e-9 <= true) & (true <= high + 1e-9))),
        "experiments": len(values),
    }


def atlas(simulations, level=0.05, margin=0.1):
    """Neuroids without a signal, with one that a stored model explains, and with one that none explains by 40 %."""
    false, found, missed, experiments_false = 0, 0, 0, []
    for seed in range(simulations):
        rng = np.random.default_rng([11, seed])
        models = [rng.standard_normal((STIMULI, 6)) for _ in range(5)]
        signal = np.zeros((STIMULI, NEUROIDS))
        for neuroid in range(10, NEUROIDS):
            values = models[neuroid % 3] @ rng.standard_normal(6)
            signal[:, neuroid] = values / values.std()
        signal[:, 25:] = math.sqrt(0.6) * signal[:, 25:] + math.sqrt(0.4) * rng.standard_normal(
            (STIMULI, NEUROIDS - 25)
        )
        single = signal + rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS)) * np.where(
            np.arange(NEUROIDS) < 10, 1, 0.5
        )
        splits = folds(rng, np.arange(STIMULI))
        result = unexplained(
            [features @ features.T for features in models],
            single.mean(axis=0),
            splits,
            noise=single.var(axis=0, ddof=1) / REPETITIONS,
        )
        _, named = result.neuroids(margin=margin, level=level)
        false += named[:25].sum()
        found += named[25:].sum()
        missed += (~named[25:]).sum()
        experiments_false.append(named[:25].sum() / max(named.sum(), 1))
    return {
        "false discoveries": float(np.mean(experiments_false)),
        "error": float(np.std(experiments_false, ddof=1) / math.sqrt(simulations)),
        "false": int(false),
        "found": int(found),
        "missed": int(missed),
        "experiments": simulations,
    }


def seconds():
    """Seconds for two models with 640 stimuli and 100 neuroids, and for an atlas of 100 models."""
    rng = np.random.default_rng(0)
    n, q = 640, 100
    splits = folds(rng, np.arange(n))
    Y = rng.standard_normal((n, q))
    products = [features @ features.T for features in rng.standard_normal((4, n, 1000))]
    start = time.perf_counter()
    explain(products[:2], Y, splits)
    two = time.perf_counter() - start
    start = time.perf_counter()
    unexplained(products * 25, Y, splits, noise=np.zeros_like(Y))
    return {"two models": two, "100 models": time.perf_counter() - start}


def main():
    """Simulate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="regimes, atlas, seconds; by default all")
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--tables", action="store_true", help="only write the tables of what is kept")
    options = parser.parse_args()
    tasks = {name: lambda name=name: partition(name, options.simulations) for name in REGIMES}
    tasks |= {"atlas": lambda: atlas(options.simulations), "seconds": seconds}
    for name, task in tasks.items():
        if not options.tables and (not options.names or name in options.names):
            result = task()
            print(name, result, flush=True)
            keep(STORE, (name,), result)
    kept = json.loads(STORE.read_text())
    rows = [
        [
            name,
            label,
            f"{value['truth']:.3f}",
            f"{value['bias']:+.4f} ± {value['error of bias']:.4f}",
            f"{100 * value['coverage']:.1f}",
            str(value["experiments"]),
        ]
        for name in REGIMES
        if name in kept
        for label, value in kept[name].items()
    ]
    write_section("parts", table(["regime", "part", "truth", "bias ± error", "coverage, %", "experiments"], rows), PAGE)
    if "atlas" in kept:
        found = kept["atlas"]
        write_section(
            "atlas",
            f"Of 40 simulated neuroids, 10 have no signal, 15 one that a model explains, and 15 one of which 40 % is "
            f"unexplained. In {found['experiments']} experiments, {100 * found['false discoveries']:.1f} ± "
            f"{100 * found['error']:.1f} % of the marked neuroids are false, and {found['missed']:,} of "
            f"{found['missed'] + found['found']:,} are missed.",
            PAGE,
        )


if __name__ == "__main__":
    main()
