"""Label tasks by a readout that is fitted on labelled images, which are simulated here."""

import numpy as np
import pytest
from PIL import Image

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score
from brainscore_core.scoring import run_pair
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import CallableWrapper
from brainscore_vision.stimuli.labels import imagenet_synsets, label_to_indices

COLOURS = {"knife": (200, 30, 30), "oven": (30, 200, 30), "dog": (30, 30, 200)}


def _images(folder, labels, seed, name):
    random = np.random.default_rng(seed)
    stimuli = StimulusSet({"stimulus_id": [f"{name}{i}" for i in range(len(labels))], "object": labels})
    stimuli.stimulus_paths = {one: folder / f"{one}.png" for one in stimuli["stimulus_id"]}
    for path, label in zip(stimuli.stimulus_paths.values(), labels, strict=True):
        pixels = np.clip(np.array(COLOURS[label]) + random.normal(0, 20, (4, 4, 3)), 0, 255)
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    stimuli.identifier = name
    return stimuli


@pytest.fixture
def shown(tmp_path):
    return _images(tmp_path, ["dog", "oven", "knife", "knife", "dog"], 0, "shown")


@pytest.fixture
def labelled(tmp_path):
    images = _images(tmp_path, list(COLOURS) * 8, 1, "labelled")
    images["image_label"] = images["object"]
    return images


def _model(readout_stimuli=None, **layers):
    layers = {"colour": lambda images: np.stack([image.mean((0, 1)) for image in images])} | layers
    return ModelCommitment(
        "colours", CallableWrapper(layers, "colours", load=load_rgb, store=None), ["colour"],
        readout_stimuli=readout_stimuli,
    )  # fmt: skip


def test_labels_of_the_images_are_those_to_choose_from(shown, labelled):
    model = _model(labelled)
    model.start_task("label", ["Dog", "knife", "oven"])
    answer = model.look_at(shown)
    assert answer.values.ravel().tolist() == ["Dog", "oven", "knife", "knife", "Dog"]
    assert answer["label"].values.tolist() == answer.values.ravel().tolist()
    assert answer.attrs["readout"] == (
        "fitted readout: labels are read out of layer colour by logistic regression "
        "on 24 images of 3 labels of labelled"
    )
    model.start_task("label", ["knife", "oven"])  # the dogs take no part
    assert "16 images of 2 labels" in model.look_at(shown).attrs["readout"]


def test_labels_of_the_images_are_synsets(shown, labelled):
    of_label = {label: [imagenet_synsets()[i] for i in label_to_indices(label)] for label in COLOURS}
    labelled["image_label"] = [of_label[label][-1] for label in labelled["object"]]  # of all dogs one breed is shown
    model = _model(lambda: labelled)
    model.start_task("label", ["dog", "knife", "oven"])
    assert model.look_at(shown).values.ravel().tolist() == list(shown["object"])
    model.start_task("label", "imagenet")
    answer = model.look_at(shown)
    assert answer["synset"].values[2] == of_label["knife"][-1]
    assert answer["logit"].values[2] == label_to_indices("knife")[-1]
    model.start_task("label", ["dog", "truck"])
    with pytest.raises(UserError, match="no images of 'truck'"):
        model.look_at(shown)


def test_images_must_be_labelled_with_what_is_asked_for(shown, labelled):
    for images, task, message in (
        (shown, ["dog"], "no labelled images"),
        (labelled, "imagenet", "label 'knife'"),
        (labelled, ["dog", "sloth"], "no images of 'sloth'"),
        (labelled.assign(image_label=None), ["dog"], "have no 'image_label'"),
    ):
        model = _model(images)
        model.start_task("label", task)
        with pytest.raises(UserError, match=message):
            model.look_at(shown)
    with pytest.raises(NotApplicable, match="readout_stimuli"):
        _model().start_task("label", ["dog"])


def test_logits_are_used_where_there_are_those_of_imagenet(shown, labelled):
    def logits(images):
        values = np.zeros((len(images), 1000))
        values[:, label_to_indices("truck")] = 1
        return values

    model = _model(labelled, logits=logits)
    model.start_task("label", ["dog", "truck"])
    answer = model.look_at(shown)
    assert set(answer.values.ravel()) == {"truck"}
    assert "readout" not in answer.attrs
    narrow = _model(labelled, logits=lambda images: logits(images)[:, :10])  # which shows when it has run
    narrow.start_task("label", ["dog", "knife", "oven"])
    assert narrow.look_at(shown).values.ravel().tolist() == list(shown["object"])


def test_score_and_receipt_are_marked(shown, labelled, tmp_path):
    class Accuracy(BenchmarkBase):
        def __call__(self, candidate):
            candidate.start_task("label", list(COLOURS))
            return Score(float(np.mean(candidate.look_at(shown).values.ravel() == shown["object"].to_numpy())))

    def score(model):
        return run_pair(
            "colours", "Simulated-accuracy", load_model=lambda name: model,
            load_benchmark=lambda name: Accuracy(name, lambda: Score(1.0), version=1),
        )  # fmt: skip

    outcome = score(_model(labelled))
    assert float(outcome.score) == 1
    assert outcome.score.attrs["readout"].startswith("fitted readout: ")
    assert outcome.score.attrs["readout"] in outcome.receipt.notes
    declined = score(_model())
    assert declined.receipt.state == "not applicable"
    assert "readout" not in declined.score.attrs
