"""A behavioural benchmark from a table of trials: import, package on this machine, register, score a model.

Run it with ``python behavioural_benchmark_from_csv.py`` after ``pip install brainscore``. The trials are simulated.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

import brainscore
from brainio.importers import from_trials
from brainio.packaging import package_data_assembly_locally, package_stimulus_set_locally
from brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_vision.data_sources.local import register_package
from brainscore_vision.model_interface import BrainModel

work = Path(tempfile.mkdtemp(prefix="journey_"))
for variable in ("BRAINSCORE_HOME", "BRAINSCORE_RESULTS", "BRAINIO_HOME"):
    os.environ[variable] = str(work / variable.lower())

# what the laboratory has: images, and a table of trials
random = np.random.default_rng(0)
rows = []
for number in range(60):
    side = "left" if number % 2 else "right"
    pixels = random.integers(0, 200, (32, 32))
    pixels[:, slice(0, 16) if side == "left" else slice(16, None)] += 8 * (number % 6)
    Image.fromarray(pixels.astype(np.uint8)).save(work / f"picture_{number:02d}.png")
    rows.append({"stimulus_id": f"picture_{number:02d}", "image_label": side, "contrast": 8 * (number % 6)})
table = pd.DataFrame(rows)
trials = pd.concat([table[20:].sample(frac=1, random_state=seed).assign(participant=f"p{seed}") for seed in range(8)])
wrong = random.random(len(trials)) < np.where(trials["contrast"] < 16, 0.45, 0.03)
trials["key"] = np.where(wrong, np.where(trials["image_label"] == "left", "right", "left"), trials["image_label"])
trials["rt"] = random.gamma(4, 0.15, len(trials)).round(3)
trials.loc[trials["rt"] > 1.4, "key"] = None  # too late
trials["number"] = trials.groupby("participant").cumcount()
trials.rename(columns={"stimulus_id": "picture"}).to_csv(work / "trials.csv", index=False)

# written by the user
stimuli = StimulusSet(table)
stimuli.identifier = "Doe2026"
stimuli.stimulus_paths = {name: work / f"{name}.png" for name in table["stimulus_id"]}
choices = from_trials(
    work / "trials.csv",
    stimulus_id="picture",
    response="key",
    truth="image_label",
    subject="participant",
    trial="number",
    stimulus_set=stimuli,
)
print(choices.attrs["import_report"])

plugin = work / "plugins" / "data" / "doe2026"
register_package(package_stimulus_set_locally(stimuli, "Doe2026", plugin), plugin)
register_package(package_data_assembly_locally(choices, "Doe2026", "Doe2026", "BehavioralAssembly", plugin), plugin)
os.environ["BRAINSCORE_PLUGINS"] = str(work / "plugins")


# the benchmark, and a model
class Doe2026(BenchmarkBase):
    """People and model say on which side a picture is brighter: do they err on the same pictures?"""

    def __init__(self):
        self.people = load_dataset("Doe2026")
        self.metric = load_metric("error_consistency")
        super().__init__(
            identifier="Doe2026-error_consistency",
            version=1,
            ceiling_func=lambda: self.metric.ceiling(self.people),
            parent="behavior",
        )

    def __call__(self, candidate):
        pictures = place_on_screen(
            self.people.stimulus_set, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=8
        )
        candidate.start_task(BrainModel.Task.probabilities, pictures[:20])  # nobody was tested on these
        probabilities = candidate.look_at(pictures[20:]).transpose("presentation", "choice")
        labels = probabilities.isel(choice=0, drop=True).astype(object)
        labels.values[:] = probabilities["choice"].values[probabilities.values.argmax(axis=1)]
        return bound_score(normalise(self.metric(labels, self.people), self.ceiling))


benchmark_registry["Doe2026-error_consistency"] = Doe2026
score = brainscore.score("pixels", "Doe2026-error_consistency")
print(f"pixels on Doe2026-error_consistency: {float(score):.3f}, ceiling {float(score.attrs['ceiling']):.3f}")
if not 0 <= float(score) <= 1:
    raise SystemExit("the score is not in [0, 1]")
