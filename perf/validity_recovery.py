"""How long recovery takes, what it says about the simulated controls, and whether its shares hold.

python perf/validity_recovery.py                  both tables, into docs/validity/recovery.md; ten minutes on 2 cores
python perf/validity_recovery.py cost --print     only print the table of times
python perf/validity_recovery.py shares --print   only print estimated beside true shares
"""

import argparse
import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from _tables import table, write_section

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.assessment.recovery import recover
from brainscore_vision.assessment.simulation import GENERATORS
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel

PAGE = Path(__file__).resolve().parent.parent / "docs" / "validity" / "recovery.md"
BENCHMARKS = ("Simulated2026.V1-pls",)
REGISTERED = ("pixels", "gabor", "simulated-truth")
REPETITIONS = 12
STIMULI, NEUROIDS, SHOWN = 40, 10, 4
EXPERIMENTS = 200


def models():
    """Three models of the registry, and three simple ones: six candidates."""
    weights = np.random.default_rng(0).standard_normal((32 * 32, 4096)) / 32
    load = partial(load_grey, size=32)
    made = {
        "coarse pixels": lambda images: np.stack([image.reshape(8, 4, 8, 4).mean(axis=(1, 3)) for image in images]),
        "local contrast": lambda images: np.stack([image.reshape(8, 4, 8, 4).std(axis=(1, 3)) for image in images]),
        "random rectified": lambda images: np.maximum(np.stack([image.ravel() for image in images]) @ weights, 0),
    }
    functions = {name: FeatureModel(name, {"features": function}, load=load) for name, function in made.items()}
    return {name: name for name in REGISTERED} | functions


def processor_seconds():
    """Of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def cost():
    """Times and results on the simulated controls."""
    times, results = [], []
    for name in BENCHMARKS:
        reports = []
        began, cpu = time.perf_counter(), processor_seconds()
        recovery = recover(
            name,
            models(),
            repetitions=REPETITIONS,
            on_progress=lambda state, reports=reports: reports.append((time.perf_counter(), state.step)),
        )
        ended = time.perf_counter()
        moments = [moment for moment, _ in reports]
        experiments = next(moment for moment, step in reports if "experiment" in step)
        whole = [experiments - began, ended - experiments, processor_seconds() - cpu]
        parts = [moments[0] - began, np.median(np.diff([*moments, ended]))]
        times.append([f"`{name}`", *(f"{each:.0f}" for each in whole), *(f"{each:.1f}" for each in parts)])
        powers = {power.generator: power for power in recovery.mixtures}
        for confusion in recovery.confusions:
            power = powers[confusion.generator]
            smallest = f"{power.smallest:g}" if power.smallest is not None else "none"
            wrong = [
                f"{recovery.candidates[true]} → {recovery.candidates[other]}"
                for true, row in enumerate(confusion.counts)
                for other, count in enumerate(row)
                if other != true and count > REPETITIONS / 2
            ]
            pair = f"{power.first}, {power.second}: {smallest}"
            results.append([f"`{name}`", confusion.generator, confusion.overall.text(), "; ".join(wrong) or "–", pair])
        print(recovery.text(), times[-1], flush=True)
    head = [
        "benchmark",
        "seconds for features",
        "for experiments",
        "processor seconds",
        "first report",
        "between reports",
    ]
    found = ["benchmark", "generator", "true candidate scores best", "usually mistaken", "A, B: smallest w"]
    return f"{table(head, times)}\n\n{table(found, results)}"


def assembly(values, **columns):
    """Responses with the coordinates that benchmarks need."""
    coords = {name: ("presentation", column) for name, column in columns.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
    coords["region"] = ("neuroid", ["IT"] * values.shape[1])
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def record(features, reliability, rng):
    """A new experiment: units of one candidate, each stimulus shown several times, with independent noise."""
    units = features[:, rng.permutation(features.shape[1])[:NEUROIDS]]
    noise = units.std(axis=0) * np.sqrt(SHOWN * (1 - reliability) / reliability)
    values = units + noise * rng.standard_normal((SHOWN, *units.shape))
    names = [f"s{number:03}" for number in range(STIMULI)]
    return assembly(
        values.reshape(-1, NEUROIDS), stimulus_id=names * SHOWN, repetition=np.repeat(np.arange(SHOWN), STIMULI)
    )


def shares():
    """Share that one recorded experiment predicts, beside the share of new experiments."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((STIMULI, 6))
    candidates = {
        name: np.column_stack([shared, rng.standard_normal((STIMULI, 4))]) @ rng.standard_normal((10, 30))
        for name in ("first", "second")
    }
    names = [f"s{number:03}" for number in range(STIMULI)]
    sources = {name: assembly(features, stimulus_id=names) for name, features in candidates.items()}
    rows = []
    for metric in ("ridge", "rdm"):
        compare, ceiler = load_metric(metric), load_ceiling("internal_consistency")
        for reliability in (0.1, 0.2, 0.4, 0.8):
            found = 0
            for number in range(EXPERIMENTS):
                true = ("first", "second")[number % 2]
                measured = average_repetition(record(candidates[true], reliability, rng))
                scores = {name: float(compare(source, measured)) for name, source in sources.items()}
                found += max(scores, key=scores.get) == true
            estimates = []
            for _ in range(3):
                repeated = record(candidates["first"], reliability, rng)
                benchmark = NeuralBenchmark(
                    identifier="Simulated.IT",
                    assembly=average_repetition(repeated),
                    similarity_metric=compare,
                    visual_degrees=8,
                    number_of_trials=SHOWN,
                    ceiling_func=partial(ceiler, repeated),
                    repetitions=repeated,
                    version=1,
                )
                recovery = recover(benchmark, candidates, repetitions=20, generators=GENERATORS[1:2], mixtures=[])
                estimates.append(recovery.confusions[0].overall.share)
            each = ", ".join(f"{100 * estimate:.0f}" for estimate in estimates)
            rows.append([f"`{metric}`", f"{reliability}", f"{100 * found / EXPERIMENTS:.0f} %", f"{each} %"])
            print(*rows[-1], flush=True)
    return table(["metric", "reliability", "new experiments", "estimated from three recordings"], rows)


def main():
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"cost": cost, "shares": shares}
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{' or '.join(parts)}; by default both")
    parser.add_argument("--print", action="store_true", help="write nothing")
    options = parser.parse_args()
    for name in options.parts or parts:
        text = parts[name]()
        print(text)
        if not options.print:
            write_section(name, text, PAGE)


if __name__ == "__main__":
    main()
