"""What scores outside of [0, 1] and ceilings of drifting responses claim, in simulated experiments.

    python perf/ceilings.py                 both tables; half an hour on one core
    python perf/ceilings.py drift --simulations 50 --print

The tables are written into docs/ceilings.md; `--print` only prints them. Everything is seeded.
"""

import math
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
from _tables import simulation_options, table, write_section
from coverage_cases.case import coords

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric

PAGE = Path(__file__).parent.parent / "docs" / "ceilings.md"
SIMULATIONS = 200
STIMULI, NEUROIDS, REPETITIONS, LATENT = 100, 30, 4, 10
SHOWN, TIMES = 60, 6


def assembly(values, **columns):
    """Responses, presentation × neuroid."""
    where = coords("presentation", **columns) | coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


def score_of(rng, model):
    """Score of a model by `ridge`, relative to `internal_consistency`."""
    signal = rng.standard_normal((STIMULI, LATENT)) @ rng.standard_normal((LATENT, NEUROIDS)) / math.sqrt(LATENT)
    single = signal + 2 * rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS))
    names = [f"s{i:03}" for i in range(STIMULI)]
    features = {
        "the recordings themselves": single.mean(axis=0),
        "the signal, without noise": signal,
        "noise": rng.standard_normal((STIMULI, NEUROIDS)),
    }[model]
    repetitions = assembly(
        np.concatenate(single),
        stimulus_id=np.tile(names, REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), STIMULI),
    )
    score = load_metric("ridge")(
        assembly(features, stimulus_id=names), assembly(single.mean(axis=0), stimulus_id=names)
    )
    return bound_score(normalise(score, load_ceiling("internal_consistency")(repetitions)))


def table_of_scores(simulations):
    """How many intervals would be a point after clamping, and how many are."""
    rows = []
    for model in ("the recordings themselves", "the signal, without noise", "noise"):
        scores = [score_of(np.random.default_rng([zlib.crc32(model.encode()), i]), model) for i in range(simulations)]
        limits = np.array([score.attrs["unclamped_ci"] for score in scores])
        clamped, shown = np.clip(limits, 0, 1), np.array([score.attrs["ci"] for score in scores])
        reasons = [str(score.attrs.get("ci_reason", "")) for score in scores]
        unclamped = np.mean([score.attrs["unclamped"] for score in scores])
        counts = (
            clamped[:, 0] == clamped[:, 1],
            shown[:, 0] == shown[:, 1],
            ["above the ceiling" in reason for reason in reasons],
            ["below 0" in reason for reason in reasons],
        )
        rows.append(
            [model, f"{unclamped:.2f}", f"{np.mean([float(score) for score in scores]):.3f}", *map(share, counts)]
        )
        print(*rows[-1], sep=" | ", flush=True)
    head = ["model", "mean before it was limited", "mean score", "points by clamping alone", "points shown"]
    return table([*head, "*above the ceiling*", "*below 0*"], rows)


def recordings(rng, *, drift, signal, order):
    """Repetitions in which responses fall from beginning to end, by another amount in each neuroid."""
    first = rng.permutation(SHOWN)
    orders = [first if order == "the same" else rng.permutation(SHOWN) for _ in range(TIMES)]
    evoked = signal * rng.standard_normal((SHOWN, NEUROIDS))
    slow = drift * np.linspace(1, -1, SHOWN)[:, None] * rng.standard_normal(NEUROIDS)
    return assembly(
        np.concatenate([evoked[shown] + slow + rng.standard_normal((SHOWN, NEUROIDS)) for shown in orders]),
        stimulus_id=[f"s{number:02}" for shown in orders for number in shown],
        repetition=np.repeat(np.arange(TIMES), SHOWN),
        presentation_order=np.arange(TIMES * SHOWN),
    )


DRIFTS = [(0.0, 0.0), (0.0, 1.0), (0.1, 0.0), (0.2, 0.0), (0.5, 0.0), (2.0, 0.0), (0.2, 0.5), (0.5, 1.0)]
"""Standard deviations over neuroids of the drift, and of the signal over stimuli; that of the noise is 1."""


def table_of_drifts(simulations):
    """How often drift is found, and the ceiling."""
    ceiling = load_ceiling("internal_consistency")
    rows = []
    for order in ("the same", "of its own"):
        for drift, signal in DRIFTS if order == "the same" else [(0.0, 1.0), (2.0, 1.0)]:
            seeds = ([zlib.crc32(f"{order} {drift} {signal}".encode()), i] for i in range(simulations))
            made = [recordings(np.random.default_rng(seed), drift=drift, signal=signal, order=order) for seed in seeds]
            scores = [ceiling(each) for each in made]
            found = share([score.attrs["drift"] == "found" for score in scores])
            rows.append(
                [
                    order,
                    f"{drift:g}",
                    f"{signal:g}",
                    f"{round(np.mean([float(s) for s in scores]), 2) + 0.0:.2f}",
                    found,
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    return table(["order of each repetition", "drift", "signal", "mean ceiling", "drift found"], rows)


def share(counted):
    """Percentage and its standard error."""
    p, n = float(np.mean(counted)), len(counted)
    return f"{100 * p:.1f} % ± {100 * math.sqrt(p * (1 - p) / n):.1f}"


TABLES = {"scores": ("scores outside of 0 and 1", table_of_scores), "drift": ("drift", table_of_drifts)}


def main(arguments: list[str] | None = None) -> None:
    options = simulation_options(__doc__, arguments, metavar="TABLE", names="scores or drift")
    if unknown := set(options.names) - set(TABLES):
        sys.exit(f"no table {', '.join(sorted(unknown))}; known: {', '.join(TABLES)}")
    for name in options.names or TABLES:
        section, make = TABLES[name]
        with warnings.catch_warnings(action="ignore"):
            text = make(options.simulations or SIMULATIONS)
        if not options.print:
            write_section(section, text, PAGE)


if __name__ == "__main__":
    main()
