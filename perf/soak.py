"""A site with readers, uploads and submissions for a while: errors, times, memory.

Run with ``python perf/soak.py [--minutes 20] [--write]``. Needs bubblewrap (on Debian: ``apt install bubblewrap``).
Everything happens in a temporary folder and on loopback; scores of the leaderboard are simulated.
"""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from statistics import median, quantiles
from urllib.error import HTTPError
from urllib.request import urlopen

from _running_site import (
    HERE,
    PASSWORD,
    Process,
    Visitor,
    clean_environment,
    free_port,
    member,
    plugins,
    submit,
    wait_for,
)
from _tables import table, write_section

READ = [
    "/", "/vision/leaderboard/", "/vision/leaderboard/data.json", "/vision/leaderboard/?sort=-IT&open=V1",
    "/vision/models/", "/vision/benchmarks/", "/vision/model/simulated-convnet-000/",
    "/vision/benchmark/Simulated000.V1-pls/", "/vision/compare/?x=Simulated000.V1-pls&y=Simulated024.V1-pls",
    "/api/v1/leaderboard", "/api/v1/models", "/tutorials/", "/competitions/", "/scoring/",
]  # fmt: skip


def processes_below(pid):
    """A process and all that it started."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        for task in Path(f"/proc/{one}/task").glob("*/children") if Path(f"/proc/{one}").exists() else ():
            try:
                waiting += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def memory_of(pid):
    """Bytes of a process and all below it, shared ones divided."""
    total = 0
    for one in processes_below(pid):
        try:
            total += int(re.search(r"Pss:\s+(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text())[1]) * 1024
        except (OSError, TypeError):
            continue
    return total


class Counts:
    """What readers and senders saw."""

    def __init__(self):
        self.times, self.errors, self.sent, self.uploads = [], [], 0, 0


def reader(site, counts, stop, pause):
    """Open one page after the other."""
    while not stop.is_set():
        path = random.choice(READ)
        start = time.perf_counter()
        try:
            with urlopen(f"{site}{path}", timeout=60) as answer:
                answer.read()
            counts.times.append(time.perf_counter() - start)
        except HTTPError as error:
            counts.errors.append(f"{path}: {error.code}")
        except OSError as error:
            counts.errors.append(f"{path}: {error}")
        stop.wait(random.uniform(0, 2 * pause))


def uploader(site, counts, stop, folder, pause):
    """Upload one simulated data set after the other, through the pages."""
    visitor = Visitor(site)
    visitor.post("/accounts/login/", login="uploader@example.org", password=PASSWORD)
    number = 0
    while not stop.is_set():
        name = f"Simulated2026.soak{number}"
        try:
            files = packages(folder / str(number), name)
            address, _ = visitor.post(
                "/uploads/new/", identifier=name, assembly_identifier=name, assembly_class="NeuroidAssembly",
                visibility="public",
            )  # fmt: skip
            path = address.removeprefix(site)
            for kind, file in files.items():
                visitor.post(f"{path}{kind}/", page=path, files={"file": (file.name, file.read_bytes())})
            visitor.post(f"{path}check/", page=path)
            until = time.monotonic() + 120
            while '"accepted"' not in (said := visitor.get(f"{path}state/")[1]):
                if time.monotonic() > until or '"refused"' in said:
                    counts.errors.append(f"upload {number}: {said[:200]}")
                    break
                time.sleep(1)
            else:
                counts.uploads += 1
        except (OSError, TypeError) as error:
            counts.errors.append(f"upload {number}: {error}")
        number += 1
        stop.wait(pause)


def packages(folder, name):
    """Simulated stimuli and measurements, packaged as contributors do."""
    import numpy as np
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio import packaging
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    folder.mkdir(parents=True)
    rng, ids = np.random.default_rng(0), [f"img_{number:02d}" for number in range(20)]
    for one in ids:
        Image.fromarray(rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)).save(folder / f"{one}.png")
    stimuli = StimulusSet({"stimulus_id": ids, "object": ["cat", "dog"] * 10})
    stimuli.name = name
    stimuli.stimulus_paths = {one: folder / f"{one}.png" for one in ids}
    assembly = NeuroidAssembly(
        rng.normal(size=(40, 50)),
        coords={
            "stimulus_id": ("presentation", ids * 2),
            "repetition": ("presentation", [0] * 20 + [1] * 20),
            "neuroid_id": ("neuroid", [f"site_{number}" for number in range(50)]),
            "region": ("neuroid", ["IT"] * 50),
        },
        dims=["presentation", "neuroid"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = packaging.package_stimulus_set_locally(stimuli, name, downloads_path=folder)
        other = packaging.package_data_assembly_locally(assembly, name, name, "NeuroidAssembly", downloads_path=folder)
    return {"csv": Path(one["csv_path"]), "zip": Path(one["zip_path"]), "nc": Path(other["path"])}


def submitter(site, counts, stop, token, pause):
    """Send one model after the other."""
    while not stop.is_set():
        name = f"tiles-{counts.sent:03d}"
        try:
            submit(site, token, plugins.model_files(name, size=16 + counts.sent % 8), name)
            counts.sent += 1
        except RuntimeError as error:
            counts.errors.append(f"submission {name}: {error}")
        stop.wait(pause)


def main():
    """Run, watch, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--write", action="store_true", help="write docs/operators/reliability.md")
    options = parser.parse_args()
    if shutil.which("bwrap") is None:
        sys.exit("bubblewrap is needed (on Debian: apt install bubblewrap)")
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)  # sandboxed code runs as another user
        (home / "mail").mkdir()
        environment = clean_environment(
            home,
            BRAINSCORE_SITE_RESULTS=str(home / "results"),
            BRAINSCORE_SITE_MAIL=f"file://{home / 'mail'}",
            BRAINSCORE_SITE_SCORED_BENCHMARKS="Simulated2026.V1-rdm",
            BRAINSCORE_SITE_SCORED_MODELS="none",
            BRAINSCORE_SITE_OPEN_SUBMISSIONS="1000",
            BRAINSCORE_SITE_SUBMISSIONS_A_DAY="10000",
            BRAINSCORE_SITE_RATE_ANONYMOUS="1000000",
            BRAINSCORE_SITE_COMPUTING_ANONYMOUS="1000000",
            BRAINSCORE_SITE_COMPUTING_KNOWN="1000000",
            BRAINSCORE_SITE_RATE_KNOWN="1000000",
        )
        os.environ.clear()
        os.environ.update(environment)
        rows, counts, words = watch(options, home, environment)
    text = "\n".join([*words, "", table(["minute", "web processes, MB", "worker, MB"], rows)])
    print(text)
    for error in counts.errors[:20]:
        print("error:", error)
    if options.write:
        write_section("soak", text, HERE.parent / "docs" / "operators" / "reliability.md")


