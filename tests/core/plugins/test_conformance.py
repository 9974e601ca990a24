"""Each check fails on a model made to fail it, and only then."""

import numpy as np
import pytest

from brainscore_core.errors import NotApplicable
from brainscore_core.plugins import ConformanceError, check_model
from brainscore_core.plugins.conformance.models import CHECKS
from brainscore_core.provenance import NOT_REPEATABLE, note
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly


class Sound:
    """A model that passes: mean colours of each quarter of the picture."""

    identifier = "sound"

    def __init__(self):
        self.look = None

    def visual_degrees(self):
        return 8

    def start_task(self, task, fitting_stimuli=None):
        if task == "passive":
            return
        if task == "odd_one_out":
            self.look = self.odd
        elif task == "label":
            self.look = lambda stimuli, trials, variance: self.answers(
                stimuli, [[fitting_stimuli[0]]] * len(stimuli), [0]
            )
        elif task == "probabilities":
            labels = sorted(set(fitting_stimuli["image_label"]))
            row = [1 / len(labels)] * len(labels)
            self.look = lambda stimuli, trials, variance: self.answers(stimuli, [row] * len(stimuli), labels)
        else:
            raise NotApplicable("no such task")

    def start_recording(self, region, time_bins):
        if region not in ("V1", "IT"):
            raise NotApplicable("no such region")
        self.bins = time_bins
        self.look = self.record

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        return self.look(stimuli, number_of_trials, require_variance)

    def features(self, stimuli):
        from PIL import Image

        pictures = [np.asarray(Image.open(stimuli.get_stimulus(name)), dtype=float) for name in stimuli["stimulus_id"]]
        return np.stack([picture.reshape(2, 32, 2, 32, 3).mean(axis=(1, 3)).ravel() for picture in pictures])

    def record(self, stimuli, trials, variance):
        values, ids = self.features(stimuli), list(stimuli["stimulus_id"])
        if variance:
            values, ids = np.repeat(values, trials, axis=0), list(np.repeat(ids, trials))
        return self.assembly(values, ids)

    def assembly(self, values, ids):
        coords = {
            "stimulus_id": ("presentation", ids),
            "object_name": ("presentation", ids),
            "neuroid_id": ("neuroid", [f"n{number}" for number in range(values.shape[1])]),
            "layer": ("neuroid", ["quarters"] * values.shape[1]),
        }
        if len(self.bins) == 1:
            return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
        coords["time_bin_start"] = ("time_bin", [start for start, _ in self.bins])
        coords["time_bin_end"] = ("time_bin", [end for _, end in self.bins])
        values = np.repeat(values[..., None], len(self.bins), axis=2)
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid", "time_bin"])

    def answers(self, stimuli, values, choices):
        ids = list(stimuli["stimulus_id"])
        coords = {"stimulus_id": ("presentation", ids), "truth": ("presentation", ids), "choice": ("choice", choices)}
        return BehavioralAssembly(values, coords=coords, dims=["presentation", "choice"])

    def odd(self, stimuli, trials, variance):
        answers = [0] * (len(stimuli) // 3)
        coords = {"stimulus_id": ("presentation", answers), "triplet": ("presentation", answers)}
        return BehavioralAssembly(answers, coords=coords, dims=["presentation"])


class NoName(Sound):
    identifier = ""


class NoAngle(Sound):
    def visual_degrees(self):
        return 0


class Idle(Sound):
    def start_recording(self, region, time_bins):
        raise NotApplicable("no region")

    def start_task(self, task, fitting_stimuli=None):
        raise NotApplicable("no task")


class WithNaN(Sound):
    def features(self, stimuli):
        return np.full((len(stimuli), 4), np.nan)


class Shuffled(Sound):
    def record(self, stimuli, trials, variance):
        return super().record(stimuli, trials, variance)[::-1]


class OneBinOnly(Sound):
    def assembly(self, values, ids):
        self.bins = self.bins[:1]
        return super().assembly(values, ids)


class Noisy(Sound):
    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)

    def features(self, stimuli):
        return super().features(stimuli) + self.rng.normal(scale=20, size=(len(stimuli), 12))


