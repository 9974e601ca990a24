"""What planning 5,000 models × 300 benchmarks takes, and listing a store of 1.5 million receipts from its index.

    python perf/planning.py [--models 5000] [--benchmarks 300] [--read 20000] [--folder /dev/shm] [--write]

Each row is a process of its own; memory is its peak, libraries included. Receipts that are read for the first time are
whole ones, `--read` of them. In the store of all pairs each pair has its folder and a file in it, but the files are
hard links to one receipt: its index is made from arrays, as if they had been read, and compared with all folders.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import table, write_section


def names(kind, count):
    """Names of models or benchmarks."""
    return [f"{kind}{number:05d}" for number in range(count)]


def receipt(model, benchmark, number):
    """A whole receipt."""
    from brainscore_core.receipts.receipt import (
        BenchmarkInfo,
        CeilingEstimate,
        DataItem,
        Estimate,
        Memory,
        ModelInfo,
        PluginCode,
        Receipt,
        Timings,
    )

    code = PluginCode(name="plugin", sha256="0" * 64)
    score = {"value": number % 97 / 97, "error": 0.01, "ci": (0.1, 0.9), "ci_level": 0.95, "scale": "ceiled"}
    return Receipt(
        model=ModelInfo(identifier=model, plugin=code),
        benchmark=BenchmarkInfo(
            identifier=benchmark, version=1, parent="IT", bibtex="@misc{a, title={b}}", plugin=code
        ),
        state="scored",
        score=Estimate(**score),
        raw=Estimate(**{**score, "scale": "correlation"}),
        ceiling=CeilingEstimate(value=0.8, error=0.01, meaning="reliability"),
        data=(DataItem(kind="metric", identifier="pls", plugin=code),),
        timings=Timings(total=1.0 + number % 13),
        memory=Memory(peak_bytes=1_000_000_000, raised_here=True),
        created=f"2026-01-01T00:00:00.{number % 1_000_000:06d}Z",
    )


def write_whole(folder, models, benchmarks):
    """Write a receipt of every pair."""
    from brainscore_core.scoring import ResultsStore

    store = ResultsStore(folder)
    for number, (model, benchmark) in enumerate((m, b) for m in models for b in benchmarks):
        made = receipt(model, benchmark, number).identified()
        path = store.path_of(made)
        path.parent.mkdir(parents=True)
        path.write_text(made.to_json())


def write_folders(folder, models, benchmarks):
    """Make the folder of every pair with a hard link in it, and the index of the store."""
    import numpy as np

    from brainscore_core.results import index
    from brainscore_core.results.folder import FolderBackend
    from brainscore_core.results.index import table_of

    one = folder / "receipt"
    folder.mkdir()
    one.write_text(receipt("model", "benchmark", 0).identified().to_json())
    stems = [f"20260101T{number // 100:06d}{number % 100 * 10_000:06d}Z-0123456789ab" for number in range(len(models))]
    for benchmark in benchmarks:
        for model, stem in zip(models, stems, strict=True):
            pair = f"{folder}/{benchmark}/{model}"
            os.makedirs(pair)
            os.link(one, f"{pair}/{stem}.json")
    one.unlink()
    time.sleep(4)  # the time of modification of a folder counts once it is older than three seconds
    first = table_of([receipt("model", "benchmark", 0).identified()])
    texts = [*first.texts, *benchmarks, *models]
    n, m = len(benchmarks), len(models)
    columns = {name: np.repeat(column, n * m) for name, column in first.columns.items()}
    columns["benchmark"] = np.tile(np.arange(len(first.texts), len(first.texts) + n, dtype=np.int32), m)
    columns["model"] = np.repeat(np.arange(len(texts) - m, len(texts), dtype=np.int32), n)
    columns["id"] = np.repeat(np.array(stems, "S48"), n)
    columns["seconds"] = 1.0 + np.arange(n * m) % 13
    position = {text: number for number, text in enumerate(texts)}
    folders, numbers = [], np.empty((m, n), np.int32)
    for column, survey in enumerate(FolderBackend(folder).survey()):
        for name, when in zip(survey.folders, survey.times, strict=True):
            numbers[position[name] - len(texts) + m, column] = len(folders)
            folders.append((position[survey.name], position[name], when))
    columns["folder"] = numbers.ravel()
    index._Index(texts, np.array(folders, np.int64), columns).write(FolderBackend(folder))


def measure(step, folder, models, benchmarks):
    """Do one step, and print its seconds, processor seconds and megabytes."""
    from brainscore_core.runner.plan import make_plan
    from brainscore_core.scoring import Listing, ResultsStore

    store = Listing() if step == "plan-empty" else ResultsStore(folder)
    start, cpu = time.perf_counter(), time.process_time()
    if step == "list":
        count = len(store.table())
    else:
        plan = make_plan(models, benchmarks, store)
        count = len(plan.pending) + len(plan.done)
        assert len(plan.pending) == (len(models) * len(benchmarks) if step == "plan-empty" else 0)
    found = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "count": count}
    print(json.dumps({**found, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=5000)
    parser.add_argument("--benchmarks", type=int, default=300)
    parser.add_argument("--read", type=int, default=20_000, help="whole receipts, which are read for the first time")
    parser.add_argument("--folder", type=Path, help="where stores are made; by default that of temporary files")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        step, folder, models, benchmarks = arguments.measure
        measure(step, folder, names("model", int(models)), names("benchmark", int(benchmarks)))
        return
    rows = []

    def step(label, name, folder, models, benchmarks):
        command = [sys.executable, __file__, "--measure", name, str(folder), str(models), str(benchmarks)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        each = f"{1e6 * found['cpu'] / found['count']:.2f}"
        rows.append(
            [label, f"{found['count']:,}", f"{found['seconds']:.2f}", f"{found['cpu']:.2f}", each, f"{found['mb']:.0f}"]
        )
        print(*rows[-1], flush=True)

    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        small, large = Path(name) / "small", Path(name) / "large"
        step("plan, nothing scored", "plan-empty", "-", arguments.models, arguments.benchmarks)
        few = max(arguments.read // arguments.benchmarks, 1)
        write_whole(small, names("model", few), names("benchmark", arguments.benchmarks))
        time.sleep(4)
        step("list a store without an index", "list", small, few, arguments.benchmarks)
        step("list it again", "list", small, few, arguments.benchmarks)
        write_folders(large, names("model", arguments.models), names("benchmark", arguments.benchmarks))
        step("list a large store with an index", "list", large, arguments.models, arguments.benchmarks)
        step("plan, everything scored", "plan", large, arguments.models, arguments.benchmarks)
        size = (large / ".index.npz").stat().st_size
    text = table(["step", "pairs", "s", "of the processor, s", "of the processor, µs a pair", "peak, MB"], rows)
    text += (
        f"\n\nThe index has {size / 1e6:.0f} MB, {size / arguments.models / arguments.benchmarks:.0f} bytes a receipt."
    )
    print(text)
    if arguments.write:
        write_section("planning", text)


if __name__ == "__main__":
    main()
