"""Ten models on twelve benchmarks in one command: where the time goes.

    python perf/runs.py [--workers 2] [--keep FOLDER] [--write]

The models are pixels, gabor, the simulated truth and seven small untrained networks; the benchmarks are simulated, on
stand-ins and, with BRAINSCORE_MIRROR, measured. `--keep` keeps receipts and stored activations, for perf/costs.py and
perf/scaling.py.
Seconds are summed over receipts; what is left of the workers' time is the runner's: starting processes, importing,
loading the benchmarks that workers keep, claiming, writing receipts, waiting for the last one. The time of intervals is
that of the functions of `INTERVALS`; what regressions take for the effects of their training stimuli is not in it. The
processor's time does not depend on other programs as seconds do.
"""

import argparse
import contextlib
import ctypes
import functools
import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import table, write_section

PLUGINS = Path(__file__).resolve().parents[1] / "tests" / "plugins_at_scale"
MODELS = ("pixels", "gabor", "simulated-truth", "scale-network-*")
BENCHMARKS = ("ScaleMajajHong.*", "all:simulated", "Simulated2026.IT:cka", "Simulated2026.V1:rdm_cosine")
MEASURED = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")


INTERVALS = {
    "brainscore_core.numerics.predictions": ("PredictivityOfSplits.add", "PredictivityOfSplits.result"),
    "brainscore_vision.metric_helpers.uncertainty": ("attach_predictivity_interval", "attach_varied"),
    "brainscore_vision.metrics.cka.metric": ("cka_without_neuroids", "cka_without_stimuli"),
    "brainscore_vision.metrics.rdm.metric": ("rdm_neuroid_influence", "rdm_without_neuroids", "rdm_without_stimuli"),
}
_TIMES = "BRAINSCORE_PERF_INTERVALS"  # folder of a file for each process
_PR_SET_CHILD_SUBREAPER = 36
_depth = 0


def timed(function):
    """Add the seconds of the outermost timed function to the file of this process."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        global _depth
        start = time.perf_counter()
        _depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            _depth -= 1
            if not _depth:
                with open(Path(os.environ[_TIMES]) / str(os.getpid()), "a") as file:
                    file.write(f"{time.perf_counter() - start}\n")

    return call


@functools.lru_cache(maxsize=1)
def time_intervals():
    """Replace functions of intervals by timed ones."""
    for name, functions in INTERVALS.items():
        module = importlib.import_module(name)
        for function in functions:
            owner, _, attribute = function.rpartition(".")
            place = getattr(module, owner) if owner else module
            if hasattr(place, attribute):
                setattr(place, attribute, timed(getattr(place, attribute)))


def score_pair(model, benchmark, **how):
    """Score a pair as workers do, with timed intervals."""
    from brainscore_vision.scoring import score_pair as score

    time_intervals()
    return score(model, benchmark, **how)


def keep_benchmark(benchmark, **options):
    """Keep a benchmark as workers do, with timed intervals."""
    from brainscore_vision.scoring import keep_benchmark as keep

    time_intervals()
    return keep(benchmark, **options)


def forget_benchmark(benchmark):
    """Forget a benchmark as workers do."""
    from brainscore_vision.scoring import forget_benchmark as forget

    forget(benchmark)


def run_here(results, workers):
    """Run in this process, with the scorer above."""
    import brainscore
    import brainscore.runs

    brainscore.runs.SCORER = "runs:score_pair"
    benchmarks = (*BENCHMARKS, *(MEASURED if "BRAINSCORE_MIRROR" in os.environ else ()))
    brainscore.run(list(MODELS), list(benchmarks), results=results, workers=workers)


def run(results, home, workers):
    """Seconds of the whole command, of the processor, and of intervals."""
    command = [sys.executable, __file__, "--run", str(results), "--workers", str(workers)]
    environment = {**os.environ, "BRAINSCORE_HOME": str(home), "BRAINSCORE_PLUGINS": str(PLUGINS)}
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # counts processes whose parent ended first, on Linux
    with tempfile.TemporaryDirectory() as times:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, env={**environment, _TIMES: times}, check=True)
        seconds = time.perf_counter() - start
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        intervals = sum(float(line) for path in Path(times).iterdir() for line in path.read_text().split())
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, intervals


def parts(receipts):
    """Seconds of each part, summed over receipts."""

    def total(step):
        return sum(getattr(receipt.timings, step) or 0 for receipt in receipts)

    extraction = total("extraction")
    metrics = total("ceiling") + total("score") - extraction
    loading = total("load_model") + total("load_benchmark")
    return {
        "loading models and benchmarks": loading,
        "extraction": extraction,
        "metrics and ceilings": metrics,
        "receipts' other steps": total("total") - loading - extraction - metrics,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a new folder for results/ and home/")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_here(arguments.run, arguments.workers)
        return
    from brainscore_core.scoring import ResultsStore

    with tempfile.TemporaryDirectory() as folder:
        place = (arguments.keep or Path(folder) / "run").absolute()
        if place.exists():
            parser.error(f"{place} is there already")
        results, home = place / "results", place / "home"
        seconds, processor, intervals = run(results, home, arguments.workers)
        again, _, _ = run(results, home, arguments.workers)
        receipts = ResultsStore(results).listing().receipts
    found = parts(receipts)
    everything = arguments.workers * seconds
    found["runner"] = everything - sum(found.values())
    rows = [[name, f"{value:.1f}", f"{100 * value / everything:.0f} %"] for name, value in found.items()]
    rows.append([f"all: {len(receipts)} pairs, {seconds:.1f} s × {arguments.workers} workers", f"{everything:.1f}", ""])
    rows.append(["of which intervals", f"{intervals:.1f}", f"{100 * intervals / everything:.0f} %"])
    rows.append(["of the processor, all processes", f"{processor:.1f}", ""])
    rows.append(["the same command again, nothing to do", f"{again:.1f}", ""])
    text = table(["part", "seconds", "share"], rows)
    print(text)
    if arguments.write:
        write_section("runs", text)


if __name__ == "__main__":
    main()
