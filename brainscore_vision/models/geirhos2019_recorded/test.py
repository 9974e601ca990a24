import pytest

from brainscore_core.errors import NotApplicable
from brainscore_vision import load_benchmark, load_dataset, load_model
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.models.geirhos2019_recorded.model import NETWORKS


@pytest.mark.parametrize("identifier", sorted(NETWORKS))
def test_replays_cue_conflict(mirror, identifier):
    model = load_model(identifier)
    assert model.identifier == identifier
    stimuli = load_dataset("Geirhos2019_cue-conflict").stimulus_set
    model.start_task(BrainModel.Task.label, sorted(set(stimuli["truth"])))
    choices = model.look_at(stimuli)
    assert choices.shape == (1280, 1)
    assert set(choices.values.ravel()) <= set(stimuli["truth"])
    assert list(choices["stimulus_id"].values) == list(stimuli["stimulus_id"])


@pytest.mark.parametrize(
    ("identifier", "test"), [("resnet50-recorded2019", "edge"), ("alexnet-recorded2019", "colour")]
)
def test_images_without_published_decisions_are_not_applicable(mirror, identifier, test):
    benchmark = load_benchmark(f"Geirhos2021{test}-error_consistency")
    with pytest.raises(NotApplicable, match="not published"):
        benchmark(load_model(identifier))


def test_nothing_to_record_from(mirror):
    with pytest.raises(NotApplicable):
        load_model("alexnet-recorded2019").start_recording(BrainModel.RecordingTarget.IT, [(70, 170)])
