"""Labels against definitions that are computed here by hand."""

import json

import numpy as np
import pytest
from scipy.special import softmax

from brainscore_core.errors import NotApplicable, UserError
from brainscore_vision.model_helpers.brain_transformation import LabelBehavior, LogitsBehavior
from brainscore_vision.model_helpers.brain_transformation.behavior import label_probabilities
from brainscore_vision.stimuli.labels import (
    imagenet_synsets,
    index_lists,
    known_labels,
    label_to_indices,
)

SIXTEEN = [
    *("airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat"),
    *("chair", "clock", "dog", "elephant", "keyboard", "knife", "oven", "truck"),
]


@pytest.fixture
def logits():
    values = np.random.default_rng(0).standard_normal((5, 1000)) * 3
    values[0, 281] = 50  # tabby
    values[1, 404] = 50  # airliner
    values[2, [151, 152]] = 40  # chihuahua, which the list of dogs leaves out, and Japanese spaniel
    return values


@pytest.fixture
def shown(stimuli_of):
    return stimuli_of([f"im{number}" for number in range(5)], object_name=list("abcde"))


def behaviour_of(network_of, shown, logits):
    network = network_of({"logits": dict(zip(shown["stimulus_id"], logits, strict=True))})
    return LabelBehavior("net", network), network


def test_the_published_names():
    assert LogitsBehavior is LabelBehavior


def test_imagenet(network_of, shown, logits):
    behaviour, _ = behaviour_of(network_of, shown, logits)
    behaviour.start_task("label", "imagenet")
    result = behaviour.look_at(shown)
    assert result.dims == ("presentation", "choice")
    assert result.shape == (5, 1)
    assert result.values[:2, 0].tolist() == ["n02123045", "n02690373"]
    np.testing.assert_array_equal(result["logit"].values, logits.argmax(axis=1))
    assert result["synset"].values.tolist() == result["label"].values.tolist() == result.values[:, 0].tolist()
    assert result["stimulus_id"].values.tolist() == shown["stimulus_id"].tolist()
    assert result["object_name"].values.tolist() == list("abcde")


@pytest.mark.parametrize("aggregation", ["mean", "max"])
def test_labels_of_published_lists(network_of, shown, logits, aggregation):
    behaviour, _ = behaviour_of(network_of, shown, logits)
    behaviour.start_task("label", SIXTEEN, aggregation=aggregation)
    result = behaviour.look_at(shown)
    probabilities = softmax(logits, axis=1)
    expected = []
    for row in probabilities:
        each = [getattr(np, aggregation)(row[list(label_to_indices(label))]) for label in SIXTEEN]
        expected.append(SIXTEEN[int(np.argmax(each))])
    assert result.dims == ("presentation", "choice")
    assert result.values[:, 0].tolist() == expected == result["label"].values.tolist()
    assert expected[:2] == ["cat", "airplane"]


def test_huge_logits_do_not_overflow(network_of, shown, logits):
    behaviour, _ = behaviour_of(network_of, shown, logits * 1e6)
    behaviour.start_task("label", ["dog", "cat"])
    assert behaviour.look_at(shown).values[0, 0] == "cat"
    np.testing.assert_allclose(label_probabilities([[1e6, 0, -1e6]], [[0], [1], [2]]), [[1, 0, 0]])


def test_own_lists_and_interface_name(network_of, shown, logits):
    behaviour, _ = behaviour_of(network_of, shown, logits)
    behaviour.start_task("label", fitting_stimuli={"chihuahua": [151], "airliner": [404]})
    assert behaviour.look_at(shown).values[1, 0] == "airliner"
    for wrong in ({"x": [1000]}, {"x": []}, [], "dog"):
        with pytest.raises(UserError):
            behaviour.start_task("label", wrong)
    with pytest.raises(UserError, match="labels to choose from"):
        behaviour.start_task("label")


def test_trials_keep_their_labels(network_of, shown, logits):
    behaviour, _ = behaviour_of(network_of, shown, logits)
    behaviour.start_task("label", "imagenet")
    result = behaviour.look_at(shown, number_of_trials=3, require_variance=True)
    assert result.shape == (15, 1)
    assert result["stimulus_id"].values.tolist() == np.repeat(shown["stimulus_id"], 3).tolist()
    np.testing.assert_array_equal(result["logit"].values, np.repeat(logits.argmax(axis=1), 3))


def test_what_cannot_name(network_of, shown, logits):
    no_logits = LabelBehavior("net", network_of({"conv": {}}))
    with pytest.raises(NotApplicable, match="no logits"):
        no_logits.start_task("label", "imagenet")
    few, _ = behaviour_of(network_of, shown, logits[:, :10])
    few.start_task("label", "imagenet")
    with pytest.raises(NotApplicable, match="10 logits, not the 1,000"):
        few.look_at(shown)
    broken, _ = behaviour_of(network_of, shown, np.where(np.arange(5)[:, np.newaxis] == 3, np.nan, logits))
    broken.start_task("label", ["dog", "cat"])
    with pytest.raises(UserError, match="not finite for 1 presentations, such as of 'im3'"):
        broken.look_at(shown)
    with pytest.raises(UserError, match="start_task"):
        LabelBehavior("net", network_of({"logits": {}})).look_at(shown)


def test_a_torch_head_of_another_width_is_refused_before_it_runs():
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations import PytorchWrapper

    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 10))
    with pytest.raises(NotApplicable, match="10 logits"):
        LabelBehavior("net", PytorchWrapper(network, None)).start_task("label", "imagenet")


def test_published_lists():
    assert len(imagenet_synsets()) == 1000
    assert imagenet_synsets()[0] == "n01440764"
    assert list(imagenet_synsets()) == sorted(imagenet_synsets())  # logits are in the order of the synsets
    assert set(SIXTEEN) < set(known_labels())
    assert len(label_to_indices("bird")) == 49
    assert len(label_to_indices("dog")) == 109
    assert label_to_indices("Sewing Machine") == (786,)
    with pytest.raises(UserError, match="'airplane'"):
        label_to_indices("airplan")
    with pytest.raises(UserError, match="'cat' and 'Cat' stand for the same logits"):
        index_lists(["cat", "dog", "Cat"])
    with pytest.raises(UserError, match="at least one whole number"):
        index_lists({"cat": [281.5]})
    assert json.dumps(sorted(known_labels()["cat"])) == "[281, 282, 283, 284, 285, 286]"
