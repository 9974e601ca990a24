"""Ten models on twelve benchmarks in one command: where the time goes.

    python perf/runs.py [--workers 2] [--keep FOLDER] [--write]

The models are pixels, gabor, the simulated truth and seven small untrained networks; the benchmarks are simulated, on
stand-ins and, with BRAINSCORE_MIRROR, measured. `--keep` keeps receipts and stored activations, for perf/costs.py and
perf/scaling.py.
Seconds are summed over receipts; what is left of the workers' time is the runner's: starting processes, importing,
claiming, writing receipts, waiting for the last one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import table, write_section

PLUGINS = Path(__file__).resolve().parents[1] / "tests" / "plugins_at_scale"
MODELS = ("pixels", "gabor", "simulated-truth", "scale-network-*")
BENCHMARKS = ("ScaleMajajHong.*", "all:simulated", "Simulated2026.IT:cka", "Simulated2026.V1:rdm_cosine")
MEASURED = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")


def run(results, home, workers):
    """Seconds of the whole command."""
    benchmarks = (*BENCHMARKS, *(MEASURED if "BRAINSCORE_MIRROR" in os.environ else ()))
    command = [sys.executable, "-m", "brainscore", "run", "--models", *MODELS, "--benchmarks", *benchmarks]
    command += ["--results", str(results), "--workers", str(workers)]
    environment = {**os.environ, "BRAINSCORE_HOME": str(home), "BRAINSCORE_PLUGINS": str(PLUGINS)}
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    return time.perf_counter() - start


def parts(receipts):
    """Seconds of each part, summed over receipts."""

    def total(step):
        return sum(getattr(receipt.timings, step) or 0 for receipt in receipts)

    extraction = total("extraction")
    metrics = total("ceiling") + total("score") - extraction
    loading = total("load_model") + total("load_benchmark")
    return {
        "loading models and benchmarks": loading,
        "extraction": extraction,
        "metrics and ceilings": metrics,
        "receipts' other steps": total("total") - loading - extraction - metrics,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a new folder for results/ and home/")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    arguments = parser.parse_args()
    from brainscore_core.scoring import ResultsStore

    with tempfile.TemporaryDirectory() as folder:
        place = (arguments.keep or Path(folder) / "run").absolute()
        if place.exists():
            parser.error(f"{place} is there already")
        results, home = place / "results", place / "home"
        seconds = run(results, home, arguments.workers)
        again = run(results, home, arguments.workers)
        receipts = ResultsStore(results).listing().receipts
    found = parts(receipts)
    everything = arguments.workers * seconds
    found["runner"] = everything - sum(found.values())
    rows = [[name, f"{value:.1f}", f"{100 * value / everything:.0f} %"] for name, value in found.items()]
    rows.append([f"all: {len(receipts)} pairs, {seconds:.1f} s × {arguments.workers} workers", f"{everything:.1f}", ""])
    rows.append(["the same command again, nothing to do", f"{again:.1f}", ""])
    text = table(["part", "seconds", "share"], rows)
    print(text)
    if arguments.write:
        write_section("runs", text)


if __name__ == "__main__":
    main()
