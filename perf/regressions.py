"""Measure everything in one command, compare with the committed figures, and name what became slower.

    python perf/regressions.py [--runs 5] [--json FILE] [--write] [CASE ...]

Seconds of different machines cannot be compared. Each run of a case therefore stands beside a reference that uses the
same part of the machine, timed directly before: a product of matrices for metrics, parsing and JSON for what the
interpreter does, decoding and a forward pass for extraction. The figure of a case is its seconds divided by those of
its reference. A case is slower if even its fastest run takes 15 % more than the committed median, and larger if its
peak memory does; then the exit code is 1. `--write` makes the measured figures the committed ones (perf/figures.json).
"""

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import extraction
import side_by_side
from _tables import run, table

FIGURES = Path(__file__).resolve().parent / "figures.json"
TOLERANCE = 1.15
MODELS, BENCHMARKS = 1000, 300


def product() -> float:
    """Seconds of a product of two matrices, the median of three."""
    import numpy as np

    first, second = (np.random.default_rng(seed).standard_normal((2048, 2048)) for seed in (0, 1))
    return statistics.median(_seconds(lambda: first @ second) for _ in range(3))


def interpreter() -> float:
    """Seconds of parsing a module of the standard library and of JSON, the median of three."""
    import ast
    import inspect

    source = inspect.getsource(argparse)
    rows = [{"name": f"row {number}", "values": list(range(20))} for number in range(5000)]

    def work() -> None:
        compile(ast.parse(source), "argparse", "exec")
        json.loads(json.dumps(rows))

    return statistics.median(_seconds(work) for _ in range(3))


def floor() -> float:
    """Seconds of decoding images and one forward pass."""
    with tempfile.TemporaryDirectory() as folder:
        return extraction.floor(extraction.images(folder))[0]


class Case(NamedTuple):
    """What is measured, and beside what."""

    measure: Callable[[], float]
    reference: Callable[[], float]


def _import() -> float:
    return _seconds(lambda: __import__("brainscore_vision"))


def _list_plugins() -> float:
    """List a thousand plugins that no cache knows."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1000):
            plugin = Path(folder, "models", f"plugin_{number}", "__init__.py")
            plugin.parent.mkdir(parents=True)
            plugin.write_text(
                f"from brainscore_vision import model_registry\n\nmodel_registry['synthetic-{number}'] = object\n"
            )
        os.environ["BRAINSCORE_PLUGINS"] = folder
        import brainscore_vision

        return _seconds(lambda: list(brainscore_vision.model_registry))


def _plan() -> float:
    """Plan all pairs of 1,000 models and 300 benchmarks, none of which has a receipt."""
    from brainscore_core.results.store import Listing
    from brainscore_core.runner.plan import make_plan

    models, benchmarks = ([f"{kind}-{n}" for n in range(count)] for kind, count in (("m", MODELS), ("b", BENCHMARKS)))
    return _seconds(lambda: make_plan(models, benchmarks, Listing()))


def _list_receipts() -> float:
    """Read two thousand receipts from a folder."""
    from brainscore_core.results.store import ResultsStore

    with tempfile.TemporaryDirectory() as folder:
        store = ResultsStore(folder)
        _write_receipts(store, 2000)
        return _seconds(store.listing)


def _write_receipts(store, count: int) -> None:
    from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt

    for number in range(count):
        model, benchmark = divmod(number, 20)
        receipt = Receipt(
            model=ModelInfo(identifier=f"model-{model}"),
            benchmark=BenchmarkInfo(identifier=f"benchmark-{benchmark}"),
            state="scored",
            score=Estimate(value=0.5, error=0.1, ci=(0.3, 0.7), ci_level=0.95),
        )
        store.write(receipt)


def _score() -> float:
    """One score of a small model, all of it in one process."""
    from brainscore_vision import score

    return _seconds(lambda: score("gabor", "Simulated2026.V1-pls"))


def _metric(name: str) -> Callable[[], float]:
    return lambda: side_by_side.CASES[name]()[0]


def _extraction(name: str) -> Callable[[], float]:
    def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            return extraction.CASES[name](extraction.images(folder))[0]

    return measure


CASES = {
    **{name: Case(_metric(name), product) for name in side_by_side.CASES},
    **{f"extraction_{name}": Case(_extraction(name), floor) for name in ("extract", "cached", "on_screen")},
    "import": Case(_import, interpreter),
    "list_1000_plugins": Case(_list_plugins, interpreter),
    f"plan_{MODELS}x{BENCHMARKS}": Case(_plan, interpreter),
    "list_2000_receipts": Case(_list_receipts, interpreter),
    "score_gabor": Case(_score, interpreter),
}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def child(name: str, what: str) -> None:
    """Run a case or its reference in this process and print seconds and peak memory as JSON."""
    if CASES[name].reference is floor:
        extraction.prepare()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= dict.fromkeys(("BRAINSCORE_HOME", "BRAINIO_HOME"), home)
        seconds = getattr(CASES[name], what)()
    print(json.dumps({"seconds": seconds, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


def measure(name: str, runs: int) -> dict:
    """Figures of one case: ratio to its reference in each run, medians, and the largest peak memory."""
    script = str(Path(__file__).resolve())
    pairs = [
        [run(sys.executable, script, "--child", name, what) for what in ("reference", "measure")] for _ in range(runs)
    ]
    ratios = [case["seconds"] / reference["seconds"] for reference, case in pairs]
    return {
        "ratio": round(statistics.median(ratios), 4),
        "fastest": round(min(ratios), 4),
        "seconds": round(statistics.median(case["seconds"] for _, case in pairs), 4),
        "reference_seconds": round(statistics.median(reference["seconds"] for reference, _ in pairs), 4),
        "peak_mb": min(case["peak_mb"] for _, case in pairs),
    }


def machine() -> dict:
    """What the figures depend on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    packages = ("numpy", "scipy", "xarray", "pandas", "scikit-learn", "torch")
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }


