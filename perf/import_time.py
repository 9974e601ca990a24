"""Time of ``import brainscore_vision`` with one interpreter or several, side by side.

    python perf/import_time.py PYTHON [PYTHON ...]

Each interpreter is started 10 times, in turn; the table gives the median and the ratio to the first.
"""

import os
import statistics
import subprocess
import sys
import time


def seconds(python: str, code: str) -> float:
    environment = os.environ | {"BS_INSTALL_DEPENDENCIES": "no"}
    start = time.perf_counter()
    # -P: what is installed there, not what lies in the current folder
    subprocess.run([python, "-P", "-c", code], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def main(interpreters: list[str]) -> None:
    if not interpreters:
        sys.exit(__doc__)
    times: dict[str, list[float]] = {python: [] for python in interpreters}
    for python in interpreters:
        seconds(python, "import brainscore_vision")  # compile and fill the file system's cache
    for _ in range(10):
        for python in interpreters:
            bare = seconds(python, "pass")
            times[python].append(seconds(python, "import brainscore_vision") - bare)
    first = statistics.median(times[interpreters[0]])
    for python in interpreters:
        median = statistics.median(times[python])
        print(f"{python}\t{median:.3f} s\t{median / first:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
