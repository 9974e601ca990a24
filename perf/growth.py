"""Seconds and memory of cross-validated regressions as features become more, as a Markdown table.

    python perf/growth.py [--features 1000 4000 …] [--stimuli 2560] [--neuroids 168] [--methods pls ridge] [--write]

Features are a float32 memory map on disk; each size and method is a process of its own. Memory is what the process
allocates beyond what it held before, without the pages of the map, which the system may drop at any time.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import run, table, write_section

METHODS = ("pls", "ridge")
SPLITS = 10


def write(path: Path, *, stimuli: int, features: int, neuroids: int) -> None:
    """Features and responses that share 100 latent dimensions with a falling spectrum."""
    import numpy as np

    rng = np.random.default_rng(0)
    latent = rng.standard_normal((stimuli, 100), dtype=np.float32) / np.sqrt(np.arange(1, 101, dtype=np.float32))
    source = np.lib.format.open_memmap(path / "X.npy", "w+", np.float32, (stimuli, features))
    loadings = rng.standard_normal((100, features), dtype=np.float32)
    for start in range(0, stimuli, 128):
        rows = slice(start, min(start + 128, stimuli))
        noise = rng.standard_normal((rows.stop - rows.start, features), dtype=np.float32)
        source[rows] = latent[rows] @ loadings + np.float32(0.05) * noise
    source.flush()
    target = latent @ rng.standard_normal((100, neuroids)) + rng.standard_normal((stimuli, neuroids))
    np.save(path / "Y.npy", target)


def allocated() -> float:
    """Megabytes of memory of this process that no file backs."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024


def measure(method: str, path: Path) -> None:
    """Run one method in this process and print seconds and megabytes as JSON."""
    import numpy as np

    from brainscore_core.numerics import PLS, Ridge

    X, Y = np.load(path / "X.npy", mmap_mode="r"), np.load(path / "Y.npy")
    n = len(X)
    orders = [np.random.default_rng(seed).permutation(n) for seed in range(SPLITS)]
    splits = [(order[n // 10 :], order[: n // 10]) for order in orders]
    regression = {"pls": PLS, "ridge": Ridge}[method]()
    small = np.random.default_rng(0).standard_normal((60, 80))
    list(
        regression.cross_predict(small, small[:, :2], [(np.arange(50), np.arange(50, 60))])
    )  # load what is loaded late
    before, peak, done = allocated(), 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.005):
            peak = max(peak, allocated())

    watcher = threading.Thread(target=watch)
    watcher.start()
    cpu, start = time.process_time(), time.perf_counter()
    for predicted in regression.cross_predict(X, Y, splits):
        assert np.isfinite(predicted).all()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    done.set()
    watcher.join()
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": peak - before}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, nargs="+", default=[1_000, 4_000, 16_000, 64_000, 250_000])
    parser.add_argument("--stimuli", type=int, default=2560)
    parser.add_argument("--neuroids", type=int, default=168)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--measure", nargs=2, metavar=("METHOD", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], Path(arguments.measure[1]))
        return
    methods = arguments.methods
    head = ["features", "input, MB", *(f"{method}, {what}" for method in methods for what in ("s", "CPU s", "MB"))]
    rows = []
    for features in arguments.features:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), stimuli=arguments.stimuli, features=features, neuroids=arguments.neuroids)
            cells = [f"{features:,}", f"{arguments.stimuli * features * 4 / 2**20:.0f}"]
            for method in methods:
                found = run(sys.executable, __file__, "--measure", method, folder)
                cells += [f"{found['seconds']:.2f}", f"{found['cpu']:.2f}", f"{found['mb']:.0f}"]
        rows.append(cells)
        print(*cells, flush=True)
    text = f"{arguments.stimuli} stimuli × {arguments.neuroids} neuroids, {SPLITS} splits:\n\n{table(head, rows)}"
    print(text)
    if arguments.write:
        write_section("growth", text)


if __name__ == "__main__":
    main()
