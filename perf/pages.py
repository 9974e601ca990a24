"""How long each page of a large site takes, every address asked for the first time: 2,000 models × 300 benchmarks.

Run with ``python perf/pages.py [--models 2000] [--benchmarks 300] [--write]``. One process of the site answers over
loopback; times are until the first byte, and until the end of the answer with the processor time of the server.
"""

import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _simulated_site import FILL, memory, site
from _tables import table, write_section

FIRST = 12
"""Addresses of each kind that are asked for, at most; each is asked for once, so that no cached answer counts."""


def addresses(models, benchmarks):
    """Kinds of pages with their addresses."""
    families = ("convnet", "resnet", "vit", "recurrent")
    names = [f"simulated-{families[number % 4]}-{number:03d}" for number in range(0, models, max(1, models // FIRST))]
    leaves = [f"Simulated{number:03d}.V1-pls" for number in range(0, benchmarks, 24)]
    regions = ("V1", "V2", "V4", "IT")
    return {
        "home": ["/"],
        "texts": ["/about/", "/faq/", "/community/", "/citation/"],
        "API, one score": ["/api/v1/scores?limit=1", *(f"/api/v1/scores?limit=1&benchmark={node}" for node in regions)],
        "leaderboard": ["/vision/leaderboard/"],
        "leaderboard, sorted": [f"/vision/leaderboard/?sort={node}" for node in (*regions, "model", "parameters")],
        "leaderboard, filtered": [
            f"/vision/leaderboard/?region={a}&region={b}" for a in regions for b in regions if a < b
        ],
        "leaderboard, as of a day": [f"/vision/leaderboard/?at=2024-0{month}-01" for month in (4, 6)],
        "data of the leaderboard's script": ["/vision/leaderboard/data.json"],
        "list of models": [f"/vision/models/?page={page}" for page in range(1, 9)],
        "list of benchmarks": ["/vision/benchmarks/"],
        "model card": [f"/vision/model/{name}/" for name in names[:FIRST]],
        "model card with steps of the rank": [f"/vision/model/{name}/?history=rank" for name in names[:4]],
        "benchmark card": [f"/vision/benchmark/{name}/" for name in leaves[:FIRST]],
        "two benchmarks": [f"/vision/compare/?x={leaves[0]}&y={name}" for name in leaves[1:FIRST]],
        "two models": [f"/vision/compare/?mode=models&first={names[0]}&second={name}" for name in names[1:FIRST]],
        "score against size": [f"/vision/compare/?mode=size&y={name}" for name in regions],
        "matrix of all benchmarks": ["/vision/compare/?mode=matrix&level=benchmarks"],
        "matrix of all benchmarks, ranks": ["/vision/compare/?mode=matrix&level=benchmarks&method=spearman"],
    }


def processor_seconds(process):
    """Processor time of the server's processes."""
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    ticks = 0
    for number in (str(process.pid), *children):
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def ask(port, address):
    """Return seconds to the first byte, the body, and its status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    start = time.perf_counter()
    connection.request("GET", address)
    answer = connection.getresponse()
    first = answer.read(1)
    seconds = time.perf_counter() - start
    body = first + answer.read()
    connection.close()
    return seconds, body, answer.status


def main():
    """Fill, serve, read, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--benchmarks", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    options = parser.parse_args()
    rows, firsts = [], []
    with tempfile.TemporaryDirectory() as folder:
        filling = [sys.executable, "-c", FILL, str(options.models), str(options.benchmarks)]
        subprocess.run(filling, env={**os.environ, "BRAINSCORE_SITE_HOME": folder}, check=True)
        with site(folder, 1) as (port, process):
            while ask(port, "/health/live")[2] != 200:
                time.sleep(0.5)
            ask(port, "/vision/leaderboard/?errors=1")  # loads the scores, as once per change
            for name, paths in addresses(options.models, options.benchmarks).items():
                before, times, elements = processor_seconds(process), [], 0
                for path in paths:
                    seconds, body, status = ask(port, path)
                    if status != 200:
                        sys.exit(f"{path}: {status}")
                    times.append(seconds)
                    elements = max(
                        elements, len(re.findall(rb"<[a-z]", body)) if body.startswith((b"<!", b"\n<!")) else 0
                    )
                spent = (processor_seconds(process) - before) / len(paths)
                firsts += times
                median, longest = statistics.median(times), max(times)
                cells = (len(paths), f"{1000 * median:,.0f}", f"{1000 * longest:,.0f}", f"{1000 * spent:,.0f}")
                rows.append([name, *map(str, cells), f"{elements:,}" if elements else ""])
                print(rows[-1], flush=True)
            used = memory(process)
    head = ["page", "addresses", "first byte, median, ms", "longest, ms", "of the processor, ms", "elements"]
    text = (
        f"{options.models:,} models × {options.benchmarks} benchmarks × 2 versions in SQLite, one process of "
        f"`brainscore serve`, each address asked for once. Median of all: {1000 * statistics.median(firsts):,.0f} ms "
        f"to the first byte. The server holds {used / 1e6:,.0f} MB at the end.\n\n{table(head, rows)}"
    )
    print(text)
    if options.write:
        write_section("pages", text)


if __name__ == "__main__":
    main()
