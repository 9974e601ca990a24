"""A run in a process of its own: ``runner_script.py FOLDER STORE WORKERS MODELS BENCHMARKS [SCHEDULER]``."""

import os
import sys

from brainscore_core.runner import ClusterOptions, PairFinished, run_plan
from brainscore_core.runner.plan import make_plan
from brainscore_core.scoring import ResultsStore

if __name__ == "__main__":
    folder, address, workers, models, benchmarks = sys.argv[1:6]

    def tell(event):
        print(type(event).__name__, *([event.model, event.benchmark] if isinstance(event, PairFinished) else []))
        sys.stdout.flush()

    report = run_plan(
        make_plan(models.split(","), benchmarks.split(","), ResultsStore(address)),
        store_address=address,
        scorer=os.environ.get("RUNNER_SCORER", "runner_toys:score"),
        cluster=ClusterOptions(workers=int(workers), memory=1_000_000_000, scheduler=next(iter(sys.argv[6:]), None)),
        on_event=tell,
        scorer_options={"folder": folder},
    )
    print("done", len(report.finished), len(report.skipped))
