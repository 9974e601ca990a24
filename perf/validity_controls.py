"""Baseline models of benchmarks on simulated experiments: false claims, what artefact checks find, and seconds.

    python perf/validity_controls.py                        all; a quarter of an hour on one core
    python perf/validity_controls.py claims --simulations 50 --print
    python perf/validity_controls.py artefacts
    python perf/validity_controls.py seconds                leave the machine alone meanwhile

Results are written as tables into docs/validity/controls.md; `--print` only prints them. Claims and artefacts are
seeded: the same versions give the same numbers. Set OMP_NUM_THREADS=1 where several run side by side.
"""

import argparse
import math
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _tables import table, write_section
from scipy.linalg import hadamard

from brainscore_core.formatting import number_text
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_benchmark, load_metric
from brainscore_vision.assessment.controls import score_controls
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures
from brainscore_vision.testing.pictures import write_pictures

PAGE = Path(__file__).parent.parent / "docs" / "validity" / "controls.md"
STIMULI, NEUROIDS, CATEGORIES, SESSION = 100, 30, 10, 20
METRICS = ("ridgecv", "pls", "rdm")
SIMULATIONS = {"claims": 400, "artefacts": 40}
NAMES = [f"s{number}" for number in range(STIMULI)]


def stimuli(folder: str, **columns) -> StimulusSet:
    """Pictures that have nothing to do with the simulated responses."""
    shown = StimulusSet({"stimulus_id": NAMES, **columns})
    shown.stimulus_paths = write_pictures(Path(folder), NAMES, seed=0)
    shown.identifier = "pictures"
    return shown


