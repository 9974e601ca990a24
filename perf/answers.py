"""Answers to questions from stored products: equal to running the models again, fast, with intervals that hold.

    python perf/answers.py equality   # minutes; simulated V1 and IT, and models that compute features of its stimuli
    python perf/answers.py speed      # 100 models × 640 stimuli × 100 neuroids
    python perf/answers.py coverage   # of intervals of subset scores, N = 200 experiments for each regime
    python perf/answers.py subjects   # the same of subjects' predictions of each other, and of differences between them

Each part replaces its entry in ``perf/answers.json``.
"""

import argparse
import json
import math
import os
import resource
import tempfile
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
from _tables import table, write_section

import brainscore_vision
from brainscore_core.benchmarks.measurements import measurements_of
from brainscore_core.errors import UserError
from brainscore_core.questions.answers import ask
from brainscore_core.questions.asked import apply_question
from brainscore_core.questions.question import Question
from brainscore_core.questions.subjects import difference_between, mean_of_pairs, predictions_of_pairs
from brainscore_core.results.products import Products, collect_products
from brainscore_core.runner.pair import PairRecorder
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, record

RESULT = Path(__file__).with_name("answers.json")

METRICS = (
    "ridge", "ridgecv", "ridgecv_relative", "dual_ridge", "pls", "linear_predictivity", "cka", "cka_biased", "cka_cv",
    "rdm", "rdm_cv", "rdm_cosine", "rdm_euclidean", "rdm_whitened",
)  # fmt: skip
REFUSED = ("neuron_to_neuron", "reverse_pls", "reverse_ridge", "spantime_pls", "rdm_crossnobis", "dimensionality")
SUBSETS = (
    {},
    {"stimuli": 'object_name != "cross"'},
    {"stimuli": "contrast > 0.5 and orientation < 120", "neuroids": "reliability > 0.7"},
)
SPLITS = (None, "groups:object_name", "each:object_name", "test:radius > 2.5")
DIVIDING = {"ridge", "ridgecv_relative", "pls"}


def equality():
    """Largest difference between an answer and the same question with the model's own features."""
    rows, refused = [], {}
    for benchmark in ("Simulated2026.V1-pls", "Simulated2026.IT-pls"):
        measurements = measurements_of(brainscore_vision.load_benchmark(benchmark))
        (recorded,) = record(brainscore_vision.load_model("gabor"), measurements, measurements.parts)
        products = Products.from_bytes(Products.of(recorded).to_bytes())
        row_of = {str(name): row for row, name in enumerate(recorded["stimulus_id"].values)}
        for metric in METRICS:
            for subset in SUBSETS:
                for split in SPLITS if metric in DIVIDING else (None,):
                    if ".IT" in benchmark and (split or metric in ("ridgecv", "linear_predictivity")):
                        continue
                    question = Question(benchmark=benchmark, metric=metric, split=split, ceiling="none", **subset)
                    asked = apply_question(question)
                    chosen = [row_of[str(name)] for name in asked.stimuli[0]]
                    ours = asked.score(asked.sources(products))
                    again = asked.score([recorded.isel(presentation=chosen)])
                    pairs = [(float(ours), float(again))]
                    pairs += list(zip(*(np.ravel(each.attrs.get("ci", ())) for each in (ours, again)), strict=True))
                    difference = float(np.nanmax([abs(a - b) for a, b in pairs]))
                    rows.append({**question.as_dict(), "score": float(again), "difference": difference})
                    print(f"{difference:.1e}", float(again), question.benchmark, question.text(), flush=True)
        for metric in REFUSED:
            try:
                apply_question(Question(benchmark=benchmark, metric=metric))
            except UserError as error:
                refused[metric] = error.message
    largest = max(row["difference"] for row in rows)
    print(f"{len(rows)} combinations, largest difference {largest:.1e}; refused: {refused}")
    return {"combinations": len(rows), "largest": largest, "refused": refused, "rows": rows}


def simulated(rng, stimuli, neuroids, groups, noise, *, name="Asked2026.IT-ridge"):
    """Recordings of twelve latent dimensions, and a benchmark of these."""
    latent = rng.standard_normal((stimuli, 12))
    names = [f"s{number}" for number in range(stimuli)]
    values = latent @ rng.standard_normal((12, neuroids)) + noise * rng.standard_normal((stimuli, neuroids))
    kinds = np.arange(stimuli) % groups
    stimulus_set = StimulusSet({"stimulus_id": names, "kind": kinds})
    stimulus_set.identifier = "Asked2026"
    assembly = NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", names),
            "kind": ("presentation", kinds),
            "neuroid_id": ("neuroid", list(range(neuroids))),
            "region": ("neuroid", ["IT"] * neuroids),
        },
        dims=["presentation", "neuroid"],
        attrs={"stimulus_set": stimulus_set, "identifier": "Asked2026", "stimulus_groups": "none"},
    )
    benchmark = NeuralBenchmark(
        name, assembly, brainscore_vision.load_metric(name.rpartition("-")[2]), visual_degrees=8, number_of_trials=1,
        ceiling_func=lambda: 1.0, version=1, parent="IT",
    )  # fmt: skip
    benchmark_registry.pop(name, None)
    benchmark_registry[name] = lambda: benchmark
    return latent, names, benchmark


