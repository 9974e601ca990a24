"""Peak memory of extracting and scoring layers that together hold ten times the memory limit.

    python perf/memory.py [--limit 700MB] [--stimuli 2000] [--layers 5] [--times 10] [--metric ridge] [--write]

A convolutional network records all layers in one pass into the activation store; then each is scored, through
`ModelCommitment` and `load_metric`, against random responses in another order of stimuli. All of it runs in one
process, whose memory is read every 2 ms: what no file backs (RssAnon) and what is shared (RssShmem). The disk needs
room for twice the layers.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from _tables import run, table, write_section

SIDE = 128  # pixels; every layer has (SIDE / 2)² places
NEUROIDS = 168


def allocated():
    """Bytes of memory of this process that no file backs."""
    with open("/proc/self/status") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon", "RssShmem"))) * 1024


class Watch:
    """Peak memory and seconds of each step."""

    def __init__(self):
        self.steps, self._peak, self._done = [], 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def step(self, name, function):
        self._peak, start = allocated(), time.perf_counter()
        result = function()
        seconds = time.perf_counter() - start
        self.steps.append({"step": name, "seconds": seconds, "peak": max(self._peak, allocated())})
        return result

    def _watch(self):
        while not self._done.wait(0.002):
            self._peak = max(self._peak, allocated())

    def stop(self):
        self._done.set()
        self._thread.join()


def stimulus_set(folder, count):
    import numpy as np
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    rng = np.random.default_rng(0)
    paths = {}
    for number in range(count):
        name = f"i{number}"
        paths[name] = os.path.join(folder, f"{name}.png")
        Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(paths[name])
    stimuli = StimulusSet({"stimulus_id": list(paths), "object_name": [f"o{n % 8}" for n in range(count)]})
    stimuli.stimulus_paths = paths
    stimuli.identifier = "memory"
    return stimuli


def network(layers, channels):
    import torch
    from torch import nn

    torch.manual_seed(0)
    convolutions = [nn.Conv2d(3, channels, 3, 2, 1)]
    convolutions += [nn.Conv2d(channels, channels, 3, padding=1, groups=channels) for _ in range(layers - 1)]
    return nn.Sequential(*convolutions).eval()


def measure(folder, limit, count, layers, channels, metric_name):
    """Extract and score in this process and print what it took as JSON."""
    os.environ["BRAINSCORE_MAX_MEMORY"] = str(limit)
    watch = Watch()
    import functools

    import numpy as np

    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_vision import load_metric
    from brainscore_vision.model_helpers.activations.memory_plan import plan
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images
    from brainscore_vision.model_helpers.activations.store import default_store
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    stimuli = stimulus_set(folder, count)
    order = np.random.default_rng(1).permutation(count)
    responses = NeuroidAssembly(
        np.random.default_rng(2).standard_normal((count, NEUROIDS)),
        coords={
            "stimulus_id": ("presentation", stimuli["stimulus_id"].values[order]),
            "object_name": ("presentation", stimuli["object_name"].values[order]),
            "neuroid_id": ("neuroid", np.arange(NEUROIDS)),
        },
        dims=["presentation", "neuroid"],
    )
    preprocessing = functools.partial(load_preprocess_images, image_size=SIDE)
    wrapper = watch.step("libraries and network", lambda: PytorchWrapper(network(layers, channels), preprocessing, "m"))
    names = wrapper.layers()
    shapes = dict.fromkeys(names, (channels, SIDE // 2, SIDE // 2))
    planned = plan(shapes, count, store=default_store(), input_bytes=4 * 3 * SIDE**2)
    extracted = watch.step(
        f"extraction of {layers} layers", lambda: {k: v.nbytes for k, v in wrapper.by_layer(stimuli, names).items()}
    )
    model = ModelCommitment("m", wrapper, layers=names, region_layer_map={f"region{n}": n for n in names})

    def score(name):
        model.start_recording(f"region{name}", time_bins=[(70, 170)])
        activations = model.look_at(stimuli)
        if "time_bin" in activations.dims:
            activations = activations.isel(time_bin=0, drop=True)
        return float(load_metric(metric_name)(activations, responses))

    for name in names:
        value = watch.step(f"{metric_name}, layer {name}", lambda name=name: score(name))
        assert np.isfinite(value)
    watch.stop()
    found = {"steps": watch.steps, "planned": planned.predicted_peak, "layers": sum(extracted.values())}
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", default="700MB")
    parser.add_argument("--stimuli", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--times", type=float, default=10, help="how many times the limit the layers hold")
    parser.add_argument("--metric", default="ridge", choices=["ridge", "pls"])
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--measure", nargs=6, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        folder, *numbers, metric = arguments.measure
        measure(folder, *map(int, numbers), metric)
        return
    from brainscore_core.memory import format_size, parse_size

    limit, count = parse_size(arguments.limit), arguments.stimuli
    places = (SIDE // 2) ** 2
    channels = -int(-arguments.times * limit // (4 * places * count * arguments.layers))
    with tempfile.TemporaryDirectory() as folder:
        numbers = [str(number) for number in (limit, count, arguments.layers, channels)]
        found = run(sys.executable, __file__, "--measure", folder, *numbers, arguments.metric)
    peak = max(step["peak"] for step in found["steps"])
    rows = [[step["step"], f"{step['seconds']:.1f}", f"{step['peak'] / 1e6:.0f}"] for step in found["steps"]]
    rows.append(["all", f"{sum(step['seconds'] for step in found['steps']):.1f}", f"{peak / 1e6:.0f}"])
    text = (
        f"{count} stimuli × {arguments.layers} layers of {channels * places:,} features: "
        f"{format_size(found['layers'])}, {found['layers'] / limit:.1f} × the limit of {format_size(limit)}; planned "
        f"{format_size(found['planned'])}, measured {format_size(peak)}.\n\n{table(['step', 's', 'peak, MB'], rows)}"
    )
    print(text)
    if peak > limit:
        sys.exit(f"the peak of {format_size(peak)} exceeds the limit of {format_size(limit)}")
    if arguments.write:
        write_section("memory", text)


if __name__ == "__main__":
    main()
