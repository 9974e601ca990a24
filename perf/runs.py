"""Ten models on twelve benchmarks in one command: where the time goes.

    python perf/runs.py [--workers 2] [--keep FOLDER] [--write] [--compare FOLDER] [--small] [--networks 7]

The models are pixels, gabor, the simulated truth and seven small untrained networks; the benchmarks are simulated, on
stand-ins and, with BRAINSCORE_MIRROR, measured. `--keep` keeps receipts and stored activations, for perf/costs.py and
perf/scaling.py. `--compare` names a copy of the project at another commit, with which the same run is made, before, in
turn; scores, intervals, ceilings and arrays of both are compared. `--small` is three models on four benchmarks.
`--networks` makes the run longer.

Seconds are those of the workers: the time of the whole command, times the number of workers. Each second of a worker is
in one row. Forward passes, metrics, and the first estimate of each ceiling are the work; the rest is overhead. The time
of intervals is that of the functions of `INTERVALS`; what regressions take for the effects of their training stimuli
is not in it. The processor's time does not depend on other programs as seconds do; where benchmarks are loaded in the
background, it also shows what that takes from the pairs.
"""

import argparse
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import table, write_section

HERE = Path(__file__).resolve().parents[1]
MODELS = ("pixels", "gabor", "simulated-truth", "scale-network-*")
BENCHMARKS = ("ScaleMajajHong.*", "all:simulated", "Simulated2026.IT:cka", "Simulated2026.V1:rdm_cosine")
MEASURED = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")
SMALL = (("pixels", "scale-network-0", "scale-network-1"), ("ScaleMajajHong.*", "Simulated2026.V1-rdm"))

INTERVALS = {
    "brainscore_core.numerics.predictions": ("PredictivityOfSplits.add", "PredictivityOfSplits.result"),
    "brainscore_core.metric_helpers.uncertainty": ("attach_predictivity_interval", "attach_varied"),
    "brainscore_core.metric_helpers.cka": ("cka_without_neuroids", "cka_without_stimuli"),
    "brainscore_core.metric_helpers.rdm": ("rdm_neuroid_influence", "rdm_without_neuroids", "rdm_without_stimuli"),
}
_TIMES = "BRAINSCORE_PERF_TIMES"  # folder of a file for each process
_PR_SET_CHILD_SUBREAPER = 36
_depth = 0


def record(what, start, end=None, **details):
    """Add a line to the file of this process; times are those of the system's monotonic clock."""
    line = {"what": what, "start": start, "end": time.monotonic() if end is None else end, **details}
    with open(Path(os.environ[_TIMES]) / str(os.getpid()), "a") as file:
        file.write(f"{json.dumps(line)}\n")


