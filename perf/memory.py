"""Peak memory of extracting and scoring layers that together hold ten times the memory limit.

    python perf/memory.py [--limit 700MB] [--stimuli 2000] [--times 10] [--write] [METRIC ...]

A convolutional network with one layer for each metric records all layers in one pass into the activation store; then
each layer is scored by its metric, with the interval, through `ModelCommitment` and a benchmark with random responses
in another order of stimuli. At last the baseline models of the benchmark of the first metric are scored, with an
untrained twin of the network. All of it runs in one process, whose memory is read every 2 ms: what no file backs
(RssAnon) and what is shared (RssShmem). The disk needs room for three times the layers.
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
METRICS = ["ridge", "pls", "ridgecv", "cka", "rdm"]


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
        print(self.steps[-1], file=sys.stderr, flush=True)
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


def measure(folder, limit, count, channels, metrics):
    """Extract and score in this process and print what it took as JSON."""
    os.environ["BRAINSCORE_MAX_MEMORY"] = str(limit)
    watch = Watch()
    import functools

    import numpy as np

    from brainscore_core.activation_store import default_store
    from brainscore_core.metrics import Score
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_vision import load_metric
    from brainscore_vision.assessment.controls import score_controls
    from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
    from brainscore_vision.model_helpers.activations.memory_plan import plan
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images
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
    layers = len(metrics)
    wrapper = watch.step("libraries and network", lambda: PytorchWrapper(network(layers, channels), preprocessing, "m"))
    names = wrapper.layers()
    shapes = dict.fromkeys(names, (channels, SIDE // 2, SIDE // 2))
    planned = plan(shapes, count, store=default_store(), input_bytes=4 * 3 * SIDE**2)
    extracted = watch.step(
        f"extraction of {layers} layers", lambda: {k: v.nbytes for k, v in wrapper.by_layer(stimuli, names).items()}
    )
    model = ModelCommitment(
        "m", wrapper, layers=names, region_layer_map={f"region{n}": n for n in names}, visual_degrees=8
    )

    def benchmark(metric, layer):
        assembly = responses.assign_coords(region=("neuroid", [f"region{layer}"] * NEUROIDS))
        assembly.attrs["stimulus_set"] = stimuli
        return NeuralBenchmark(
            identifier=f"Memory.{metric}", version=1, assembly=assembly, similarity_metric=load_metric(metric),
            visual_degrees=8, number_of_trials=1, ceiling_func=lambda: Score(1.0), timebins=[(70, 170)],
        )  # fmt: skip

    for metric, name in zip(metrics, names, strict=True):
        score = watch.step(f"{metric}, layer {name}", lambda metric=metric, name=name: benchmark(metric, name)(model))
        if not np.isfinite(float(score.raw)):
            sys.exit(f"{metric} has no value: {score.attrs}")
    watch.step(
        f"baseline models, {metrics[0]}",
        lambda: score_controls(benchmark(metrics[0], names[0]), model=model, seeds=(0,)),
    )
    watch.stop()
    found = {"steps": watch.steps, "planned": planned.predicted_peak, "layers": sum(extracted.values())}
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", default="700MB")
    parser.add_argument("--stimuli", type=int, default=2000)
    parser.add_argument("--times", type=float, default=10, help="how many times the limit the layers hold")
    parser.add_argument("metrics", nargs="*", metavar="METRIC", help=f"by default {' '.join(METRICS)}")
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        folder, *numbers = arguments.measure
        measure(folder, *map(int, numbers), arguments.metrics)
        return
    from brainscore_core.memory import format_size, parse_size

    limit, count, metrics = parse_size(arguments.limit), arguments.stimuli, arguments.metrics or METRICS
    places = (SIDE // 2) ** 2
    channels = -int(-arguments.times * limit // (4 * places * count * len(metrics)))
    with tempfile.TemporaryDirectory() as folder:
        numbers = [str(number) for number in (limit, count, channels)]
        found = run(sys.executable, __file__, "--measure", folder, *numbers, "--", *metrics)
    peak = max(step["peak"] for step in found["steps"])
    rows = [[step["step"], f"{step['seconds']:.1f}", f"{step['peak'] / 1e6:.0f}"] for step in found["steps"]]
    rows.append(["all", f"{sum(step['seconds'] for step in found['steps']):.1f}", f"{peak / 1e6:.0f}"])
    text = (
        f"{count} stimuli × {len(metrics)} layers of {channels * places:,} features: "
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
