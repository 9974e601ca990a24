"""How long it takes to import the package, to list all registrations, and to list 1,000 plugins, in new processes.

Run with ``python perf/listing.py``; prints the median of each step in seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CODE = """
import time
start = time.perf_counter()
import brainscore_vision
imported = time.perf_counter()
count = len(list(brainscore_vision.model_registry))
print(imported - start, time.perf_counter() - imported, count)
"""


EVERYTHING = """
import brainscore_vision as vision
registries = (
    vision.model_registry,
    vision.benchmark_registry,
    vision.data_registry,
    vision.stimulus_set_registry,
    vision.metric_registry,
)
print(sum(len(list(registry)) for registry in registries))
"""


def whole_process(code: str, environment: dict[str, str]) -> tuple[float, str]:
    """Seconds of a process from start to end, and what it prints."""
    start = time.perf_counter()
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, run.stdout.strip()


def list_everything(repeats: int) -> None:
    """List all registries in a process of its own, without and with an index, and start a bare interpreter."""
    with tempfile.TemporaryDirectory() as name:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BRAINSCORE_")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        whole_process(EVERYTHING, {**environment, "BRAINSCORE_HOME": f"{name}/first"})  # compiles, as an installer does
        times: dict[str, list[float]] = {"bare interpreter": [], "without an index": [], "with an index": []}
        for number in range(repeats):
            environment["BRAINSCORE_HOME"] = f"{name}/{number}"
            times["bare interpreter"].append(whole_process("print(0)", environment)[0])
            times["without an index"].append(whole_process(EVERYTHING, environment)[0])
            seconds, count = whole_process(EVERYTHING, environment)
            times["with an index"].append(seconds)
    bare = statistics.median(times["bare interpreter"])
    print(f"{count} registrations, from the start of the process to its end")
    for step, seconds_of_step in times.items():
        median = statistics.median(seconds_of_step)
        print(f"{step:25} {median:.3f} s, {median / bare:.1f} times a bare interpreter")


def measure(environment: dict[str, str]) -> tuple[float, float, int]:
    """Import and list in a process of its own."""
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    imported, listed, count = run.stdout.split()
    return float(imported), float(listed), int(count)


def main() -> None:
    """Write the plugins, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plugins", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    list_everything(options.repeats)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for number in range(options.plugins):
            folder = root / "models" / f"plugin_{number}"
            folder.mkdir(parents=True)
            (folder / "__init__.py").write_text(
                "import torch\n\nfrom brainscore_vision import model_registry\n\n"
                f"model_registry['synthetic-{number}'] = lambda: {number}\n"
            )
        environment = {**os.environ, "BRAINSCORE_PLUGINS": str(root), "BRAINSCORE_HOME": str(root / "home")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        _, cold, count = measure(environment)
        warm = [measure(environment) for _ in range(options.repeats)]
        print(f"{count} models")
        print(f"import brainscore_vision  {statistics.median(run[0] for run in warm):.3f} s")
        print(f"first listing, no cache   {cold:.3f} s")
        print(f"listing from the cache    {statistics.median(run[1] for run in warm):.3f} s")


if __name__ == "__main__":
    main()