def timed(function):
    """Record the seconds of the outermost timed function."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        global _depth
        start = time.monotonic()
        _depth += 1
        try:
            return function(*args, **kwargs)
        finally:
            _depth -= 1
            if not _depth:
                record("interval", start)

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
    start, processor = time.monotonic(), time.process_time()
    from brainscore_core.runner.scoring import score_pair as score

    time_intervals()
    receipt = score(model, benchmark, **how)
    record("pair", start, model=model, benchmark=benchmark, processor=time.process_time() - processor)
    return receipt


def keep_benchmark(benchmark, **options):
    """Keep a benchmark as workers do, with timed intervals."""
    start, processor = time.monotonic(), time.process_time()
    from brainscore_core.runner import scoring

    time_intervals()
    load = scoring.load_benchmark
    loaded = []

    def load_timed(name):
        made = load(name)
        loaded.append(time.monotonic())
        return made

    scoring.load_benchmark = load_timed
    try:
        kept = scoring.keep_benchmark(benchmark, **options)
    finally:
        scoring.load_benchmark = load
    if loaded:
        record("load", start, loaded[0], benchmark=benchmark)
        record("ceiling", loaded[0], benchmark=benchmark)
        record("kept", start, benchmark=benchmark, processor=time.process_time() - processor)
    return kept


def forget_benchmark(benchmark):
    """Forget a benchmark as workers do."""
    from brainscore_core.runner.scoring import forget_benchmark as forget

    forget(benchmark)


def run_here(results, workers, small):
    """Run in this process, with the scorer above."""
    start = time.monotonic()
    atexit.register(gc.freeze)  # as the command ``brainscore`` does
    import brainscore
    import brainscore.runs

    brainscore.runs.SCORER = "runs:score_pair"
    models, benchmarks = SMALL if small else (MODELS, BENCHMARKS)
    if not small and "BRAINSCORE_MIRROR" in os.environ:
        benchmarks = (*benchmarks, *MEASURED)

    def on_event(event):
        now = time.monotonic()
        details = {name: getattr(event, name) for name in ("model", "benchmark", "worker") if hasattr(event, name)}
        record(type(event).__name__, now, now, **details)

    brainscore.run(list(models), list(benchmarks), results=results, workers=workers, on_event=on_event)
    record("run", start)


class Run:
    """One command: its seconds by the wall and of the processor, what its processes recorded, and its receipts."""

    def __init__(self, project, place, workers, small, networks):
        from brainscore_core.scoring import ResultsStore

        self.workers = workers
        plugins = plugins_with(project / "tests" / "plugins_at_scale", place, networks)
        self.seconds, self.processor, self.records = command(project, place, workers, small, plugins)
        self.again = command(project, place, workers, small, plugins)[0]
        self.store = ResultsStore(place / "results")
        self.receipts = {
            (receipt.model.identifier, receipt.benchmark.identifier): receipt
            for receipt in self.store.listing().newest_of_each()
        }

    def of(self, what):
        """Records of one kind, in order of their start."""
        return sorted((one for one in self.records if one["what"] == what), key=lambda one: one["start"])

    def total(self, *steps):
        """Seconds of steps, summed over receipts."""
        return sum(getattr(receipt.timings, step) or 0 for receipt in self.receipts.values() for step in steps)

    def parts(self):
        """Seconds of the workers in each part: (name, seconds, whether it is overhead)."""
        begin, end = self.records[0]["start"], self.records[0]["end"]
        program = self.of("run")[0]
        ready = self.of("ClusterReady")[0]["start"]
        scored = {(one["model"], one["benchmark"]): one for one in self.of("pair")}
        finished = {(one["model"], one["benchmark"]): one["end"] for one in self.of("PairFinished")}
        waits, last, ends = [], defaultdict(lambda: ready), {}
        for one in self.of("PairStarted"):
            pair = scored[one["model"], one["benchmark"]]
            waits.append((min(last[one["worker"]], pair["start"]), pair["start"]))
            last[one["worker"]] = pair["end"]
            ends[one["worker"]] = finished[one["model"], one["benchmark"]]
        ends = [*ends.values(), *[ready] * (self.workers - len(ends))]
        waited_for_receipts = sum(ends) - sum(last[worker] for worker in last) - (len(ends) - len(last)) * ready
        first = {}
        for one in self.of("ceiling"):
            first.setdefault(one["benchmark"], one)
        ceilings = sum(covered(one["start"], one["end"], waits) for one in first.values())
        waited = sum(stop - start for start, stop in waits)
        in_pairs = sum(one["end"] - one["start"] for one in scored.values())
        extraction = self.total("extraction")
        return [
            ("forward passes", extraction, False),
            ("metrics", self.total("score") - extraction, False),
            ("ceilings, the first estimate of each", self.total("ceiling") + ceilings, False),
            (
                "starting the program and its end",
                self.workers * (end - begin - program["end"] + program["start"]),
                True,
            ),
            ("imports, plan, start of workers", self.workers * (ready - program["start"]), True),
            ("between pairs: templates, processes, claims", waited - ceilings, True),
            ("loading models", self.total("load_model"), True),
            ("loading benchmarks in processes of models", self.total("load_benchmark"), True),
            (
                "receipts that pairs wait for",
                in_pairs - self.total("load_model", "load_benchmark", "ceiling", "score") + waited_for_receipts,
                True,
            ),
            ("waiting for the last pair", sum(max(ends) - one for one in ends), True),
            ("ending the workers", self.workers * (program["end"] - max(ends)), True),
        ]

    def table(self):
        """Seconds and shares of all parts."""
        everything = self.workers * self.seconds
        found = self.parts()
        intervals = sum(one["end"] - one["start"] for one in self.of("interval"))
        overhead = sum(seconds for _, seconds, over in found if over)
        rows = [[name, f"{seconds:.1f}", f"{100 * seconds / everything:.0f} %"] for name, seconds, _ in found]
        rows.append(
            ["overhead: all but the first three rows", f"{overhead:.1f}", f"{100 * overhead / everything:.0f} %"]
        )
        count = f"all: {len(self.receipts)} pairs, {self.seconds:.1f} s × {self.workers} workers"
        rows.append([count, f"{everything:.1f}", ""])
        rows.append(["of which intervals", f"{intervals:.1f}", f"{100 * intervals / everything:.0f} %"])
        for what, name in (("load", "loading benchmarks"), ("ceiling", "estimating ceilings")):
            seconds = sum(one["end"] - one["start"] for one in self.of(what))
            rows.append([f"{name} in templates, {len(self.of(what))} times", f"{seconds:.1f}", ""])
        rows.append(["of the processor, all processes", f"{self.processor:.1f}", ""])
        for what, name in (("pair", "pairs"), ("kept", "benchmarks and ceilings in templates")):
            seconds = sum(one["processor"] for one in self.of(what))
            rows.append([f"of which {name}", f"{seconds:.1f}", f"{100 * seconds / self.processor:.0f} %"])
        rows.append(["the same command again, nothing to do, by the wall", f"{self.again:.1f}", ""])
        return table(["part", "seconds", "share"], rows)


def covered(start, end, intervals):
    """Seconds of a span that at least one of the intervals covers."""
    seconds, position = 0.0, start
    for first, last in sorted(intervals):
        low, high = max(first, position), min(last, end)
        if high > low:
            seconds, position = seconds + high - low, high
    return seconds


def plugins_with(plugins, place, networks):
    """Copy the plugins of the run, with so many networks."""
    copied = shutil.copytree(plugins, place / "plugins")
    code = copied / "models" / "scale_networks" / "__init__.py"
    lines = [line for line in code.read_text().splitlines() if not line.startswith("model_registry[")]
    lines += [f'model_registry["scale-network-{seed}"] = lambda: make({seed})' for seed in range(networks)]
    code.write_text("\n".join(lines) + "\n")
    return copied


def command(project, place, workers, small, plugins):
    """Seconds of the whole command, of the processor, and what its processes recorded."""
    arguments = ["--run", str(place / "results"), "--workers", str(workers), *(["--small"] if small else [])]
    environment = {
        **os.environ,
        "PYTHONPATH": str(project),
        "BRAINSCORE_HOME": str(place / "home"),
        "BRAINSCORE_PLUGINS": str(plugins),
    }
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)  # counts processes whose parent ended first, on Linux
    with tempfile.TemporaryDirectory() as times:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([sys.executable, __file__, *arguments], env={**environment, _TIMES: times}, check=True)
        end = time.monotonic()
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        records = [json.loads(line) for path in Path(times).iterdir() for line in path.read_text().splitlines()]
    whole = {"what": "command", "start": start, "end": end}
    return end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, [whole, *records]


def value_difference(one, other):
    """Text of the largest difference of two estimates, relative to the value; empty if these are not estimates."""
    values = [
        [part.value, part.error, *(part.ci or ())] for part in (one, other) if getattr(part, "value", None) is not None
    ]
    pairs = list(zip(*values, strict=False)) if len(values) == 2 else []
    if not pairs or not pairs[0][0] or any(None in pair for pair in pairs):
        return ""
    return f" by {max(abs(a - b) for a, b in pairs) / abs(pairs[0][0]):.0e}"


def differences(one, other):
    """Pairs whose scores, intervals, ceilings or arrays differ between two runs, with what differs."""
    found = []
    for pair in sorted({*one.receipts, *other.receipts}):
        a, b = one.receipts.get(pair), other.receipts.get(pair)
        if a is None or b is None:
            found.append(f"{pair}: only in one run")
            continue
        parts = [
            f"{name}{value_difference(getattr(a, name), getattr(b, name))}"
            for name in ("state", "score", "raw", "ceiling")
            if getattr(a, name) != getattr(b, name)
        ]
        parts += [
            f"array {x.kind}"
            for x, y in zip(a.attachments, b.attachments, strict=True)
            if x.kind != "log" and (x.kind, x.sha256) != (y.kind, y.sha256)
        ]
        if parts:
            found.append(f"{pair}: {', '.join(parts)}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a new folder for results/ and home/")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--compare", type=Path, help="a copy of the project to compare with, such as a git worktree")
    parser.add_argument("--networks", type=int, default=7, help="number of networks, one model each")
    parser.add_argument("--small", action="store_true", help="three models on four benchmarks")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_here(arguments.run, arguments.workers, arguments.small)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = (arguments.keep or Path(folder) / "run").absolute()
        if place.exists():
            parser.error(f"{place} is there already")
        how = (arguments.workers, arguments.small, arguments.networks)
        before = None
        if arguments.compare:
            before = Run(arguments.compare.absolute(), Path(folder) / "before", *how)
            print(f"{before.table()}\n\n{arguments.compare}, above; this project, below\n")
        now = Run(HERE, place, *how)
        print(now.table())
        if before is not None:
            differing = differences(before, now)
            print(f"\n{len(differing)} of {len(now.receipts)} receipts differ")
            print("\n".join(differing))
    if arguments.write:
        write_section("runs", now.table())


if __name__ == "__main__":
    main()