class Position(Sound):
    def features(self, stimuli):
        return super().features(stimuli) * np.linspace(1, 2, len(stimuli))[:, None]


class Batch(Sound):
    def features(self, stimuli):
        return super().features(stimuli) / len(stimuli)


class OneTrial(Sound):
    def record(self, stimuli, trials, variance):
        return super().record(stimuli, 1, False)


class StuckTrials(Sound):
    trials = 1

    def record(self, stimuli, trials, variance):
        self.trials = max(trials, self.trials)
        return super().record(stimuli, self.trials, self.trials > 1)


class WrongLabel(Sound):
    def start_task(self, task, fitting_stimuli=None):
        super().start_task(task, ["wolf"] if task == "label" else fitting_stimuli)


class NoSum(Sound):
    def answers(self, stimuli, values, choices):
        return super().answers(
            stimuli, [[2 * value for value in row] if len(row) > 1 else row for row in values], choices
        )


class Identifiers(Sound):
    def odd(self, stimuli, trials, variance):
        return super().odd(stimuli, trials, variance) + 7


class Sticky(Sound):
    task = False

    def start_task(self, task, fitting_stimuli=None):
        super().start_task(task, fitting_stimuli)
        self.task = self.task or task in ("label", "probabilities")

    def start_recording(self, region, time_bins):
        if not self.task:
            super().start_recording(region, time_bins)


class Silent(Sound):
    def start_recording(self, region, time_bins):
        super().start_recording("IT", time_bins)


class Dropping(Sound):
    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        note("remark", text=f"the responses of it are {NOT_REPEATABLE}: they are random")
        return super().look_at(stimuli, number_of_trials, require_variance)


class Distracted(Sound):
    def start_task(self, task, fitting_stimuli=None):
        super().start_task("odd_one_out" if task == "passive" else task, fitting_stimuli)


class Rude(Sound):
    def start_task(self, task, fitting_stimuli=None):
        if task not in ("passive", "label", "probabilities", "odd_one_out"):
            raise KeyError(task)
        super().start_task(task, fitting_stimuli)


def failures(model):
    return {check.name for check in check_model(model, raise_errors=False) if check.result == "failed"}


def test_a_sound_model_passes_every_check():
    assert {str(check) for check in check_model(Sound()) if check.result != "passed"} == set()


@pytest.mark.parametrize(
    ("model", "check"),
    [
        (NoName, "it has an identifier"),
        (NoAngle, "it knows its visual angle"),
        (Idle, "it can be recorded from or does a task"),
        (WithNaN, "recordings have the right form"),
        (Shuffled, "recordings have the right form"),
        (OneBinOnly, "time bins come back as asked"),
        (Dropping, "responses are a function of the stimulus"),
        (Noisy, "responses repeat"),
        (Position, "responses do not depend on the order of stimuli"),
        (Batch, "responses do not depend on the other stimuli"),
        (OneTrial, "trials are kept apart when asked"),
        (StuckTrials, "trials are kept apart when asked"),
        (WrongLabel, "task label"),
        (NoSum, "task probabilities"),
        (Identifiers, "task odd_one_out"),
        (Distracted, "task passive"),
        (Sticky, "recording after a task records"),
        (Silent, "what it cannot do it refuses"),
        (Rude, "what it cannot do it refuses"),
    ],
)
def test_a_fault_is_found_by_its_check(model, check):
    assert check in CHECKS
    assert check in failures(model())


def test_what_a_model_cannot_do_is_no_failure():
    class Blind(Sound):
        def start_recording(self, region, time_bins):
            raise NotApplicable("it has no regions")

    results = {check.name: check for check in check_model(Blind())}
    assert results["recordings have the right form"].result == "not applicable"
    assert results["task label"].result == "passed"


def test_failures_are_raised_together_and_explained():
    class Bad(NoAngle, WithNaN):
        identifier = "bad"

    with pytest.raises(ConformanceError) as raised:
        check_model(Bad())
    assert "'bad'" in str(raised.value)
    assert "visual_degrees() returned 0" in str(raised.value)
    assert "hold NaN" in str(raised.value)
    assert len(raised.value.checks) == len(CHECKS)
