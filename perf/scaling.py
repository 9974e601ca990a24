"""What 1,000 models on 300 benchmarks will take, from the receipts of a run that was measured.

Run with ``python perf/scaling.py RESULTS [--activations FOLDER] [--threads 1] [--start SECONDS] [--write]``: prints the
tables, and with ``--write`` puts them into docs/performance.md. The run must have begun with no stored activations,
so that each model's time to extract them is in its receipts. `measure` and `extrapolate` are pure functions.

Assumptions
- Benchmarks to come are of the same mix of metrics, and of the same sizes, as those measured; models, too.
- Further benchmarks bring further stimuli at the same rate: nothing is saved beyond what the measured run shares.
- A sum follows the mean, not the median: a few large models make most of the work. Medians are shown beside.
- Workers do not slow each other down: each has its own cores, and the shared disk keeps up.
- The cores are like those measured. A GPU would shorten extraction alone.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _tables import table, write_section

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
WORKERS = (1, 16, 256)
_COUNTED = ("scored", "undefined")  # states that stand for the whole of the work


@dataclass(frozen=True)
class Pair:
    """What is taken from one receipt; seconds and bytes."""

    model: str
    benchmark: str
    total: float
    extraction: float
    loading: float
    receipt_bytes: int
    attachment_bytes: int


@dataclass(frozen=True)
class Layer:
    """A stored layer: so many stimuli of a model, and bytes."""

    model: str
    stimuli: str
    count: int
    bytes: int


@dataclass(frozen=True)
class Measured:
    """Means of what was measured; seconds and bytes.

    `metric` has mean and median seconds by kind, and how many benchmarks are of that kind. `extraction` and
    `activations` are per model and benchmark. `largest` is how many times the mean a model takes at most.
    """

    models: int
    benchmarks: int
    extraction: float
    extraction_median: float
    per_image: float | None
    per_image_and_layer: float | None
    metric: dict[str, tuple[float, float, int]]
    loading: float
    activations: float
    bytes_per_layer: float | None
    receipt: float
    attachments: float
    largest: float


@dataclass(frozen=True)
class Scaled:
    """What it will take: core-hours by part, bytes by part, hours by the wall by number of workers."""

    core_hours: dict[str, float]
    bytes: dict[str, float]
    hours: dict[int, float]


def kind_of(benchmark: str) -> str:
    """Metric of a benchmark, as its name says it.

    >>> kind_of("MajajHong2015public.IT-pls"), kind_of("Simulated2026.IT:cka_cv@half"), kind_of("Coggan2024")
    ('pls', 'cka_cv', 'other')
    """
    found = re.search(r"[-:]([A-Za-z][\w.]*)(@.*)?$", benchmark)
    return found[1] if found else "other"


def measure(pairs: Sequence[Pair], layers: Iterable[Layer] = ()) -> Measured:
    """Means over the pairs of a run."""
    models = sorted({pair.model for pair in pairs})
    benchmarks = sorted({pair.benchmark for pair in pairs})
    extraction = [sum(pair.extraction for pair in pairs if pair.model == model) for model in models]
    whole = [sum(pair.total for pair in pairs if pair.model == model) for model in models]
    by_kind: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_kind.setdefault(kind_of(pair.benchmark), []).append(pair)
    metric = {}
    for kind, ones in sorted(by_kind.items()):
        seconds = [max(pair.total - pair.extraction - pair.loading, 0.0) for pair in ones]
        count = len({pair.benchmark for pair in ones})
        metric[kind] = statistics.fmean(seconds), statistics.median(seconds), count
    stored = [layer for layer in layers if layer.model in models]
    images = sum({(layer.model, layer.stimuli): layer.count for layer in stored}.values())
    rows = sum(layer.count for layer in stored)
    of_stored = sum(
        seconds for model, seconds in zip(models, extraction, strict=True) if any(one.model == model for one in stored)
    )
    return Measured(
        models=len(models),
        benchmarks=len(benchmarks),
        extraction=statistics.fmean(extraction) / len(benchmarks),
        extraction_median=statistics.median(extraction) / len(benchmarks),
        per_image=of_stored / images if images else None,
        per_image_and_layer=of_stored / rows if rows else None,
        metric=metric,
        loading=statistics.fmean(pair.loading for pair in pairs),
        activations=sum(layer.bytes for layer in stored) / len(models) / len(benchmarks),
        bytes_per_layer=statistics.median(layer.bytes for layer in stored) if stored else None,
        receipt=statistics.fmean(pair.receipt_bytes for pair in pairs),
        attachments=statistics.fmean(pair.attachment_bytes for pair in pairs),
        largest=max(whole) / statistics.fmean(whole),
    )


def extrapolate(
    measured: Measured,
    *,
    models: int = 1000,
    benchmarks: int = 300,
    threads: int = 1,
    start: float = 0.0,
    workers: Sequence[int] = WORKERS,
) -> Scaled:
    """From means to a whole leaderboard; `start` is the seconds that a model's process takes to begin."""
    pairs = models * benchmarks
    kinds = sum(count for _, _, count in measured.metric.values())
    metric = sum(mean * count for mean, _, count in measured.metric.values()) / kinds
    seconds = {
        "extraction": pairs * measured.extraction,
        "metrics": pairs * metric,
        "loading": pairs * measured.loading,
        "start of processes": models * start,
    }
    total = sum(seconds.values())
    longest = total / models * measured.largest  # a model is one task, on one worker
    return Scaled(
        core_hours={part: value * threads / 3600 for part, value in seconds.items()},
        bytes={
            "activations": pairs * measured.activations,
            "receipts": pairs * measured.receipt,
            "raw values, predictions, logs": pairs * measured.attachments,
        },
        hours={count: max(total / count, longest) / 3600 for count in workers},
    )


