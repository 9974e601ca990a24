"""What it costs that a model answers from a process of its own: seconds and memory of one large recording.

``python perf/isolated.py`` prints a table. Each line is a process of its own. Memory is what the system cannot have
back of scoring process and model together: anonymous memory, and shared memory of the whole system; highest while
recording, and afterwards, with the recording held and summed.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MODEL = """
import numpy as np
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.model_helpers.images import load_grey

WIDTH = {width}


def wide():
    base = np.random.default_rng(0).standard_normal(WIDTH).astype("f4")
    return FeatureModel(
        "wide",
        {{"wide": lambda images: np.stack([base * np.float32(image.mean()) for image in images])}},
        load=load_grey,
        dtype=np.float32,
        batch_size=8,
    )
"""
STIMULI, WIDTH = 1000, 125_000  # 500 MB of float32


def held(pids):
    shared = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("Shmem:"))
    total = int(shared.split()[1]) * 1024
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon")) * 1024
    return total


def descendants(pid):
    found = [pid]
    for child in Path(f"/proc/{pid}/task").glob("*/children"):
        for one in child.read_text().split():
            found += descendants(int(one))
    return found


def measure(where, folder):
    import numpy as np
    from PIL import Image

    from brainscore_core.plugins.loading import load_file_reference
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision.model_sources.isolation import isolated_model

    folder = Path(folder)
    (folder / "wide.py").write_text(MODEL.format(width=WIDTH))
    ids = [f"s{number}" for number in range(STIMULI)]
    stimuli = StimulusSet({"stimulus_id": ids})
    stimuli.identifier = "Drawn"
    stimuli.stimulus_paths = {name: folder / f"{name}.png" for name in ids}
    for number, name in enumerate(ids):
        levels = np.full((8, 8, 3), number % 251, dtype=np.uint8)
        levels[0] = number // 251  # no two alike
        Image.fromarray(levels).save(folder / f"{name}.png")
    reference = f"{folder / 'wide.py'}:wide"
    started = time.perf_counter()
    model = isolated_model(reference) if where == "isolated" else load_file_reference(reference)[0]
    started = time.perf_counter() - started
    model.start_recording("IT", [(70, 170)])
    model.look_at(stimuli[:2])
    pids, highest, over = descendants(os.getpid()), [0], threading.Event()
    before = held(pids)

    def watch():
        while not over.wait(0.01):
            highest[0] = max(highest[0], held(pids))

    watcher = threading.Thread(target=watch)
    watcher.start()
    seconds = []
    for _ in range(3):
        recordings = None
        begun = time.perf_counter()
        recordings = model.look_at(stimuli)
        seconds.append(time.perf_counter() - begun)
    total = float(recordings.values.sum(dtype=np.float64))
    over.set()
    watcher.join()
    print(
        json.dumps(
            {
                "start": started,
                "first": seconds[0],
                "seconds": min(seconds),
                "highest": (highest[0] - before) / 1e6,
                "after": (held(pids) - before) / 1e6,
                "sum": total,
            }
        )
    )
    if where == "isolated":
        model.close()


def main():
    print("| activations | model | start, s | first recording, s | best of 3, s | highest, MB | after, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for stored in ("off", "on"):
        sums = set()
        for where in ("here", "isolated"):
            with tempfile.TemporaryDirectory() as folder:
                variables = {
                    **os.environ,
                    "BRAINSCORE_HOME": f"{folder}/home",
                    "BRAINSCORE_ACTIVATIONS": "off" if stored == "off" else f"{folder}/activations",
                }
                run = subprocess.run(
                    [sys.executable, __file__, where, folder],
                    env=variables,
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
            found = json.loads(run.stdout)
            sums.add(found["sum"])
            times = f"{found['start']:.2f} | {found['first']:.2f} | {found['seconds']:.2f}"
            print(f"| {stored} | {where} | {times} | {found['highest']:.0f} | {found['after']:.0f} |")
        assert len(sums) == 1, sums


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) > 1 else main()