def changes(figure: dict, before: dict) -> list[str]:
    """How a measured figure differs from the committed one; nothing if it is within the tolerance."""
    found = []
    if figure["fastest"] > TOLERANCE * before["ratio"]:
        found.append("slower")
    if figure["peak_mb"] > TOLERANCE * before["peak_mb"]:
        found.append("larger")
    if figure["ratio"] * TOLERANCE < before["fastest"]:
        found.append("faster")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measured figures into this file")
    parser.add_argument("--write", action="store_true", help="make the measured figures the committed ones")
    parser.add_argument("--child", nargs=2, metavar=("CASE", "PART"), help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"by default all: {', '.join(CASES)}")
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    if unknown := [name for name in arguments.cases if name not in CASES]:
        parser.error(f"there is no case {unknown[0]!r}; cases: {', '.join(CASES)}")
    committed = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"cases": {}}
    here, cases = machine(), {}
    if committed.get("machine", here) != here:
        print("The committed figures are of another machine or other versions; only ratios are compared.", flush=True)
    rows, worse = [], []
    for name in arguments.cases or CASES:
        figure = cases[name] = measure(name, arguments.runs)
        before = committed["cases"].get(name)
        found = changes(figure, before) if before else ["new"]
        worse += [f"{name} is {word}" for word in found if word in ("slower", "larger")]
        rows.append([
            name, f"{figure['seconds']:.3f}", f"{figure['ratio']:.3f}", f"{before['ratio']:.3f}" if before else "",
            str(figure["peak_mb"]), str(before["peak_mb"]) if before else "", ", ".join(found),
        ])  # fmt: skip
        print("\t".join(rows[-1]), flush=True)
    print(table(["case", "seconds", "ratio", "committed", "MB", "committed", ""], rows))
    measured = {"machine": here, "measured": f"{datetime.now(UTC):%Y-%m-%d}", "runs": arguments.runs, "cases": cases}
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1) + "\n")
    if arguments.write:
        measured["cases"] = committed["cases"] | cases
        FIGURES.write_text(json.dumps(measured, indent=1) + "\n")
    elif worse:
        sys.exit(f"Since the committed figures: {', '.join(worse)}")


if __name__ == "__main__":
    main()
