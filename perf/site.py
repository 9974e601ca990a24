"""How the site stands 50 readers at once: a leaderboard of 500 models × 300 benchmarks, on loopback.

Run with ``python perf/site.py [--write]``; needs the program wrk (on Debian: ``apt install wrk``).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _simulated_site import FILL, memory, site
from _tables import table, write_section

SCRIPT = """
local paths = {%s}
local place = 0
request = function()
  place = place %% #paths + 1
  return wrk.format("GET", paths[place], {["Accept-Encoding"] = "gzip", ["Host"] = "127.0.0.1"})
end
"""
READERS = {
    "the leaderboard's page": ["/vision/leaderboard/"],
    "what its script asks for": ["/vision/leaderboard/data.json"],
    "the page sorted, filtered, expanded in 50 ways": [
        f"/vision/leaderboard/?family={family}&sort={sort}&open={node}"
        for family in ("convnet", "resnet", "vit", "recurrent", "")
        for sort in ("V1", "-V4", "IT", "average_vision", "model")
        for node in ("V1", "IT")
    ],
    "a model's card": [f"/vision/model/simulated-convnet-{number:03d}/" for number in range(0, 80, 4)],
    "a benchmark's card": [f"/vision/benchmark/Simulated{number:03d}.V1-pls/" for number in (0, 24, 48, 72)],
    "the comparison of two benchmarks": [
        f"/vision/compare/?x=Simulated000.V1-pls&y=Simulated{number:03d}.V1-pls" for number in (24, 48, 72)
    ],
}


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


def read(port, paths, readers, seconds, folder):
    """Let readers ask for pages, one after the other without a pause, and count."""
    script = Path(folder) / "paths.lua"
    script.write_text(SCRIPT % ", ".join(f'"{path}"' for path in paths))
    command = ["wrk", "-t1", f"-c{readers}", f"-d{seconds}s", "--timeout", "10s", "--latency", "-s", script,
               f"http://127.0.0.1:{port}/"]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spread = dict(re.findall(r"^\s+(50|99)%\s+(\S+)", said, re.MULTILINE))
    total = re.search(r"(\d+) requests in ([\d.]+)s, ([\d.]+)(B|KB|MB|GB) read", said)
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    size = float(total[3]) * {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}[total[4]] / int(total[1])
    return {
        "rate": int(total[1]) / float(total[2]),
        "median": milliseconds(spread["50"]),
        "p99": milliseconds(spread["99"]),
        "longest": milliseconds(re.search(r"Latency\s+\S+\s+\S+\s+(\S+)", said)[1]),
        "errors": int(errors[1] if errors else 0) + sum(int(n) for n in (broken.groups() if broken else ())),
        "size": size,
    }


def main():
    """Fill, serve, read, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=500)
    parser.add_argument("--benchmarks", type=int, default=300)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("the program wrk is needed (on Debian: apt install wrk)")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        filling = [sys.executable, "-c", FILL, str(options.models), str(options.benchmarks)]
        subprocess.run(filling, env={**os.environ, "BRAINSCORE_SITE_HOME": folder}, check=True)
        with site(folder, options.workers) as (port, process):
            for name, paths in READERS.items():
                read(port, paths, 4, 5, folder)  # each process has seen each page once
                start = time.perf_counter()
                got = read(port, paths, options.readers, options.seconds, folder)
                print(
                    name, {key: round(value, 1) for key, value in got.items()}, f"{time.perf_counter() - start:.0f} s"
                )
                numbers = [f"{got[key]:,.0f}" for key in ("rate", "median", "p99", "longest", "errors")]
                rows.append([name, f"{got['size'] / 1000:.1f}", *numbers])
            used = memory(process)
    head = ["what is read", "kB", "a second", "median, ms", "99 %, ms", "longest, ms", "errors"]
    text = (
        f"{options.readers} readers at once, without pauses, {options.seconds} s each; {options.models} models × "
        f"{options.benchmarks} benchmarks × 2 versions in SQLite, {options.workers} processes of `brainscore serve`, "
        "the readers on the same 2 cores. Where there are many addresses, the first answer of each process to each "
        "of them is counted, too, unless the 5 s before covered it. The server's processes hold "
        f"{used / 1e6:,.0f} MB at the end.\n\n{table(head, rows)}"
    )
    print(text)
    if options.write:
        write_section("site", text)


if __name__ == "__main__":
    main()
