"""Extraction of activations on two interpreters, alternately: seconds, and whether the values agree.

    python perf/extraction.py PEER_PYTHON OUR_PYTHON [--runs 5] [--write] [CASE ...]

192 images of 256 × 256 pixels go through a network of three convolutions and two fully connected layers; five of its
layers are recorded. `floor` is the same network on images that were decoded by one thread a core, without any
recording: what no extraction can do without. Each run is a process of its own; times are medians. The peer needs
torchvision and OpenCV beside it.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import table, write_section

LAYERS = ["2", "5", "7", "10", "12"]
IMAGES = 192


def images(folder):
    """Smooth colour noise."""
    import numpy as np
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    rng = np.random.default_rng(0)
    rows, paths = [], {}
    for number in range(IMAGES):
        name = f"i{number}"
        small = Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8))
        paths[name] = os.path.join(folder, f"{name}.png")
        small.resize((256, 256), Image.Resampling.BICUBIC).save(paths[name])
        os.utime(paths[name], (0, 0))  # stimuli are older than the run that reads them
        rows.append({"stimulus_id": name, "object_name": f"o{number % 8}"})
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = "extraction"
    stimuli.name = "extraction"
    return stimuli


def network():
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(6), nn.Flatten()),
        *(nn.Linear(384 * 36, 512), nn.ReLU(), nn.Linear(512, 1000)),
    ).eval()


def wrapper():
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images

    preprocessing = functools.partial(load_preprocess_images, image_size=224)
    return PytorchWrapper(identifier="extraction", model=network(), preprocessing=preprocessing)


def floor(stimuli):
    """Forward pass and decoding alone."""
    from concurrent.futures import ThreadPoolExecutor

    import torch

    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    paths = [stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]]
    model = network()
    start = time.perf_counter()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool, torch.inference_mode():
        decoded = list(pool.map(lambda path: load_preprocess_images([path], image_size=224), paths))
        for first in range(0, IMAGES, 64):
            output = model(torch.cat([torch.as_tensor(one) for one in decoded[first : first + 64]]))
    return time.perf_counter() - start, float(output.mean())


def extract(stimuli):
    """Five layers, nothing stored before."""
    model = wrapper()
    start = time.perf_counter()
    activations = model(stimuli, layers=LAYERS)
    return time.perf_counter() - start, float(activations.values.mean())


def cached(stimuli):
    """One layer of five that are stored."""
    model = wrapper()
    model(stimuli, layers=LAYERS)
    start = time.perf_counter()
    activations = model(stimuli, layers=["7"])
    return time.perf_counter() - start, float(activations.values.mean())


def on_screen(stimuli):
    """Placement on a larger screen."""
    from brainscore_vision.benchmark_helpers.screen import place_on_screen

    start = time.perf_counter()
    placed = place_on_screen(stimuli, target_visual_degrees=8, source_visual_degrees=6)
    return time.perf_counter() - start, len(placed)


CASES = {case.__name__: case for case in (floor, extract, cached, on_screen)}


def prepare():
    """Import what each case needs, so that no case is measured with it."""
    import torch
    import xarray as xr

    xr.DataArray([0.0])  # the first one imports dask, where that is installed
    for operator in ("nms", "qnms"):  # what torchvision lacks beside a torch for which it was not built
        torch.library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def child(case):
    """Run one case in this process."""
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        for variable in ("BRAINSCORE_HOME", "RESULTCACHING_HOME", "BRAINIO_HOME"):
            os.environ[variable] = os.path.join(folder, variable.lower())
        seconds, value = CASES[case](images(folder))
    print(json.dumps({"seconds": seconds, "value": value}))


def run(python, case):
    environment = {**os.environ, "BS_INSTALL_DEPENDENCIES": "no"}
    command = [python, "-P", os.path.abspath(__file__), "--child", case]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{case} on {python} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", help="the peer's interpreter, then ours; then cases")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--child", choices=list(CASES))
    arguments = parser.parse_intermixed_args()
    if arguments.child:
        child(arguments.child)
        return
    peer, ours, *cases = arguments.pythons
    if arguments.write and cases:
        parser.error("--write needs all cases; name none")
    rows = []
    for case in cases or CASES:
        pairs = [(None if case == "floor" else run(peer, case), run(ours, case)) for _ in range(arguments.runs)]
        here = statistics.median(second["seconds"] for _, second in pairs)
        if case == "floor":
            rows.append([case, "", f"{here:.3f}", "", ""])
        else:
            there = statistics.median(first["seconds"] for first, _ in pairs)
            difference = abs(pairs[0][0]["value"] - pairs[0][1]["value"]) / abs(pairs[0][0]["value"])
            rows.append([case, f"{there:.3f}", f"{here:.3f}", f"{there / here:.1f}", f"{difference:.0e}"])
        print(*rows[-1], flush=True)
    text = table(["case", "peer, s", "here, s", "ratio", "values differ by"], rows)
    print(text)
    if arguments.write:
        write_section("extraction", text)


if __name__ == "__main__":
    main()
