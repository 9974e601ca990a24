"""500 models on 300 benchmarks of two versions: how long a site takes to load them from an exported table.

    python perf/ingest.py [--models 500] [--benchmarks 300] [--versions 2] [--postgresql URL] [--write]

Rows are simulated, with all columns that `brainscore results export` writes. Each database is loaded by a process of
its own, and then once more, when all rows are known; the processor's time is that process's, without the server's.
Memory is that process's highest, libraries included. `URL` names an empty PostgreSQL database, such as
postgresql://postgres@/site?host=/tmp.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import run, table, write_section

START = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1e6)
PARENTS = ("V1", "V2", "V4", "IT", "behavior_vision", "engineering_vision")
STATES = ("scored", "failed", "undefined", "not applicable")


def simulated(models, benchmarks, versions):
    """Columns of a table, by name, in the order of their ids."""
    rng = np.random.default_rng(0)
    model, benchmark, version = (
        axis.ravel() for axis in np.meshgrid(*map(np.arange, (models, benchmarks, versions)), indexing="ij")
    )
    n = len(model)
    created = START + version * 200 * 86_400_000_000 + rng.permutation(n) * 40_000_000
    order = np.argsort(created)
    model, benchmark, version, created = model[order], benchmark[order], version[order], created[order]
    state = np.array(STATES, dtype=object)[rng.choice(4, n, p=(0.94, 0.03, 0.01, 0.02))]
    scored = state == "scored"

    def number(low, high, given=scored):
        return np.where(given, rng.uniform(low, high, n), np.nan)

    score, error = number(0, 0.8), number(0.005, 0.03)
    ceiling = (0.6 + 0.4 * rng.random((benchmarks, versions)))[benchmark, version]
    stamps = np.datetime_as_string(created.astype("datetime64[us]"))
    hashes = rng.integers(0, 16**12, n)
    columns = {
        "id": [
            f"{stamp.replace('-', '').replace(':', '').replace('.', '')}Z-{value:012x}"
            for stamp, value in zip(stamps, hashes, strict=True)
        ],
        "created": created,
        "model": [f"simulated-{one:03d}" for one in model],
        "benchmark": [f"Simulated{one:03d}.{PARENTS[one % 6]}-pls" for one in benchmark],
        "version": (version + 1).astype(str),
        "parent": [PARENTS[one % 6] for one in benchmark],
        "control": np.zeros(n, dtype=bool),
        "state": state,
        "reason": np.where(scored, None, "ValueError: a simulated failure, with a message as long as others are"),
        "score": score,
        "ceiling": ceiling,
        "raw": score * ceiling,
        "ceiling_meaning": ["reliability"] * n,
    }
    for prefix, value, spread in (("", score, error), ("raw_", score * ceiling, error), ("ceiling_", ceiling, 0.02)):
        columns[f"{prefix}error"] = np.where(np.isnan(value), np.nan, spread)
        columns[f"{prefix}ci_low"], columns[f"{prefix}ci_high"] = value - 2 * spread, value + 2 * spread
        columns[f"{prefix}ci_level"] = np.where(np.isnan(value), np.nan, 0.95)
        columns[f"{prefix}ci_estimates"] = ["other stimuli and neuroids: simulated"] * n
        columns[f"{prefix}ci_method"] = ["bootstrap: simulated"] * n
    return columns, n


def write_table(path, models, benchmarks, versions):
    """Write the table as `export_table` writes it; gives the number of rows."""
    import pyarrow
    from pyarrow import parquet

    from brainscore_core.scoring import EXPORT_COLUMNS

    given, n = simulated(models, benchmarks, versions)
    types = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "integer": pyarrow.int64(),
        "truth": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
    }
    others = {"text": "a text of simulated circumstances", "number": 12.5, "integer": 1_000_000, "truth": False}
    arrays = [
        pyarrow.array(given[column.name], type=types[column.type], from_pandas=True)
        if column.name in given
        else pyarrow.repeat(pyarrow.scalar(others[column.type], type=types[column.type]), n)
        for column in EXPORT_COLUMNS
    ]
    parquet.write_table(pyarrow.table(arrays, names=[column.name for column in EXPORT_COLUMNS]), path)
    return n


def load(path):
    """Load a table twice into an empty database, and print what it took."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "brainscore_web.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from brainscore_web.leaderboard.ingest import ingest_table

    seconds, of_processor = [], []
    for _ in range(2):
        start, start_of_processor = time.perf_counter(), time.process_time()
        report = ingest_table(path)
        seconds.append(time.perf_counter() - start)
        of_processor.append(time.process_time() - start_of_processor)
        if report.problems:
            sys.exit(f"{path}: {report.problems[0]}")
        if len(seconds) == 1:
            added = report.added
    if report.added or report.known != added:
        sys.exit(f"{path}: {report.added} rows were new the second time")
    status = Path("/proc/self/status").read_text()  # getrusage would tell of the process that started this one, too
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024
    print(json.dumps({"added": added, "seconds": seconds, "of_processor": of_processor[0], "peak": peak}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("models", 500), ("benchmarks", 300), ("versions", 2)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--postgresql", metavar="URL", help="an empty database to load, too")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load(arguments.load)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.parquet"
        n = write_table(path, arguments.models, arguments.benchmarks, arguments.versions)
        size = path.stat().st_size
        databases = {"SQLite": f"sqlite:///{folder}/site.sqlite3"}
        if arguments.postgresql:
            databases["PostgreSQL"] = arguments.postgresql
        os.environ["BRAINSCORE_SITE_HOME"] = folder
        for name, url in databases.items():
            os.environ["DATABASE_URL"] = url
            found = run(sys.executable, str(Path(__file__).resolve()), "--load", str(path))
            first, again = found["seconds"]
            numbers = (first, found["of_processor"], again)
            rows.append([name, *(f"{one:.1f}" for one in numbers), f"{n / first:,.0f}", f"{found['peak'] / 1e6:.0f}"])
    text = f"{n:,} rows, {size / 1e6:.0f} MB of Parquet.\n\n"
    text += table(["database", "s", "of the processor, s", "again, s", "rows/s", "peak, MB"], rows)
    print(text)
    if arguments.write:
        write_section("ingest", text)


if __name__ == "__main__":
    main()
