"""Pairs of `perf/runs.py`, scored by a site's worker and by `brainscore run` with one worker.

    python perf/site_pairs.py [--write]

Nine models (without the simulated truth) on eight simulated benchmarks. The site's database is SQLite in a temporary
folder. Both start with empty folders; seconds are those of the whole command, which imports and loads everything.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _running_site import clean_environment
from _tables import table, write_section
from runs import BENCHMARKS

PLUGINS = Path(__file__).resolve().parents[1] / "tests" / "plugins_at_scale"
MODELS = ("pixels", "gabor", "scale-network-*")
REGISTERED = [name for name in BENCHMARKS if ":" not in name or name.startswith("all:")]  # a site has no composed ones


def plan_pairs(results):
    """Make a site that has to score the pairs of these receipts."""
    from brainscore_core.scoring import ResultsStore
    from brainscore_vision.catalogue.contents import catalogue
    from brainscore_web.serving import prepare

    receipts = ResultsStore(results).listing().receipts
    models = sorted({receipt.model.identifier for receipt in receipts})
    benchmarks = sorted({receipt.benchmark.identifier for receipt in receipts})
    prepare(None, say=print)
    from brainscore_web.leaderboard.ingest import sync_catalogue
    from brainscore_web.leaderboard.models import Benchmark, VisionModel
    from brainscore_web.scoring.services import plan

    sync_catalogue(catalogue(models, benchmarks))
    names = ((VisionModel, models), (Benchmark, benchmarks))
    plan(*([row.pk for row in kind.objects.filter(identifier__in=some)] for kind, some in names), why="measurement")


def timed(arguments, environment):
    """Seconds of a command."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def values(results):
    """Score and state of each pair."""
    from brainscore_core.scoring import ResultsStore

    return {
        (one.model.identifier, one.benchmark.identifier): (one.state, one.score and one.score.value)
        for one in ResultsStore(results).listing().receipts
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plan:
        plan_pairs(arguments.plan)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {"run": folder / "results", "site": folder / "site_results"}
        alone, site = (
            clean_environment(folder / kind, BRAINSCORE_PLUGINS=str(PLUGINS), BRAINSCORE_RESULTS=str(results[kind]))
            for kind in results
        )
        site |= {"BRAINSCORE_SITE_RESULTS": str(results["site"])}
        command = ["-m", "brainscore", "run", "--workers", 1, "--models", *MODELS, "--benchmarks", *REGISTERED]
        seconds = {"`brainscore run --workers 1`": timed(command, alone)}
        timed([__file__, "--plan", results["run"]], site)
        worker = ["-m", "brainscore", "worker", "--until-idle", "--jobs-only"]
        seconds["the site's worker"] = timed(worker, site)
        scored = {kind: values(place) for kind, place in results.items()}
    if scored["run"] != scored["site"]:
        sys.exit("the scores differ")
    pairs = len(scored["run"])
    rows = [[who, str(pairs), f"{all_:.1f}", f"{all_ / pairs:.2f}"] for who, all_ in seconds.items()]
    text = table(["by", "pairs", "seconds", "seconds per pair"], rows)
    print(text)
    if arguments.write:
        write_section("site-pairs", text)


if __name__ == "__main__":
    main()