def features_of(rng, latent, names, count):
    """Features of a model that has some of the latent dimensions and others of its own."""
    known = latent @ (rng.standard_normal((latent.shape[1], count)) * (rng.random((latent.shape[1], 1)) < 0.7))
    values = np.maximum(known + rng.standard_normal((len(names), count)), 0) + 1
    return NeuroidAssembly(
        values.astype(np.float32),
        coords={"stimulus_id": ("presentation", names), "neuroid_id": ("neuroid", list(range(count)))},
        dims=["presentation", "neuroid"],
    )


def _of_the_processors():
    """Seconds of all processors, with those of processes that have ended."""
    return sum(os.times()[:4])


def speed():
    """Seconds of a question about 100 models, 640 stimuli and 100 neuroids, and the highest memory."""
    rng = np.random.default_rng(0)
    latent, names, benchmark = simulated(rng, 640, 100, 8, 5.0)
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(100):
            with PairRecorder(f"model-{number:03}", benchmark.identifier, results=folder) as recorder:
                collect_products([features_of(rng, latent, names, 1000)], "IT")
                recorder.set_score(0.5)  # not asked for
            recorder.outcome()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for metric in ("cka", "rdm", "ridge"):
            for stimuli in (None, "kind < 4"):
                start, busy = time.perf_counter(), _of_the_processors()
                answers = ask(benchmark.identifier, stimuli=stimuli, metric=metric, results=folder)
                seconds = {"ask": time.perf_counter() - start, "ask, of the processors": _of_the_processors() - busy}
                start = time.perf_counter()
                ranking = answers.ranks()
                seconds |= {"ranks": time.perf_counter() - start, "models": len(ranking.models)}
                result[f"{metric}, {stimuli or 'all stimuli'}"] = seconds
                print(metric, stimuli, {key: round(value, 2) for key, value in seconds.items()}, flush=True)
        result["megabytes"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        result["megabytes of a process"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        result["stored"] = sum(path.stat().st_size for path in (Path(folder) / ".products").iterdir())
    print(result)
    return result


REGIMES = (
    # metric, stimuli, selected share, neuroids, noise
    ("ridge", 200, 0.5, 40, 3.0),
    ("ridge", 200, 0.25, 40, 3.0),
    ("ridge", 400, 0.5, 20, 6.0),
    ("pls", 200, 0.5, 40, 3.0),
    ("cka", 200, 0.5, 40, 3.0),
    ("rdm", 200, 0.5, 40, 3.0),
    ("rdm", 120, 0.5, 20, 6.0),
)
EXPERIMENTS = 200


def coverage():
    """How often the interval of a subset's score holds the expected score over new stimuli and neuroids."""
    result = {}
    for metric, stimuli, share, neuroids, noise in REGIMES:
        values, limits = [], []
        name = f"Asked2026.IT-{metric}"
        # the model and the population of neuroids stay the same; stimuli, neuroids and noise are drawn anew
        weights = np.random.default_rng(7).standard_normal((12, 300)) * (np.random.default_rng(8).random((12, 1)) < 0.7)
        for seed in range(EXPERIMENTS):
            rng = np.random.default_rng([seed, stimuli, neuroids])
            latent, names, _ = simulated(rng, stimuli, neuroids, round(1 / share), noise, name=name)
            values_of_model = np.maximum(latent @ weights, 0) + 1
            features = NeuroidAssembly(
                values_of_model,
                coords={"stimulus_id": ("presentation", names), "neuroid_id": ("neuroid", list(range(300)))},
                dims=["presentation", "neuroid"],
            )
            asked = apply_question(Question(benchmark=name, stimuli="kind == 0", ceiling="none"))
            score = asked.score(asked.sources(Products.of(features)))
            values.append(score.attrs.get("unclamped", float(score)))
            limits.append(score.attrs.get("unclamped_ci", score.attrs["ci"]))
        truth = float(np.mean(values))  # the expected score of such experiments
        low, high = np.asarray(limits, dtype=float).T
        covered = float(np.mean((low <= truth) & (truth <= high)))
        key = f"{metric}, {round(stimuli * share)} of {stimuli} stimuli, {neuroids} neuroids, noise {noise:g}"
        result[key] = {
            "n": EXPERIMENTS,
            "expected": truth,
            "coverage": covered,
            "standard_error": float(np.sqrt(covered * (1 - covered) / EXPERIMENTS)),
        }
        print(key, result[key], flush=True)
    return result


SUBJECTS = {
    "3 subjects": {"count": 3},
    "5 subjects": {"count": 5},
    "9 subjects": {"count": 9},
    "3 subjects, noise common to their neuroids": {"count": 3, "common": 0.7},
    "5 subjects, noise common to their neuroids": {"count": 5, "common": 0.7},
    "9 subjects, noise common to their neuroids": {"count": 9, "common": 0.7},
}
STIMULI_OF_SUBJECTS, NEUROIDS_OF_SUBJECTS, NOISE_OF_SUBJECTS = 100, 12, 1.5


def recorded(rng, latent, gains, common):
    """Recordings of some subjects; each has its own gain of each latent dimension."""
    size = NEUROIDS_OF_SUBJECTS
    values = [latent @ (gain[:, None] * rng.standard_normal((latent.shape[1], size))) for gain in gains]
    noise = rng.standard_normal((len(gains), len(latent), size)) * math.sqrt(1 - common)
    noise += rng.standard_normal((len(gains), len(latent), 1)) * math.sqrt(common)
    names = np.repeat([f"subject {number}" for number in range(len(gains))], size)
    return NeuroidAssembly(
        np.concatenate(values, axis=1) / math.sqrt(latent.shape[1]) + NOISE_OF_SUBJECTS * np.concatenate(noise, axis=1),
        coords={
            "stimulus_id": ("presentation", [f"s{number}" for number in range(len(latent))]),
            "neuroid_id": ("neuroid", np.arange(len(names))),
            "subject": ("neuroid", names),
        },
        dims=["presentation", "neuroid"],
        attrs={"stimulus_groups": "none"},
    )


def subjects():
    """How often intervals hold what is expected over new subjects, or for two of them over new stimuli and neuroids."""
    metric = brainscore_vision.load_metric("ridge")
    weights = np.random.default_rng(7).standard_normal((12, 100))
    result = {}
    for name, regime in SUBJECTS.items():
        typical, differences = [], []
        count, common = regime["count"], regime.get("common", 0.0)
        fixed = np.random.default_rng(5).standard_normal((STIMULI_OF_SUBJECTS, 12))
        two = np.exp(0.5 * np.random.default_rng(6).standard_normal((2, 12)))
        for seed in range(EXPERIMENTS):
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            # the same stimuli, and new subjects
            target = recorded(rng, fixed, np.exp(0.5 * rng.standard_normal((count, 12))), common)
            mean = mean_of_pairs(predictions_of_pairs(target, metric, sorted(set(target["subject"].values))))
            typical.append((float(mean), *mean.attrs["ci"]))
            if count == 3:  # the same two subjects, and new stimuli and neuroids
                latent = rng.standard_normal((STIMULI_OF_SUBJECTS, 12))
                target = recorded(rng, latent, two, common)
                values = np.maximum(latent @ weights, 0)
                source = NeuroidAssembly(
                    values,
                    coords={
                        "stimulus_id": ("presentation", target["stimulus_id"].values),
                        "neuroid_id": ("neuroid", np.arange(100)),
                    },
                    dims=["presentation", "neuroid"],
                )
                scores = {
                    each: metric(source, target.isel(neuroid=np.flatnonzero(target["subject"].values == each)))
                    for each in ("subject 0", "subject 1")
                }
                between = difference_between("model", "subject 0", "subject 1", scores)
                differences.append((between.difference, between.low, between.high))
        for what, kept in (("prediction of a subject by another", typical), ("difference between two", differences)):
            if kept:
                value, low, high = np.array(kept).T
                covered = float(np.mean((low <= value.mean()) & (value.mean() <= high)))
                result[f"{what}, {name}" if what[0] == "p" else f"{what} of {name}"] = {
                    "n": len(kept),
                    "expected": float(value.mean()),
                    "coverage": covered,
                    "standard_error": float(np.sqrt(covered * (1 - covered) / len(kept))),
                }
                print(list(result)[-1], list(result.values())[-1], flush=True)
    rows = [
        [key, f"{each['expected']:.3f}", f"{100 * each['coverage']:.1f} ± {100 * each['standard_error']:.1f}"]
        for key, each in result.items()
    ]
    head = ["interval", "expected", f"coverage, % of {EXPERIMENTS}"]
    write_section("subjects", table(head, rows), RESULT.parent.parent / "docs" / "questions.md")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["equality", "speed", "coverage", "subjects"])
    part = parser.parse_args().part
    warnings.simplefilter("ignore")
    results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    results[part] = {"equality": equality, "speed": speed, "coverage": coverage, "subjects": subjects}[part]()
    RESULT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
