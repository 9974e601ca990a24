"""False findings where recordings have few animals, or stimuli few objects: of comparisons, and of ranks.

    python perf/few_groups.py                      all; twenty minutes on one core
    python perf/few_groups.py ridge --simulations 50 --print

Models are equally good over the population that is named: for *these* groups, each of which prefers one of the models,
as many prefer the one as the other; over *new* ones, each group's preferences are drawn. Results are kept in
perf/few_groups.json, and written as a table into docs/comparison_coverage.md. Everything is seeded.
"""

import json
import math
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _tables import between, keep, simulation_options
from coverage_cases.case import coords

from brainscore_core.numerics.means import rank_means
from brainscore_core.statistics.comparison import compare_scores, side_of
from brainscore_core.statistics.units import influence_of
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

HERE = Path(__file__).parent
STORE = HERE / "few_groups.json"
PAGE = HERE.parent / "docs" / "comparison_coverage.md"
BEGIN, END = "<!-- begin: few groups, by perf/few_groups.py -->", "<!-- end: few groups -->"
METRICS = {"ridge": {"crossvalidation_kwargs": {"stratification_coord": None, "splits": 4, "kfold": True}}, "rdm": {}}
GROUPS = {"animals": (2, 4, 5, 6, 8, 12), "objects": (4, 8, 12)}
LATENTS, STIMULI, NEUROIDS, MODELS, SIMULATIONS = 12, 60, 36, 3, 200


def preferences(rng, number, models, *, of_these):
    """How much each group (rows) is for each model."""
    if of_these:  # as many groups for the one model as for the other
        signs = np.resize([1.0, -1.0], number)
        return np.stack([signs, -signs], axis=1)
    return rng.standard_normal((number, models))


def experiment(rng, metric, kind, number, *, of_these, better=0.0):
    """Scores of models on one recording; 2 models for these groups, otherwise 3; `better` is the advantage of each."""
    models = 2 if of_these else MODELS
    liking = preferences(rng, number, models, of_these=of_these)
    animal = np.arange(NEUROIDS) % (number if kind == "animals" else 2)
    thing = np.arange(STIMULI) % number
    latents = rng.standard_normal((STIMULI, models, LATENTS // models))
    if kind == "objects":
        latents = 0.7 * latents + 0.7 * rng.standard_normal((number, models, LATENTS // models))[thing]
    gain = np.exp(0.8 * liking[animal]) if kind == "animals" else np.ones((NEUROIDS, models))
    weights = rng.standard_normal((NEUROIDS, models, LATENTS // models)) * gain[:, :, None] / math.sqrt(LATENTS)
    responses = np.einsum("sml,nml->sn", latents, weights) + 0.6 * rng.standard_normal((STIMULI, NEUROIDS))
    columns = {"stimulus_id": [f"s{place:02}" for place in range(STIMULI)]}
    if kind == "objects":
        columns["object_name"] = [f"object {group:02}" for group in thing]
    where = coords("presentation", **columns)
    neuroids = {"neuroid_id": np.arange(NEUROIDS), "subject": [f"animal {group:02}" for group in animal]}
    if kind == "objects":
        del neuroids["subject"]
    target = NeuroidAssembly(responses, coords=where | coords("neuroid", **neuroids), dims=["presentation", "neuroid"])
    scores = []
    for model in range(models):
        seen = np.full((models, 1), 0.3)
        seen[model] = 1.0
        noise = 0.8 * np.exp(-better * model) * np.ones(STIMULI)
        if kind == "objects":
            noise *= np.exp(-0.5 * liking[thing, model])
        features = (latents * seen).reshape(STIMULI, -1) + noise[:, None] * rng.standard_normal((STIMULI, LATENTS))
        features = NeuroidAssembly(
            features, coords=where | coords("neuroid", neuroid_id=np.arange(LATENTS)), dims=["presentation", "neuroid"]
        )
        scores.append(metric(features, target))
    return scores


def findings(scores):
    """Whether the first two models are called different, whether a model is ranked above another, and is tested."""
    test = compare_scores(*scores[:2])
    influences = [[influence_of(side_of(score, str(row), "Few2026-metric"))] for row, score in enumerate(scores)]
    ranks = rank_means([float(score) for score in scores], influences, [1.0], ["Few2026-metric"])
    return bool(test.p is not None and test.p <= 0.05), bool((ranks.best > 1).any()), bool(ranks.tested.any())


def simulate(name, kind, number, population, simulations):
    """Count false findings among equal models, and findings where each model is better than the one before."""
    metric = load_metric(name, **METRICS[name])
    counts = {"compared": 0, "ranked": 0, "tested": 0, "power": 0, "simulations": simulations}
    for seed in range(simulations):
        for better in (0.0, 0.3) if seed % 8 == 0 else (0.0,):
            rng = np.random.default_rng([seed, number, kind == "objects", population == "these", better > 0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = experiment(rng, metric, kind, number, of_these=population == "these", better=better)
            compared, ranked, tested = findings(scores)
            if better:
                counts["power"] += ranked
                continue
            counts["compared"] += compared
            counts["ranked"] += ranked
            counts["tested"] += tested
    return counts


def table(store):
    """Markdown table."""
    lines = ["| metric | groups | equal over | `compare` | ranks | power of ranks | s.e. |", "|---" * 7 + "|"]
    for name in METRICS:
        for kind, numbers in GROUPS.items():
            for number in numbers:
                for population in ("these", "new"):
                    key = f"{number} {kind}, {population}"
                    counts = store.get(name, {}).get(key)
                    if counts is None:
                        continue
                    n = counts["simulations"]
                    claimed = (population == "these") == (number < 5)
                    what = f"{population} {kind}" + ("" if claimed else ": not claimed")
                    shares = (f"{100 * counts[name_of] / n:.1f}" for name_of in ("compared", "ranked"))
                    power = f"{100 * counts['power'] / math.ceil(n / 8):.0f}"
                    error = f"{100 * math.sqrt(0.05 * 0.95 / n):.1f}"
                    lines.append(f"| `{name}` | {number} {kind} | {what} | {' | '.join(shares)} | {power} | {error} |")
    return "\n".join(lines)


def main(arguments=None):
    options = simulation_options(__doc__, arguments, metavar="METRIC", names="ridge, rdm")
    for name in [] if options.tables else options.names or METRICS:
        for kind, numbers in GROUPS.items():
            for number in numbers:
                for population in ("these", "new") if number < 5 else ("new",):
                    start = time.perf_counter()
                    counts = simulate(name, kind, number, population, options.simulations or SIMULATIONS)
                    print(name, number, kind, population, counts, f"{time.perf_counter() - start:.0f} s", flush=True)
                    if not options.print:
                        keep(STORE, (name, f"{number} {kind}, {population}"), counts)
    if not options.print and STORE.exists():
        PAGE.write_text(between(PAGE.read_text(), BEGIN, END, table(json.loads(STORE.read_text()))))


if __name__ == "__main__":
    sys.exit(main())
