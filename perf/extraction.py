"""Extraction of activations on several interpreters, in turns: seconds, and whether the values agree.

    python perf/extraction.py PEER_PYTHON THINGSVISION_PYTHON OUR_PYTHON [--runs 5] [--write] [CASE ...]

Images of 256 × 256 pixels go through a network of three convolutions and two fully connected layers, or through a small
vision transformer (ViT-Ti/16); five of its layers are recorded. `floor` is the same network on images that were decoded
by one thread a core, without any recording, in PyTorch's usual layout and, `floor_channels_last`, in the one that is
used here on a CPU: what no extraction can do without. Each run is a process of its own; times are medians. The peer
needs torchvision and OpenCV beside it, thingsvision torchvision and TensorFlow.
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
MANY = 5000
SIZE = 224
AT_ONCE = 16  # images that pass a network together in `floor`; more are slower on a CPU
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def write_images(folder, count=IMAGES):
    """Smooth colour noise; the files' names are in order."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(count):
        path = os.path.join(folder, f"i{number:05d}.png")
        small = Image.fromarray(rng.integers(0, 255, (32, 32, 3), dtype=np.uint8))
        small.resize((256, 256), Image.Resampling.BICUBIC).save(path, compress_level=1)
        os.utime(path, (0, 0))  # stimuli are older than the run that reads them


def stimulus_set(folder):
    """The images of a folder as stimuli."""
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    paths = {path.stem: str(path) for path in sorted(Path(folder).glob("*.png"))}
    rows = [{"stimulus_id": name, "object_name": f"o{number % 8}"} for number, name in enumerate(paths)]
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = "extraction"
    stimuli.name = "extraction"
    return stimuli


def images(folder):
    """Make images in a folder, and return them as stimuli."""
    write_images(folder)
    return stimulus_set(folder)


