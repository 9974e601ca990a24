from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import NotApplicable, UnknownIdentifier
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_benchmark
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmarks.bmd2024.benchmark import BMD2024AccuracyDistance
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.testing import serve_stand_ins, small_labeller

CEILINGS = {"texture_1": 0.98283, "texture_2": 0.97337, "dotted_1": 0.97837, "dotted_2": 0.93071}


def _identifier(condition):
    return f"BMD2024.{condition}Behavioral-accuracy_distance"


class Brightness(BrainModel):
    """Takes the mean level of a picture for the object."""

    identifier = "brightness"

    def visual_degrees(self):
        return 8

    def start_recording(self, recording_target, time_bins=None, **kwargs):
        raise NotApplicable("it has no regions")

    def start_task(self, task, fitting_stimuli=None):
        self.task, self.choices = task, list(fitting_stimuli)

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.trials, chosen = number_of_trials, []
        for name in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(name)) as image:
                rank = round((np.asarray(image.convert("L")).mean() - 10) / 23)
            chosen.append(self.choices[min(max(rank, 0), len(self.choices) - 1)])
        coords = {"stimulus_id": ("presentation", list(stimuli["stimulus_id"])), "choice": ("choice", ["label"])}
        return BehavioralAssembly(np.array(chosen)[:, np.newaxis], coords=coords, dims=["presentation", "choice"])


def _accuracies(assembly):
    """Of each person."""
    right = assembly.values == assembly["truth"].values
    return [right[assembly["subject"].values == subject].mean() for subject in sorted(set(assembly["subject"].values))]


def _closeness(one, other):
    return 1 - abs(one - other) / max(other, 1 - other)


def test_unknown_condition_is_refused():
    with pytest.raises(UnknownIdentifier, match="texture_3"):
        BMD2024AccuracyDistance("texture_3")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("condition", CEILINGS)
@pytest.mark.parametrize("model", ["brightness", "small-labeller"])
def test_equals_the_published_definition(s3_server, condition, model):
    if model == "small-labeller":
        pytest.importorskip("torch")
    candidate = Brightness() if model == "brightness" else small_labeller()
    with serve_stand_ins(f"BMD2024.{condition}"):
        benchmark = load_benchmark(_identifier(condition))
        score = benchmark(candidate)
        assembly = benchmark._assembly.content
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (_identifier(condition), 1, "BMD2024")
    stimuli = assembly.attrs["stimulus_set"]
    assert stimuli.identifier == f"BMD_2024_{condition}"
    labels = candidate.look_at(place_on_screen(stimuli, candidate.visual_degrees(), 8)).squeeze()
    chosen = dict(zip(labels["stimulus_id"].values, labels.values, strict=True))
    ours = np.mean(
        [chosen[name] == truth for name, truth in zip(stimuli["stimulus_id"], stimuli["truth"], strict=True)]
    )
    people = _accuracies(assembly)
    raw = np.mean([_closeness(ours, person) for person in people])
    ceiling = np.mean([_closeness(one, other) for one, other in combinations(people, 2)])
    assert float(score.attrs["raw"]) == pytest.approx(raw, abs=1e-12)
    assert float(benchmark.ceiling) == pytest.approx(ceiling, abs=1e-12)
    assert float(score) == pytest.approx(min(raw / ceiling, 1), abs=1e-12)
    assert 0 < float(score) <= 1
    low, high = score.attrs["ci"]
    assert low <= float(score) <= high
    assert score.attrs["error"] > 0
    assert benchmark.ceiling.attrs["error"] > 0
    if model == "brightness":
        assert ours > 0.5
        assert (candidate.task, candidate.trials, len(candidate.choices)) == ("label", 1, 10)


@pytest.mark.private_access
@pytest.mark.parametrize("condition", CEILINGS)
def test_published_ceiling(condition):
    assert float(load_benchmark(_identifier(condition)).ceiling) == pytest.approx(CEILINGS[condition], abs=0.001)
