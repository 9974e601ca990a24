"""What many analyses of one benchmark cost, and how far the scale of features moves penalised scores.

    python perf/validity_multiverse.py [cost] [scale] [--write]     three minutes on two cores

Recordings and features are simulated. ``cost``: one model with two layers of 25,000 features, all default choices.
``scale``: a simulated model whose features are multiplied by powers of ten.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from _tables import table, write_section

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_metric
from brainscore_vision.assessment.features import transformed
from brainscore_vision.assessment.multiverse import multiverse

DOCS = Path(__file__).resolve().parent.parent / "docs"
BENCHMARK = "Simulated2026.IT-pls"
FEATURES = 25_000
FACTORS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
METRICS = ("ridge", "ridgecv", "ridgecv_relative", "pls")


def features(target, number: int, *, seed: int, noise: float = 1.0) -> NeuroidAssembly:
    """Rectified random features of the recordings' first 40 dimensions, with noise."""
    rng = np.random.default_rng(seed)
    centred = target.values - target.values.mean(axis=0)
    left, values, _ = np.linalg.svd(centred / centred.std(), full_matrices=False)
    latent = (left * values)[:, :40]
    made = latent @ rng.standard_normal((40, number)) / np.sqrt(40)
    made = np.maximum(0, made + noise * rng.standard_normal(made.shape)).astype(np.float32)
    return assembly(made, target)


def assembly(values, target) -> NeuroidAssembly:
    """Features of the recorded stimuli."""
    coords = {
        "stimulus_id": ("presentation", target["stimulus_id"].values),
        "neuroid_id": ("neuroid", np.arange(values.shape[1])),
    }
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def cost() -> str:
    """Seconds of all analyses of one pair after extraction."""
    benchmark = load_benchmark(BENCHMARK)
    target = benchmark.measurements().averaged()
    float(benchmark.ceiling)
    model = {rule: features(target, FEATURES, seed=seed) for seed, rule in enumerate(("committed", "last"))}
    start, processor = time.perf_counter(), time.process_time()
    result = multiverse({"simulated": model}, benchmark)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    raw = [analysis for analysis in result.analyses if analysis.normalisation == "raw"]
    number, compared = len(result.analyses), sum(analysis.score is not None for analysis in raw)
    rows = [
        ["stimuli × neuroids", " × ".join(map(str, target.shape))],
        ["features", f"2 layers × {FEATURES:,}"],
        ["analyses", f"{number} ({compared} comparisons by a metric)"],
        ["processor seconds", f"{processor:.0f}; {200 * processor / number:.0f} for 200 analyses"],
        ["seconds", f"{seconds:.0f}; {200 * seconds / number:.0f} for 200 analyses ({_circumstances()})"],
    ]
    return table(["", ""], rows)


def _circumstances() -> str:
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return f"{os.cpu_count()} cores, {threads} threads, {os.getloadavg()[0]:.0f} processes at the same time"


def scale() -> str:
    """Scores of one simulated model whose features are multiplied by a factor."""
    benchmark = load_benchmark(BENCHMARK)
    target = benchmark.measurements().averaged()
    values = np.asarray(features(target, 2000, seed=2, noise=4.0).values, dtype=np.float64)
    values /= np.sqrt((values - values.mean(axis=0)).var(axis=0).sum())
    rows = []
    for name in METRICS:
        metric = load_metric(name)
        scores = [float(metric(assembly(values * factor, target), target)) for factor in FACTORS]
        standardised = float(metric(assembly(transformed(values, scaling="standardised"), target), target))
        rows.append([f"`{name}`", *(f"{score:.3f}" for score in scores), f"{standardised:.3f}"])
    return table(["total standard deviation", *(f"{factor:g}" for factor in FACTORS), "standardised"], rows)


SECTIONS = {"cost": (cost, DOCS / "validity" / "multiverse.md"), "scale": (scale, DOCS / "metrics.md")}


def main() -> None:
    """Measure, print, and write with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*SECTIONS, []], help="default: both")
    parser.add_argument("--write", action="store_true", help="write the tables into the documentation")
    arguments = parser.parse_args()
    for name in arguments.parts or SECTIONS:
        measure, document = SECTIONS[name]
        text = measure()
        print(text, flush=True)
        if arguments.write:
            write_section(f"multiverse {name}", text, document)


if __name__ == "__main__":
    main()
