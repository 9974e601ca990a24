import numpy as np
import pytest

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_benchmark, load_model
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmarks.geirhos2019.benchmark import load_assembly
from brainscore_vision.data.geirhos2019.data_packaging import STIMULI_VARIABLE
from brainscore_vision.model_interface import BrainModel

IDENTIFIER = "Geirhos2019-shape_bias"


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv(STIMULI_VARIABLE, raising=False)


def test_is_as_published():
    assert load_benchmark(IDENTIFIER).identifier == IDENTIFIER


def test_only_images_in_conflict(mirror):
    assembly = load_assembly()
    assert len(assembly.stimulus_set) == len(set(assembly["stimulus_id"].values)) == 1200
    assert (assembly["shape"].values != assembly["texture"].values).all()
    assert assembly.sizes["presentation"] == 12_000


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("network", "expected"), [("alexnet", 0.4294), ("googlenet", 0.3119), ("vgg16", 0.1722), ("resnet50", 0.2207)]
)
def test_published_networks(mirror, network, expected):
    score = load_benchmark(IDENTIFIER)(load_model(f"{network}-recorded2019"))
    assert score.attrs["shape_bias"] == pytest.approx(expected, abs=5e-5)
    assert score.attrs["human_shape_bias"] == pytest.approx(0.9587, abs=5e-5)
    raw = score.attrs["raw"]
    assert float(raw) == pytest.approx(1 - (0.9587 - expected), abs=1e-4)
    assert float(raw.attrs["raw"]) == score.attrs["shape_bias"]
    assert float(score) == pytest.approx(float(raw) / float(score.attrs["ceiling"]))
    assert score.attrs["stimuli_shown"] == score.attrs["stimuli_of_experiment"] == 1200
    assert 0.005 < score.attrs["error"] < 0.05
    low, high = score.attrs["ci"]
    assert low < float(score) < high


def test_ceiling(mirror):
    ceiling = load_benchmark(IDENTIFIER).ceiling
    assert ceiling.attrs["meaning"] == "human-human"
    assert len(ceiling.attrs["raw"]) == 10
    assert 0.98 < float(ceiling) < 1
    assert ceiling.attrs["error"] > 0


class Looker(BrainModel):
    """Names each image from its file's name: shape and texture in turn."""

    identifier = "looker"

    def visual_degrees(self):
        return 3

    def start_recording(self, recording_target, time_bins, **kwargs):
        raise NotApplicable("it has no regions")

    def start_task(self, task, fitting_stimuli=None):
        self.choices = list(fitting_stimuli)

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        names = [stimuli.get_stimulus(name).stem for name in stimuli["stimulus_id"]]
        cues = [name.rstrip("0123456789") for stem in names for name in [stem.split("-")[len(stem) % 2]]]
        assert set(cues) <= set(self.choices)
        return BehavioralAssembly(
            cues, coords={"stimulus_id": ("presentation", list(stimuli["stimulus_id"]))}, dims=["presentation"]
        )


def test_images_at_hand_only(mirror):
    score = load_benchmark(IDENTIFIER)(Looker())
    assert (score.attrs["stimuli_shown"], score.attrs["stimuli_of_experiment"]) == (154, 1200)
    assert "154 of the experiment's 1200" in score.attrs["comment"]
    assert 0.2 < score.attrs["shape_bias"] < 0.8
    assert score.attrs["human_shape_bias"] == pytest.approx(0.9603, abs=5e-5)
    assert float(score.attrs["ceiling"]) == pytest.approx(0.9771, abs=5e-5)


def _decide(column):
    stimuli = load_assembly().stimulus_set
    return RecordedDecisions(column, dict(zip(stimuli["stimulus_id"], stimuli[column], strict=True)), visual_degrees=3)


@pytest.mark.parametrize(("column", "bias"), [("shape", 1.0), ("texture", 0.0)])
def test_too_much_shape_counts_as_a_difference_too(mirror, column, bias):
    score = load_benchmark(IDENTIFIER)(_decide(column))
    assert score.attrs["shape_bias"] == bias
    assert float(score.attrs["raw"]) == pytest.approx(1 - abs(bias - 0.9586880), abs=1e-6)


def test_neither_cue_gives_no_score(mirror):
    stimuli = load_assembly().stimulus_set
    model = RecordedDecisions("nothing", dict.fromkeys(stimuli["stimulus_id"], "na"), visual_degrees=3)
    score = load_benchmark(IDENTIFIER)(model)
    assert np.isnan(float(score))
    assert "ever chosen" in score.attrs["raw"].attrs["error_reason"]


def test_models_without_words_are_not_applicable(mirror):
    with pytest.raises(NotApplicable):
        load_benchmark(IDENTIFIER)(RecordedDecisions("triplets", {"a": 0}, visual_degrees=3, task="odd_one_out"))