def watch(options, home, environment):
    """The experiment itself."""
    from brainscore_web.serving import prepare

    (home / "results").mkdir()
    prepare(None, say=print)
    from brainscore_web.leaderboard.simulation import simulate_leaderboard

    simulate_leaderboard(models=100, benchmarks=60, versions=2, private=0)
    token = member("modeller@example.org")
    member("uploader@example.org")
    log, port = home / "log", free_port()
    program = [sys.executable, "-m", "brainscore"]
    serve = [*program, "serve", "--port", str(port), "--no-worker", "--results", str(home / "results")]
    web, worker = Process("server", serve, environment, log), Process("worker", [*program, "worker"], environment, log)
    site, counts, stop = f"http://127.0.0.1:{port}", Counts(), threading.Event()
    wait_for(site)
    jobs = [threading.Thread(target=reader, args=(site, counts, stop, 0.2)) for _ in range(options.readers)]
    jobs.append(threading.Thread(target=uploader, args=(site, counts, stop, home / "packages", 20)))
    jobs.append(threading.Thread(target=submitter, args=(site, counts, stop, token, 40)))
    rows, began = [], time.monotonic()
    try:
        for job in jobs:
            job.start()
        while (minute := (time.monotonic() - began) / 60) < options.minutes:
            if minute >= len(rows):
                sizes = [memory_of(one.process.pid) / 1e6 for one in (web, worker)]
                rows.append([f"{minute:.0f}", *(f"{size:.0f}" for size in sizes)])
                print(*rows[-1], f"{len(counts.times)} pages, {len(counts.errors)} errors", flush=True)
            time.sleep(1)
    finally:
        stop.set()
        for job in jobs:
            job.join(180)
        done = states()
        for one in (worker, web):
            one.end()
        said = log.read_text(errors="replace")
        if os.environ.get("RELIABILITY_LOG"):
            shutil.copy(log, os.environ["RELIABILITY_LOG"])
    often = quantiles(counts.times, n=100)
    words = [
        f"{options.minutes:.0f} minutes on 2 cores, SQLite, {options.readers} readers, 2 web processes, 1 worker: "
        f"{len(counts.times):,} pages read (median {1000 * median(counts.times):.0f} ms, 99 % within "
        f"{1000 * often[98]:.0f} ms), {counts.uploads} data sets uploaded and checked, {counts.sent} models submitted "
        f"({', '.join(f'{number} {state}' for state, number in done.items())} in the end); {len(counts.errors)} "
        f"errors, {said.count('Traceback')} tracebacks in the logs.",
    ]
    return rows, counts, words


def states():
    """How far submissions are."""
    from collections import Counter

    from brainscore_web.submissions.models import Submission

    return Counter(Submission.objects.values_list("state", flat=True))


if __name__ == "__main__":
    main()
