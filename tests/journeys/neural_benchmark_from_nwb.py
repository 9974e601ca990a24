"""A neural benchmark from an NWB file: import, package on this machine, register, score a model.

Run it with ``python neural_benchmark_from_nwb.py`` after ``pip install 'brainscore[nwb]'``. The recordings are
simulated; pynwb writes the file, as a laboratory does.
"""

import datetime
import os
import tempfile
from pathlib import Path

import numpy as np
import pynwb
from PIL import Image

import brainscore
from brainio.importers import from_nwb
from brainio.packaging import package_data_assembly_locally, package_stimulus_set_locally
from brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.data_sources.local import register_package

work = Path(tempfile.mkdtemp(prefix="journey_"))
for variable in ("BRAINSCORE_HOME", "BRAINSCORE_RESULTS", "BRAINIO_HOME"):
    os.environ[variable] = str(work / variable.lower())

# what the laboratory has: images, and an NWB file with units and trials
random = np.random.default_rng(0)
images = {f"image_{number:02d}": random.integers(0, 256, (8, 8)).astype(np.uint8) for number in range(60)}
for name, pixels in images.items():
    Image.fromarray(np.kron(pixels, np.ones((8, 8), np.uint8))).save(work / f"{name}.png")
shown = random.permutation(list(images) * 6)
onsets = 1 + 0.5 * np.arange(len(shown))

session = pynwb.NWBFile("simulated", "session-1", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), session_id="s1")
session.subject = pynwb.file.Subject(subject_id="monkey_A")
array = session.create_electrode_group("array", "96 channels", "V4", session.create_device("array"))
session.add_trial_column("image", "the image that was shown")
for image, onset in zip(shown, onsets, strict=True):
    session.add_trial(start_time=onset, stop_time=onset + 0.4, image=str(image))
for unit in range(20):
    session.add_electrode(location="V4", group=array)
    weights = random.standard_normal(64) / 8
    rates = {name: 30 + 60 * max(0, weights @ (pixels.ravel() / 255 - 0.5)) for name, pixels in images.items()}
    spikes = [onset + random.uniform(0.07, 0.17, random.poisson(rates[str(name)] / 10))
              for name, onset in zip(shown, onsets, strict=True)]  # fmt: skip
    session.add_unit(spike_times=np.sort(np.concatenate(spikes)), electrodes=[unit])
with pynwb.NWBHDF5IO(work / "session.nwb", "w") as file:
    file.write(session)

# written by the user
stimuli = StimulusSet({"stimulus_id": list(images)})
stimuli.identifier = "Doe2026"
stimuli.stimulus_paths = {name: work / f"{name}.png" for name in images}
recordings = from_nwb(work / "session.nwb", stimulus="image", time_bins=[(70, 170)], stimulus_set=stimuli)
print(recordings.attrs["import_report"])

plugin = work / "plugins" / "data" / "doe2026"
register_package(package_stimulus_set_locally(stimuli, "Doe2026", plugin), plugin)
register_package(package_data_assembly_locally(recordings, "Doe2026", "Doe2026", "NeuroidAssembly", plugin), plugin)
os.environ["BRAINSCORE_PLUGINS"] = str(work / "plugins")


# the benchmark, and a model
def benchmark():
    repetitions = load_dataset("Doe2026").sel(region="V4").isel(time_bin=0, drop=True)
    return NeuralBenchmark(
        identifier="Doe2026.V4-pls",
        version=1,
        assembly=average_repetition(repetitions),
        similarity_metric=load_metric("pls"),
        visual_degrees=8,
        number_of_trials=6,
        ceiling_func=lambda: load_ceiling("internal_consistency")(repetitions),
        repetitions=repetitions,
        parent="V4",
    )


benchmark_registry["Doe2026.V4-pls"] = benchmark
score = brainscore.score("pixels", "Doe2026.V4-pls")
print(f"pixels on Doe2026.V4-pls: {float(score):.3f}, ceiling {float(score.attrs['ceiling']):.3f}")
if not 0 < float(score) <= 1:
    raise SystemExit("the score is not in (0, 1]")
