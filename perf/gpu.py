"""Metrics and extraction on the processor and on a GPU of the same machine: seconds, values, memory of the GPU.

    python perf/gpu.py [--runs 5] [--write] [CASE ...]

Numerics get float32 features in memory and float64 responses, and return their values to the processor; each is called
once before it is timed. Extraction records five layers of a network from images of 256 × 256 pixels; `floor` decodes
the images by one thread a core and passes them through the network on the GPU, without any recording. Each network has
a process of its own, which extracts some images before; on the processor, it is timed once. Without a GPU, the script
says so and ends.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import extraction
from _tables import table, write_section

IMAGES = 1024
BATCH = 64


def resnet():
    """ResNet-50 with random weights."""
    import torch
    from torchvision.models import resnet50

    torch.manual_seed(0)
    return resnet50().eval()


NETWORKS = extraction.NETWORKS
NETWORKS["ResNet-50"] = (resnet, ["layer3", "layer4.0", "layer4.2", "avgpool", "fc"])


def data(n, p, q):
    """Features and responses that depend on them."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.float32) + 1
    return X, X[:, :64] @ rng.standard_normal((64, q)) / 8 + rng.standard_normal((n, q))


def splits(n):
    import numpy as np

    rng = np.random.default_rng(1)
    return [(order[n // 10 :], order[: n // 10]) for order in (rng.permutation(n) for _ in range(10))]


def cross_predict(method):
    """Function of X, Y and a device that returns the predictions of 10 splits by a regression."""

    def predict(X, Y, device):
        import numpy as np

        return np.concatenate(list(method(device).cross_predict(X, Y, splits(len(X)))))

    return predict


def numerics():
    """Functions by name, each with the size of its data and the operations of its largest product."""
    import numpy as np

    from brainscore_core.numerics import PLS, RidgeCV, cka, rdm

    def ridge_cv(X, Y, device):
        return RidgeCV(np.logspace(-1, 8, 99), cv=5, device=device).fit(X, Y).predict(X[:256])

    def similarity(X, Y, device):
        return np.atleast_1d(cka(X, Y, device=device).value)

    usual, large = (2560, 9216, 168), (10_000, 20_000, 168)
    return {
        "pls, 10 splits": (cross_predict(lambda device: PLS(device=device)), usual),
        "ridge, 99 penalties, 5 folds": (ridge_cv, usual),
        "cka": (similarity, usual),
        "rdm": (lambda X, Y, device: rdm(X, device=device), usual),
        "cka, large": (similarity, large),
    }


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def numerics_rows(runs, wanted):
    import numpy as np
    import torch

    for name, (function, size) in numerics().items():
        if wanted and name not in wanted:
            continue
        X, Y = data(*size)
        slow = size[0] > 5000
        function(X[:200], Y[:200], None)
        processor = [timed(function, X, Y, None) for _ in range(1 if slow else min(runs, 3))]
        timed(function, X, Y, "cuda")
        torch.cuda.reset_peak_memory_stats()
        device = [timed(function, X, Y, "cuda") for _ in range(runs)]
        peak = torch.cuda.max_memory_allocated()
        cpu, gpu = (statistics.median(seconds for seconds, _ in found) for found in (processor, device))
        expected, found = processor[0][1], device[0][1]
        difference = np.abs(found - expected).max() / np.abs(expected).max()
        yield [
            name, " × ".join(f"{number:,}" for number in size), f"{cpu:.3f}", f"{gpu:.3f}", f"{cpu / gpu:.1f}",
            f"{peak / 1e6:,.0f}", f"{difference:.0e}",
        ]  # fmt: skip


def floor(stimuli, name):
    """Decoding by threads and forward passes on the GPU, without recording."""
    from concurrent.futures import ThreadPoolExecutor

    import torch

    from brainscore_vision.model_helpers.activations.networks import in_float32
    from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing

    paths = [stimuli.get_stimulus(identifier) for identifier in stimuli["stimulus_id"]]
    preprocessing, device = ImagePreprocessing((extraction.SIZE, extraction.SIZE)), torch.device("cuda")
    model = NETWORKS[name][0]().to(device)
    batches = [paths[start : start + BATCH] for start in range(0, len(paths), BATCH)]
    levels = [torch.empty((len(part), extraction.SIZE, extraction.SIZE, 3), dtype=torch.uint8) for part in batches]

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool, torch.inference_mode(), in_float32(device):
        model(preprocessing.normalised(levels[0].to(device)))
        torch.cuda.synchronize()
        start = time.perf_counter()
        jobs = [
            [pool.submit(preprocessing.levels_into, path, row) for path, row in zip(part, into.numpy(), strict=True)]
            for part, into in zip(batches, levels, strict=True)
        ]
        for batch, into in zip(jobs, levels, strict=True):
            for job in batch:
                job.result()
            model(preprocessing.normalised(into.to(device)))
        torch.cuda.synchronize()
        return time.perf_counter() - start, None


def on_cpu(stimuli, name):
    """Five layers on the processor, none of which is in the store, where they are written."""
    model = extraction.wrapper(name, device="cpu")
    start = time.perf_counter()
    activations = model(stimuli, layers=NETWORKS[name][1])
    return time.perf_counter() - start, extraction.sample(activations)


PARTS = {"floor": floor, "stored": extraction.extract, "memory": extraction.extract_into_memory, "processor": on_cpu}


def extraction_rows(runs, wanted):
    with tempfile.TemporaryDirectory() as folder:
        for name in NETWORKS:
            if wanted and name not in wanted:
                continue
            if not os.listdir(folder):
                extraction.write_images(folder, IMAGES)
            command = [sys.executable, os.path.abspath(__file__), "--child", folder, name, str(runs)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"extraction by {name} failed:\n{done.stderr[-3000:]}")
            found = json.loads(done.stdout.splitlines()[-1])
            seconds = {part: statistics.median(found[part]["seconds"]) for part in PARTS}
            values = {part: found[part]["values"] for part in PARTS}
            differences = [extraction.difference(values[part], values["processor"]) for part in ("stored", "memory")]
            yield [
                name, *(f"{seconds[part]:.2f}" for part in ("processor", "floor", "stored", "memory")),
                f"{seconds['processor'] / seconds['stored']:.1f}", f"{seconds['stored'] / seconds['floor']:.2f}",
                f"{seconds['memory'] / seconds['floor']:.2f}", f"{max(differences):.0e}",
            ]  # fmt: skip


def child(folder, name, runs):
    """Measure the extraction by one network in this process, after it has extracted some images."""
    try:
        import torchvision  # noqa: F401 - where it is built for this torch, it defines its operators
    except RuntimeError:
        extraction.prepare()
    stimuli = extraction.stimulus_set(folder)
    extraction.wrapper(name, store=None)(stimuli[: 2 * BATCH], layers=NETWORKS[name][1])
    found = {part: {"seconds": [], "values": None} for part in PARTS}
    for number in range(runs):
        for part, function in PARTS.items():
            if part == "processor" and number:
                continue
            with tempfile.TemporaryDirectory() as home:
                os.environ["BRAINSCORE_HOME"] = home
                seconds, found[part]["values"] = function(stimuli, name)
            found[part]["seconds"].append(seconds)
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of rows; by default all")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/performance.md")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        folder, name, runs = arguments.child
        child(folder, name, int(runs))
        return
    if arguments.write and arguments.cases:
        parser.error("--write needs all cases; name none")
    import torch

    if not torch.cuda.is_available():
        sys.exit("this measurement needs a CUDA device, and PyTorch finds none")
    tables = []
    for head, rows in (
        (["case", "stimuli × features × neuroids", "processor, s", "GPU, s", "ratio", "GPU, MB", "values differ by"],
         numerics_rows(arguments.runs, arguments.cases)),
        (["network", "processor, stored, s", "GPU, floor, s", "GPU, stored, s", "GPU, in memory, s",
          "processor / GPU", "stored / floor", "in memory / floor", "values differ by"],
         extraction_rows(arguments.runs, arguments.cases)),
    ):  # fmt: skip
        found = []
        for row in rows:
            found.append(row)
            print(*row, flush=True)
        if found:
            tables.append(table(head, found))
    cores = len(os.sched_getaffinity(0))
    text = "\n\n".join([f"{torch.cuda.get_device_name()}, {cores} cores, PyTorch {torch.__version__}.", *tables])
    print(text)
    if arguments.write:
        write_section("gpu", text)


if __name__ == "__main__":
    main()
