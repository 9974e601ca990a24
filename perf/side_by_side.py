"""The same public calls on two interpreters, alternately: seconds, peak memory, and whether the values agree.

    python perf/side_by_side.py PEER_PYTHON OUR_PYTHON [--runs 5] [--write] [CASE ...]
    python perf/side_by_side.py --threads 1 2 [--runs 5] [--write]
    OMP_NUM_THREADS=1 python perf/side_by_side.py --shares [--runs 5]

Each run is a process of its own, and times its first call. The first interpreter is what the ratio relates to; times
are medians over the runs. Without CASE all cases run; the widest take minutes on slow code. With --threads: values
alone of this interpreter with these numbers of threads, in turns, from few stimuli to many; the least seconds of all.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path

OBJECTS = 64


def neural(*, stimuli=2560, features=1000, neuroids=168, seed=0):
    """Features and responses that share 100 latent dimensions with a falling spectrum."""
    import numpy as np

    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((stimuli, 100)) / np.sqrt(np.arange(1, 101))
    source = latent @ rng.standard_normal((100, features)) + 0.05 * rng.standard_normal((stimuli, features))
    target = latent @ rng.standard_normal((100, neuroids)) + rng.standard_normal((stimuli, neuroids))

    def assembly(values):
        coords = {
            "stimulus_id": ("presentation", [f"stim{i:05d}" for i in range(stimuli)]),
            "object_name": ("presentation", [f"obj{i % OBJECTS}" for i in range(stimuli)]),
            "neuroid_id": ("neuroid", list(range(values.shape[1]))),
            "region": ("neuroid", ["IT"] * values.shape[1]),
        }
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])

    return assembly(source), assembly(target)


def repeated(*, stimuli=500, repetitions=10, neuroids=168, seed=0):
    """Responses with unit signal and unit noise variance."""
    import numpy as np

    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((stimuli, neuroids))
    values = np.concatenate([signal + rng.standard_normal((stimuli, neuroids)) for _ in range(repetitions)])
    coords = {
        "stimulus_id": ("presentation", [f"stim{i:05d}" for i in range(stimuli)] * repetitions),
        "repetition": ("presentation", np.repeat(np.arange(repetitions), stimuli)),
        "neuroid_id": ("neuroid", list(range(neuroids))),
        "region": ("neuroid", ["IT"] * neuroids),
    }
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def behaviour(*, images=240, objects=24, trials=40_000, seed=0):
    """Probabilities of a model, and trials of people who tell a sample from a distractor."""
    import numpy as np

    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly

    rng = np.random.default_rng(seed)
    names = np.array([f"obj{i:02d}" for i in range(objects)])
    ids = np.array([f"im{i:04d}" for i in range(images)])
    truth = np.arange(images) % objects
    shown = rng.integers(0, images, trials)
    other = (truth[shown] + rng.integers(1, objects, trials)) % objects
    skill = rng.uniform(0.6, 0.95, images)
    chosen = np.where(rng.random(trials) < skill[shown], truth[shown], other)
    sample = names[truth[shown]]
    coords = {"stimulus_id": ids[shown], "sample_obj": sample, "dist_obj": names[other], "truth": sample}
    target = BehavioralAssembly(
        names[chosen], coords={key: ("presentation", value) for key, value in coords.items()}, dims=["presentation"]
    )
    logits = rng.standard_normal((images, objects))
    logits[np.arange(images), truth] += 3 * skill
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    coords = {
        "stimulus_id": ("presentation", ids),
        "object_name": ("presentation", names[truth]),
        "choice": ("choice", list(names)),
    }
    return BehavioralAssembly(probabilities, coords=coords, dims=["presentation", "choice"]), target


def _metric(identifier, make, call=lambda metric, data: metric(*data)):
    def run():
        from brainscore_vision import load_metric

        data, metric = make(), load_metric(identifier)
        start, busy = time.perf_counter(), time.process_time()
        score = call(metric, data)
        return time.perf_counter() - start, time.process_time() - busy, float(score.values)

    return run


CASES = {
    "pls_2560x1000x168": _metric("pls", neural),
    "pls_2560x9216x168": _metric("pls", lambda: neural(features=9216)),
    "ridge_2560x1000x168": _metric("ridge", neural),
    "ridge_2560x9216x168": _metric("ridge", lambda: neural(features=9216)),
    "neuron_to_neuron_640x1000x168": _metric("neuron_to_neuron", lambda: neural(stimuli=640)),
    "cka_2560x9216": _metric("cka", lambda: neural(features=9216)),
    "rdm_1280x9216": _metric("rdm", lambda: neural(stimuli=1280, features=9216)),
    "internal_consistency_500x10x168": _metric("internal_consistency", lambda: (repeated(),)),
    "i2n_40k": _metric("i2n", behaviour),
    "i2n_ceiling_40k": _metric(
        "i2n", lambda: behaviour()[1], lambda metric, target: metric.ceiling(target, skipna=True)
    ),
}


# useful floating-point operations of the products that dominate here: 2 a multiply-add, symmetric products half of it
OPERATIONS = {
    "pls_2560x1000x168": 2560 * 1000 * (1000 + 2 * 168),  # XᵀX and XᵀY
    "pls_2560x9216x168": 2560**2 * 9216,  # XXᵀ
    "ridge_2560x1000x168": 2 * 2560 * 1000**2 + 1000**3 / 3,  # XᵀX, its factor, and all rows solved by that
    "ridge_2560x9216x168": 2560**2 * 9216 + 2560**3,  # XXᵀ and its inverse
    "neuron_to_neuron_640x1000x168": 2 * 2 * 640 * 1000 * 168,  # XᵀY of all rows, and of those that are left out
    "cka_2560x9216": 2560**2 * (9216 + 168),  # XXᵀ and YYᵀ
    "rdm_1280x9216": 1280**2 * (9216 + 168),
}


def _kernels(X, Y):
    from brainscore_core.numerics import compare_kernels, linear_kernel

    return compare_kernels(linear_kernel(X), linear_kernel(Y))


def _rdms(X, Y):
    from brainscore_core.numerics import compare_rdms, rdm

    return compare_rdms(rdm(X), rdm(Y))


def _predictions(method):
    def run(X, Y):
        import numpy as np

        from brainscore_core import numerics

        orders = [np.random.default_rng(seed).permutation(len(X)) for seed in range(10)]
        tests = len(X) // 10
        model = getattr(numerics, method)()
        return list(model.cross_predict(X, Y, [(order[tests:], order[:tests]) for order in orders]))

    return run


# what a metric needs for its value; the rest of its time is its interval, and the order of stimuli
VALUES = {"pls": _predictions("PLS"), "ridge": _predictions("Ridge"), "cka": _kernels, "rdm": _rdms}


def value_alone(case: str) -> float | None:
    """Seconds of the value without the interval, on arrays; None on the other platform, and for other metrics."""
    name, _, size = case.partition("_")
    if name not in VALUES or importlib.util.find_spec("brainscore_core.numerics") is None:
        return None
    stimuli, features = map(int, size.split("x")[:2])
    return least_seconds([name], stimuli, features, repeats=1)[name]


def least_seconds(names: Iterable[str], stimuli: int, features: int, repeats: int) -> dict[str, float]:
    """Seconds of each value without the interval, on arrays: the least of several calls in this process."""
    X, Y = (assembly.values for assembly in neural(stimuli=stimuli, features=features))
    least = dict.fromkeys(names, float("inf"))
    for name in least:
        for _ in range(repeats):
            start = time.perf_counter()
            VALUES[name](X, Y)
            least[name] = min(least[name], time.perf_counter() - start)
    return least


SIZES = (64, 500), (160, 1000), (320, 1000), (640, 1000), (1280, 4000), (2560, 9216)
"""Stimuli and features of the values with several numbers of threads."""


def compare_threads(numbers: list[int], runs: int) -> str:
    """Table of the values with each number of threads."""
    from _tables import run, table

    rows = []
    for stimuli, features in SIZES:
        words = map(str, (stimuli, features, max(2, 2000 // stimuli)))
        call = [str(Path(__file__).resolve()), "--alone", *words]
        found: list[list[dict]] = [[] for _ in numbers]
        for _ in range(runs):
            for number, results in zip(numbers, found, strict=True):
                os.environ["OMP_NUM_THREADS"] = str(number)
                results.append(run(sys.executable, *call))
        cells = [f"{stimuli} × {features}"]
        for name in VALUES:
            first, *others = (min(result[name] for result in results) for results in found)
            cells += [f"{first:.4f}", *(f"{first / other:.2f}" for other in others)]
        rows.append(cells)
        print(*cells, sep="\t", flush=True)
    columns = [f"s with {numbers[0]}", *(f"ratio with {number}" for number in numbers[1:])]
    head = [f"{name}, {column}" for name in VALUES for column in columns]
    return table(["stimuli × features", *head], rows)


def compare_shares(runs: int) -> str:
    """Table of the values of wide features, which alternate with products of two float64 matrices in this process.

    Each begins after a pause, since threads of OpenBLAS keep cores busy for a tenth of a second after a product.
    """
    import numpy as np
    from _tables import table

    square = np.random.default_rng(0).standard_normal((2560, 2560))

    def seconds(function, *arguments):
        time.sleep(0.3)
        start = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - start

    rows = []
    for case in ("pls_2560x9216x168", "cka_2560x9216", "rdm_1280x9216"):
        name, _, size = case.partition("_")
        X, Y = (assembly.values for assembly in neural(stimuli=int(size.split("x")[0]), features=9216))
        for features in (X.astype(np.float32), X):
            found = []
            for _ in range(runs + 1):
                product, value = seconds(np.matmul, square, square), seconds(VALUES[name], features, Y)
                found.append((value, OPERATIONS[case] / value / (2 * len(square) ** 3 / product)))
            value, share = (statistics.median(column) for column in zip(*found[1:], strict=True))
            rows.append([case, str(features.dtype), f"{value:.3f}", f"{share:.0%}"])
            print(*rows[-1], sep="\t", flush=True)
    return table(["value alone", "features", "s", "of product rate"], rows)


def measure(case: str) -> None:
    """Run one case in this process and print it as JSON."""
    warnings.filterwarnings("ignore")
    seconds, busy, value = CASES[case]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    alone = value_alone(case)
    print(json.dumps({"seconds": seconds, "cpu": busy, "value": value, "peak_mb": peak, "alone": alone}))


def compare(case: str, pythons: list[str], runs: int, rate: float) -> list[str]:
    """One row of the table."""
    from _tables import run

    results: list[list[dict]] = [[], []]
    for _ in range(runs):
        for python, found in zip(pythons, results, strict=True):
            found.append(run(python, str(Path(__file__).resolve()), "--measure", case))
    peer, here = (statistics.median(result["seconds"] for result in found) for found in results)
    busy = statistics.median(result["cpu"] for result in results[1])
    memory = [max(result["peak_mb"] for result in found) for found in results]
    difference = abs(results[0][-1]["value"] - results[1][-1]["value"])
    shares = [f"{OPERATIONS[case] / here / rate:.0%}" if case in OPERATIONS else "", "", ""]
    if results[1][0]["alone"] is not None:
        alone = statistics.median(result["alone"] for result in results[1])
        shares[1:] = [f"{alone:.3f}", f"{OPERATIONS[case] / alone / rate:.0%}"]
    return [
        case, f"{peer:.3f}", f"{here:.3f}", f"{busy:.3f}", f"{peer / here:.1f}", *shares, *map(str, memory),
        f"{difference:.0e}",
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--threads", type=int, nargs="+", help="compare these numbers of threads instead")
    parser.add_argument("--shares", action="store_true", help="compare values with products of matrices instead")
    parser.add_argument("--measure", metavar="CASE", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--alone", nargs=3, type=int, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", metavar="PYTHON PYTHON [CASE ...]")
    arguments = parser.parse_intermixed_args()
    if arguments.measure:
        measure(arguments.measure)
        return
    if arguments.alone:
        print(json.dumps(least_seconds(VALUES, *arguments.alone)))
        return
    if arguments.shares:
        print(compare_shares(arguments.runs))
        return
    if arguments.threads:
        from _tables import write_section

        text = compare_threads(arguments.threads, arguments.runs)
        print(text)
        if arguments.write:
            write_section("threads", text)
        return
    from _tables import interpreter, rates, table, write_section

    if len(arguments.words) < 2:
        parser.error("name two interpreters")
    pythons = [
        interpreter(name, what) for name, what in zip(arguments.words[:2], ("PEER", "this project"), strict=True)
    ]  # fmt: skip
    rate = rates(pythons[1])
    rows = []
    for case in arguments.words[2:] or CASES:
        rows.append(compare(case, pythons, arguments.runs, rate["float64"]))
        print("\t".join(rows[-1]), flush=True)
    head = [
        "case", "peer, s", "here, s", "CPU, s", "ratio", "of product rate", "value alone, s", "of product rate",
        "peer, MB", "here, MB", "differ by",
    ]  # fmt: skip
    text = (
        f"{table(head, rows)}\n\nMedians of {arguments.runs} alternating runs. Product of two 2560 × 2560 matrices in "
        f"the same run: {rate['float64'] / 1e9:.0f} GFLOP/s in float64, {rate['float32'] / 1e9:.0f} in float32. "
        "*Value alone* is the time of the value without its interval, on arrays, in the same process afterwards."
    )
    print(text)
    if arguments.write:
        write_section("metrics", text)


if __name__ == "__main__":
    main()