def read_receipts(results: str) -> list[Pair]:
    """What the newest receipts of a results folder say."""
    from brainscore_core.scoring import ResultsStore

    found = []
    for receipt in ResultsStore(results).listing().newest_of_each():
        times = receipt.timings
        if receipt.state in _COUNTED and times.total is not None:
            found.append(
                Pair(
                    model=receipt.model.identifier,
                    benchmark=receipt.benchmark.identifier,
                    total=times.total,
                    extraction=getattr(times, "extraction", None) or 0.0,
                    loading=(times.load_model or 0.0) + (times.load_benchmark or 0.0),
                    receipt_bytes=len(receipt.to_json().encode()),
                    attachment_bytes=sum(attachment.bytes for attachment in receipt.attachments),
                )
            )
    if not found:
        sys.exit(f"{results} has no receipt of a scored pair")
    return found


def read_layers(folder: Path) -> list[Layer]:
    """Stored layers of a folder of activations, from their manifests."""
    found = []
    for path in sorted(folder.rglob("*.json")):
        manifest: Mapping[str, Any] = json.loads(path.read_text())
        if "shape" in manifest and "parts" in manifest:
            info, parts = manifest.get("info") or {}, manifest["parts"]
            stimuli = json.dumps(parts.get("stimuli"), sort_keys=True)
            count = manifest["shape"][0]
            found.append(Layer(str(info.get("model", "")), stimuli, count, manifest["nbytes"]))
    return found


def measure_start() -> float:
    """Seconds until a process has imported what scores a pair."""
    times = []
    for _ in range(3):
        before = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import brainscore_core.runner.scoring, torch"], check=True)
        times.append(time.perf_counter() - before)
    return statistics.median(times)


def size(count: float) -> str:
    """Bytes for people."""
    from brainscore_core.memory import format_size

    return format_size(count)


def tables(measured: Measured, scaled: Scaled, *, models: int, benchmarks: int, threads: int, start: float) -> str:
    """Both tables, as Markdown."""
    rows = [["extraction, per model and benchmark", seconds(measured.extraction), seconds(measured.extraction_median)]]
    if measured.per_image is not None and measured.per_image_and_layer is not None:
        rows.append(["extraction, per stimulus", f"{1e3 * measured.per_image:.2f} ms", ""])
        rows.append(["extraction, per stimulus and layer", f"{1e3 * measured.per_image_and_layer:.3f} ms", ""])
    for kind, (mean, median, count) in measured.metric.items():
        rows.append([f"metric and ceiling, `{kind}` ({count} benchmarks)", seconds(mean), seconds(median)])
    rows.append(["loading model and benchmark, per pair", seconds(measured.loading), ""])
    rows.append(["start of a process, per model", seconds(start), ""])
    if measured.bytes_per_layer is not None:
        rows.append(["stored layer", "", size(measured.bytes_per_layer)])
    rows.append(["receipt", size(measured.receipt), ""])
    rows.append(["raw values, predictions, logs, per pair", size(measured.attachments), ""])
    total = sum(scaled.core_hours.values())
    whole = [["core-hours", f"{total:,.0f}"]]
    whole += [[f"– {part}", f"{value:,.0f}"] for part, value in scaled.core_hours.items()]
    whole += [["storage", size(sum(scaled.bytes.values()))]]
    whole += [[f"– {part}", size(value)] for part, value in scaled.bytes.items()]
    whole += [[f"wall time, {count} workers", duration(hours)] for count, hours in scaled.hours.items()]
    return "\n".join(
        [
            f"Measured: {measured.models} models × {measured.benchmarks} benchmarks, {threads} thread"
            f"{'s' if threads > 1 else ''} a worker.\n",
            table(["measured", "mean", "median"], rows),
            "",
            table([f"extrapolated to {models:,} models × {benchmarks:,} benchmarks", ""], whole),
        ]
    )


def seconds(value: float) -> str:
    """Seconds for people."""
    return f"{value:.2f} s"


def duration(hours: float) -> str:
    """Hours, or days."""
    return f"{hours:,.1f} hours" if hours < 48 else f"{hours / 24:,.1f} days"


def main() -> None:
    """Read, extrapolate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="folder or s3:// address of the measured run")
    parser.add_argument("--activations", type=Path, help="folder of the activations that this run stored")
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--benchmarks", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1, help="of each worker in the measured run")
    parser.add_argument("--start", type=float, help="seconds that a process takes to begin; measured if left out")
    parser.add_argument("--note", default="", help="a sentence above the tables")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args()
    layers = read_layers(options.activations) if options.activations else []
    measured = measure(read_receipts(options.results), layers)
    start = measure_start() if options.start is None else options.start
    goal = {"models": options.models, "benchmarks": options.benchmarks, "threads": options.threads, "start": start}
    text = tables(measured, extrapolate(measured, **goal), **goal)
    text = f"{options.note}\n\n{text}" if options.note else text
    print(text)
    if options.write:
        write_section("scaling", text, DOCUMENT)


if __name__ == "__main__":
    main()
