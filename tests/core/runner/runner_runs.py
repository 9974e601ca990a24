"""Runs of toy pairs, whose scorer workers import from this folder."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from brainscore_core.runner import ClusterOptions, run_plan
from brainscore_core.runner.plan import make_plan
from brainscore_core.scoring import ResultsStore

HERE = Path(__file__).resolve().parent


def until(found, seconds=60):
    """Wait until something is found."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := found():
            return result
        time.sleep(0.02)
    raise AssertionError(f"not found within {seconds} seconds")


class Runner:
    """Runs plans of toy pairs in one folder."""

    def __init__(self, folder, address=None):
        self.folder = Path(folder)
        self.address = str(address or self.folder / "results")
        self.store = ResultsStore(self.address)
        self.events = []
        self.marker = f"BRAINSCORE_ENGINE_TEST={self.folder}"

    def __call__(self, models, benchmarks, **options):
        return self.run(make_plan(models, benchmarks, self.store), **options)

    def run(self, plan, on_event=None, scorer="runner_toys:score", **options):
        def tell(event):
            self.events.append(event)
            if on_event is not None:
                on_event(event)

        return run_plan(
            plan,
            store_address=self.address,
            scorer=scorer,
            cluster=ClusterOptions(**{"memory": 1_000_000_000, **options}),
            on_event=tell,
            scorer_options={"folder": str(self.folder)},
        )

    def begun(self):
        """Every beginning of a pair, as (model, benchmark, process, its worker's process)."""
        file = self.folder / "begun.txt"
        lines = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        return [SimpleNamespace(pair=(m, b), pid=int(pid), worker=int(worker)) for m, b, pid, worker in lines]

    def counts(self):
        """How often each pair was begun."""
        return Counter(one.pair for one in self.begun())

    def scores(self):
        """Newest score of each pair."""
        newest = self.store.listing().newest_of_each()
        return {
            (r.model.identifier, r.benchmark.identifier): None if r.score is None else r.score.value for r in newest
        }

    def popen(self, workers, models, benchmarks, *scheduler, scorer="runner_toys:score"):
        """Start a run in a process, and a process group, of its own."""
        script = HERE / "runner_script.py"
        name, _, value = self.marker.partition("=")
        return subprocess.Popen(
            [sys.executable, script, self.folder, self.address, str(workers), models, benchmarks, *scheduler],
            env={**os.environ, name: value, "PYTHONPATH": str(HERE), "RUNNER_SCORER": scorer},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def processes(self):
        """Processes that a run of `popen` left."""
        import psutil

        name, _, value = self.marker.partition("=")
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(name) == value and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found