def network():
    """Convolutional network with the sizes of AlexNet's first layers."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 11, 4, 2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(6), nn.Flatten()),
        *(nn.Linear(384 * 36, 512), nn.ReLU(), nn.Linear(512, 1000)),
    ).eval()


def transformer():
    """Vision transformer of the size ViT-Ti/16."""
    import torch
    from torchvision.models import VisionTransformer

    torch.manual_seed(0)
    return VisionTransformer(
        image_size=SIZE, patch_size=16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768
    ).eval()


BLOCKS = [f"encoder.layers.encoder_layer_{number}" for number in (1, 4, 7, 10)]
NETWORKS = {"CNN": (network, LAYERS), "ViT-Ti": (transformer, [*BLOCKS, "encoder.ln"])}


def wrapper(name="CNN", **options):
    from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images

    preprocessing = functools.partial(load_preprocess_images, image_size=SIZE)
    return PytorchWrapper(
        identifier=f"extraction-{name}", model=NETWORKS[name][0](), preprocessing=preprocessing, **options
    )


def places(units):
    """The image and the unit of the values that are compared."""
    import numpy as np

    rng = np.random.default_rng(0)
    return rng.integers(0, IMAGES, 500), rng.integers(0, units, 500)


def sample(activations):
    """Some values of each layer of an assembly."""
    import numpy as np

    names, found = activations["layer"].values, []
    for name in dict.fromkeys(names):
        columns = np.flatnonzero(names == name)
        rows, units = places(len(columns))
        found.append(activations.values[rows, columns[units]].astype(float).tolist())
    return found


def floor(stimuli, name="CNN", layout="contiguous_format"):
    """Forward pass and decoding alone."""
    from concurrent.futures import ThreadPoolExecutor

    import torch

    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    paths = [stimuli.get_stimulus(identifier) for identifier in stimuli["stimulus_id"]]
    model = NETWORKS[name][0]()
    seconds = 0.0
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool, torch.inference_mode():
        for first in range(0, len(paths), IMAGES):  # all decoded images of a large set would not fit into memory
            start = time.perf_counter()
            part = paths[first : first + IMAGES]
            decoded = list(pool.map(lambda path: load_preprocess_images([path], image_size=SIZE), part))
            for row in range(0, len(part), AT_ONCE):
                inputs = torch.cat([torch.as_tensor(one) for one in decoded[row : row + AT_ONCE]])
                model(inputs.contiguous(memory_format=getattr(torch, layout)))
            seconds += time.perf_counter() - start
    return seconds, None


def floor_channels_last(stimuli, name="CNN"):
    """Forward pass and decoding alone, with the channels of images last in memory."""
    return floor(stimuli, name, "channels_last")


def extract(stimuli, name="CNN"):
    """Five layers, none of which is in the store, where they are written."""
    model = wrapper(name)
    start = time.perf_counter()
    activations = model(stimuli, layers=NETWORKS[name][1])
    return time.perf_counter() - start, sample(activations)


def extract_into_memory(stimuli, name="CNN"):
    """Five layers, without a store."""
    model = wrapper(name, store=None)
    start = time.perf_counter()
    activations = model(stimuli, layers=NETWORKS[name][1])
    return time.perf_counter() - start, sample(activations)


def thingsvision(folder, name="CNN"):
    """Five layers by thingsvision, which keeps them in memory."""
    from thingsvision import get_extractor_from_model
    from thingsvision.utils.data import DataLoader, ImageDataset
    from torchvision import transforms

    model, layers = NETWORKS[name]
    steps = [transforms.Resize((SIZE, SIZE)), transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    extractor = get_extractor_from_model(model=model(), device="cpu", backend="pt")
    with tempfile.TemporaryDirectory() as order:
        dataset = ImageDataset(root=folder, out_path=order, backend="pt", transforms=transforms.Compose(steps))
        batches = DataLoader(dataset=dataset, batch_size=32, backend="pt")
        start = time.perf_counter()
        # outputs of transformers are not contiguous, and it cannot flatten these
        features = extractor.extract_features(batches=batches, module_names=layers, flatten_acts=name == "CNN")
        seconds = time.perf_counter() - start
    found = []
    for layer in layers:
        flat = features[layer].reshape(len(features[layer]), -1)
        rows, units = places(flat.shape[1])
        found.append(flat[rows, units].astype(float).tolist())
    return seconds, found


def cached(stimuli, name="CNN"):
    """One layer of five that are stored, with its values."""
    model = wrapper(name)
    model(stimuli, layers=NETWORKS[name][1])
    start = time.perf_counter()
    activations = model(stimuli, layers=NETWORKS[name][1][2:3])
    activations.values.sum()
    return time.perf_counter() - start, sample(activations)


def read(stimuli, name="CNN"):
    """The file of one layer, read by NumPy."""
    import numpy as np

    layer = NETWORKS[name][1][2:3]
    activations = wrapper(name, store=None)(stimuli, layers=layer)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layer.npy")
        np.save(path, activations.values)
        start = time.perf_counter()
        np.load(path).sum()
        return time.perf_counter() - start, sample(activations)


def on_screen(stimuli):
    """Placement on a larger screen."""
    from brainscore_vision.benchmark_helpers.screen import place_on_screen

    start = time.perf_counter()
    placed = place_on_screen(stimuli, target_visual_degrees=8, source_visual_degrees=6)
    return time.perf_counter() - start, [[len(placed)]]


_PARTS = (floor, floor_channels_last, extract, extract_into_memory, thingsvision, cached, read, on_screen)
PARTS = {part.__name__: part for part in _PARTS}
CASES = {name: PARTS[name] for name in ("extract", "cached", "on_screen")}  # those of regressions.py


def prepare():
    """Import what each case needs, so that no case is measured with it."""
    import torch

    for operator in ("nms", "qnms"):  # what torchvision lacks beside a torch for which it was not built
        torch.library.define(f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    try:
        import xarray as xr
    except ImportError:  # thingsvision does not need it
        return
    xr.DataArray([0.0])  # the first one imports dask, where that is installed


def child(part, folder, name):
    """Run one part in this process."""
    prepare()
    with tempfile.TemporaryDirectory() as home:
        for variable in ("BRAINSCORE_HOME", "RESULTCACHING_HOME", "BRAINIO_HOME"):
            os.environ[variable] = os.path.join(home, variable.lower())
        given = folder if part == "thingsvision" else stimulus_set(folder)
        busy = time.process_time()
        seconds, values = PARTS[part](given) if part == "on_screen" else PARTS[part](given, name)
        busy = time.process_time() - busy
    print(json.dumps({"seconds": seconds, "cpu": busy, "values": values}))


def run(python, part, folder, name="CNN"):
    environment = {**os.environ, "BS_INSTALL_DEPENDENCIES": "no", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [python, "-P", os.path.abspath(__file__), "--child", part, str(folder), name]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{part} on {python} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def difference(found, reference):
    """Largest difference of the compared values of a layer, relative to its largest value."""
    pairs = zip(found, reference, strict=True)
    return max(max(abs(a - b) for a, b in zip(*pair, strict=True)) / max(map(abs, pair[1])) for pair in pairs)


def measure(columns, folder, runs, name="CNN"):
    """Medians and values of `columns`, a mapping from a name to interpreter and part, which run in turns."""
    found = {column: [] for column in columns}
    for _ in range(runs):
        for column, (python, part) in columns.items():
            found[column].append(run(python, part, folder, name))
    seconds = {column: statistics.median(one["seconds"] for one in results) for column, results in found.items()}
    return seconds, {column: results[0]["values"] for column, results in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", help="the peer's interpreter, thingsvision's and ours; then cases")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/performance.md")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_intermixed_args()
    if arguments.child:
        child(*arguments.child)
        return
    peer, things, ours, *wanted = arguments.pythons
    if arguments.write and wanted:
        parser.error("--write needs all cases; name none")
    folders = {}

    def folder(count):
        if count not in folders:
            folders[count] = tempfile.TemporaryDirectory()
            write_images(folders[count].name, count)
        return folders[count].name

    rows = []
    for name, count in (("CNN", IMAGES), ("ViT-Ti", IMAGES), ("CNN", MANY)):
        case = f"{name}, {count:,} images"
        if wanted and case not in wanted:
            continue
        columns = {"floor": (ours, "floor"), "last": (ours, "floor_channels_last")}
        columns["thingsvision"] = (things, "thingsvision")
        columns |= {"stored": (ours, "extract"), "memory": (ours, "extract_into_memory")}
        if count == IMAGES:
            columns["peer"] = (peer, "extract")
        runs = arguments.runs if count == IMAGES else max(1, arguments.runs // 2)
        seconds, values = measure(columns, folder(count), runs, name)
        differences = [difference(values["stored"], found) for found in values.values() if found is not None]
        rows.append([
            case, *(f"{seconds[column]:.2f}" for column in ("floor", "last")),
            f"{seconds['peer']:.2f}" if "peer" in seconds else "",
            *(f"{seconds[column]:.2f}" for column in ("thingsvision", "stored", "memory")),
            *(f"{seconds[column] / seconds['floor']:.2f}" for column in ("thingsvision", "stored", "memory")),
            f"{max(differences):.0e}",
        ])  # fmt: skip
        print(*rows[-1], flush=True)
    head = [
        "case", "floor, s", "floor, channels last, s", "peer, s", "thingsvision, s",
        "here, stored, s", "here, in memory, s",
        "thingsvision / floor", "stored / floor", "in memory / floor", "values differ by",
    ]  # fmt: skip
    text = table(head, rows)
    rows = []
    for case in ("cached", "on_screen"):
        if wanted and case not in wanted:
            continue
        columns = {"peer": (peer, case), "here": (ours, case)} | ({"read": (ours, "read")} if case == "cached" else {})
        seconds, values = measure(columns, folder(IMAGES), arguments.runs)
        rows.append([
            case, *(f"{seconds[column]:.3f}" for column in ("peer", "here")),
            f"{seconds['peer'] / seconds['here']:.1f}", f"{seconds['read']:.3f}" if "read" in seconds else "",
            f"{difference(values['here'], values['peer']):.0e}",
        ])  # fmt: skip
        print(*rows[-1], flush=True)
    text += "\n\n" + table(["case", "peer, s", "here, s", "ratio", "file read by NumPy, s", "values differ by"], rows)
    print(text)
    if arguments.write:
        write_section("extraction", text)


if __name__ == "__main__":
    main()