def assembly(values, **columns) -> NeuroidAssembly:
    coords = {name: ("presentation", column) for name, column in {"stimulus_id": NAMES, **columns}.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
    coords["region"] = ("neuroid", ["IT"] * values.shape[1])
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def benchmark(responses, shown, metric, *, grouped_by=None, **columns) -> NeuralBenchmark:
    recordings = assembly(responses, **columns)
    recordings.attrs["stimulus_set"] = shown
    splits = {"crossvalidation_kwargs": {"group_coord": grouped_by, "stratification_coord": None}}
    ceiling = declare_no_error(Score(1.0), "the ceiling is known")
    ceiling.attrs["meaning"] = "upper bound" if metric == "rdm" else "reliability"
    return NeuralBenchmark(
        identifier=f"Simulated.IT-{metric}",
        assembly=recordings,
        similarity_metric=load_metric(metric, **({} if metric == "rdm" else splits)),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: ceiling,
        version=1,
    )


def claims(simulations: int) -> str:
    """How often a model is said to be above all baseline models.

    Neuroids respond to the labelled categories and to other, crossed ones, which the model knows. With equal weights,
    model and labels are exchangeable, so that every claim is false.
    """
    labels = np.arange(STIMULI) // CATEGORIES
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shown = stimuli(folder, category=[f"c{label}" for label in labels])
        for metric in METRICS:
            for weight in (1.0, 1.5, 2.0):
                rng = np.random.default_rng([int(10 * weight), METRICS.index(metric)])
                above, labels_only, untested = 0, 0, 0
                count = simulations if weight == 1 else math.ceil(simulations / 4)
                for _ in range(count):
                    other = rng.permutation(STIMULI) % CATEGORIES
                    own, theirs = (rng.standard_normal((CATEGORIES, NEUROIDS))[each] for each in (labels, other))
                    responses = own + math.sqrt(weight) * theirs + rng.standard_normal((STIMULI, NEUROIDS))
                    model = PrecomputedFeatures(assembly(hadamard(64)[1:][other].astype(float)), 8)
                    found = score_controls(benchmark(responses, shown, metric), model=model)
                    above += found.above() is True
                    untested += found.above() is None
                    control = next(control for control in found.controls if control.name == "labels")
                    labels_only += control.surpassed is True
                error = 100 * math.sqrt(0.05 * 0.95 / count)
                true = "equal" if weight == 1 else f"{weight:g} times the variance"
                shares = [f"{100 * number / count:.1f}" for number in (labels_only, above)]
                rows.append([f"`{metric}`", true, *shares, str(count), f"{error:.1f}"])
                print(*rows[-1], "untested", untested, flush=True)
    return table(
        [
            "metric",
            "model, compared with labels",
            "above labels, %",
            "above all baseline models, %",
            "experiments",
            "s.e.",
        ],
        rows,
    )


def drift(rng):
    """Responses that change slowly and know nothing of the stimuli."""
    kernel = np.exp(-0.5 * (np.arange(-15, 16) / 3) ** 2)
    kernel /= np.linalg.norm(kernel)
    noise = rng.standard_normal((STIMULI + 30, NEUROIDS))
    return np.stack([np.convolve(column, kernel, "valid") for column in noise.T], axis=1)


def artefacts(simulations: int) -> str:
    """Mean scores of baseline models where the truth is known, and how often their interval is above 0."""
    labels = np.arange(STIMULI) // 5
    session = np.arange(STIMULI) // SESSION
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        shown = stimuli(folder, object_name=[f"o{label}" for label in labels])
        cases = [
            ("no drift, random splits", "time codes", False, None),
            ("drift, random splits", "time codes", True, None),
            ("drift, sessions kept together", "time codes", True, "session"),
            ("near-duplicates, random splits", "shuffled groups", None, None),
            ("near-duplicates, groups kept together", "shuffled groups", None, "object_name"),
        ]
        for case, name, drifts, grouped_by in cases:
            rng = np.random.default_rng(1)
            scores, positive, known = [], 0, 0
            for _ in range(simulations):
                order = rng.permutation(STIMULI)
                noise = rng.standard_normal((STIMULI, NEUROIDS))
                columns, model = {}, None
                if drifts is None:  # responses and features are unrelated, and alike within groups
                    responses = rng.standard_normal((20, NEUROIDS))[labels] + 0.1 * noise
                    features = rng.standard_normal((20, 50))[labels] + 0.1 * rng.standard_normal((STIMULI, 50))
                    model = PrecomputedFeatures(assembly(features), 8)
                else:
                    columns = {"presentation_time": order, "session": session[order]}
                    responses = (drift(rng)[order] if drifts else 0) + 0.5 * noise
                tested = benchmark(
                    responses, shown, "ridgecv", grouped_by=grouped_by, object_name=labels.astype(str), **columns
                )
                found = {control.name: control for control in score_controls(tested, model=model).controls}[name]
                if found.score is not None:
                    scores.append(found.score)
                if found.ci is not None:
                    known += 1
                    positive += found.ci[0] > 0
            rows.append(
                [
                    name,
                    case,
                    number_text(round(float(np.mean(scores)), 3) + 0.0),
                    f"{100 * positive / max(known, 1):.0f}",
                    str(known),
                ]
            )
            print(*rows[-1], flush=True)
    return table(["artefact check", "simulated", "mean score", "interval above 0, %", "experiments"], rows)


def seconds() -> str:
    """Seconds of processors (and of the clock) beside those of a small network's score, on 800 stimuli."""
    import torch
    from extraction import LAYERS, wrapper

    from brainscore_vision.assessment import baselines
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    torch.set_num_threads(os.cpu_count() or 1)
    os.environ["BRAINSCORE_ACTIVATIONS"] = "off"
    rows = []

    def took(work):
        start = time.process_time(), time.perf_counter()
        result = work()
        return result, time.process_time() - start[0], time.perf_counter() - start[1]

    for name in ("Simulated2026.IT-pls",):
        tested = load_benchmark(name)
        took(lambda: tested.ceiling)  # noqa: B023 # called at once
        model = ModelCommitment("small", wrapper(), layers=LAYERS, region_layer_map={"V1": "2", "IT": "7"})
        score, *alone = took(lambda: tested(model))  # noqa: B023 # called at once
        baselines._image_features.cache_clear()
        _, *without = took(lambda: score_controls(tested, model=score))  # noqa: B023 # called at once
        _, *everything = took(lambda: score_controls(tested, model=model))  # noqa: B023 # called at once
        rest = [whole - own for whole, own in zip(everything, alone, strict=True)]
        rows.append(
            [f"`{name}`"]
            + [f"{cpu:.1f} ({wall:.1f})" for cpu, wall in (alone, without, rest)]
            + [f"{without[0] / alone[0]:.2f}", f"{rest[0] / alone[0]:.2f}"]
        )
        print(*rows[-1], flush=True)
    head = ["benchmark", "score of the network", "baseline models without twins", "baseline models with two twins"]
    return table([*head, "ratio without twins", "ratio with twins"], rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=["claims", "artefacts", "seconds", []], help="by default all")
    parser.add_argument("--simulations", type=int, help="experiments of each kind")
    parser.add_argument("--print", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", "PLS stopped", UserWarning)  # labels have fewer dimensions than components
    for name in options.names or ["claims", "artefacts", "seconds"]:
        number = options.simulations or SIMULATIONS.get(name)
        text = {"claims": claims, "artefacts": artefacts}[name](number) if number else seconds()
        if options.print:
            print(text)
        else:
            write_section(f"validity controls: {name}", text, PAGE)


if __name__ == "__main__":
    sys.exit(main())
