"""How long it takes to import the package and to list 1,000 plugins, in fresh processes.

Run with ``python perf/listing.py``; prints the median of each step in seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CODE = """
import time
start = time.perf_counter()
import brainscore_vision
imported = time.perf_counter()
count = len(list(brainscore_vision.model_registry))
print(imported - start, time.perf_counter() - imported, count)
"""


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
        _, cold, count = measure(environment)
        warm = [measure(environment) for _ in range(options.repeats)]
        print(f"{count} models")
        print(f"import brainscore_vision  {statistics.median(run[0] for run in warm):.3f} s")
        print(f"first listing, no cache   {cold:.3f} s")
        print(f"listing from the cache    {statistics.median(run[1] for run in warm):.3f} s")


if __name__ == "__main__":
    main()
