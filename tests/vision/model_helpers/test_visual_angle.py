"""Whether a model states its visual angle, and scores at other angles."""

import numpy as np
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score
from brainscore_vision.model_helpers.brain_transformation import LayerMappedModel, ModelCommitment
from brainscore_vision.model_helpers.static_features import CallableWrapper, FeatureModel
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.model_sources.checks import (
    ModelAtAngle,
    dependence_in_words,
    scores_at_other_angles,
)

LAYERS = {"levels": lambda images: np.zeros((len(images), 2))}


class Stating(ModelCommitment):
    def visual_degrees(self):
        return 5


@pytest.mark.parametrize(
    ("make", "degrees", "stated"),
    [
        (lambda: FeatureModel("a", LAYERS), 8, False),
        (lambda: FeatureModel("a", LAYERS, visual_degrees=8), 8, True),
        (lambda: LayerMappedModel("a", CallableWrapper(LAYERS, "a"), {"IT": "levels"}), 8, False),
        (lambda: Stating("a", CallableWrapper(LAYERS, "a"), ["levels"]), 5, True),
    ],
)
def test_a_model_states_its_angle_or_not(make, degrees, stated):
    model = make()
    assert (model.visual_degrees(), model.states_visual_degrees) == (degrees, stated)
    assert ("default: the model does not state it" in repr(model)) is not stated


def test_scores_at_other_angles_are_those_of_the_same_model():
    def benchmark(candidate):
        assert isinstance(candidate, BrainModel)
        assert candidate.layers == ["levels"]
        if candidate.visual_degrees() > 10:
            raise UserError("stimuli of less than one pixel")
        return Score(1 / candidate.visual_degrees())

    half, double = scores_at_other_angles(FeatureModel("a", LAYERS, visual_degrees=8), benchmark)
    assert (half.degrees, half.value, half.reason) == (4, 0.25, None)
    assert (double.degrees, double.value) == (16, None)
    assert "less than one pixel" in double.reason


def test_a_model_at_another_angle_is_the_model_otherwise():
    model = FeatureModel("a", LAYERS)
    other = ModelAtAngle(model, 3)
    assert (other.identifier, other.visual_degrees(), model.visual_degrees()) == ("a", 3, 8)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        other.no_such_attribute  # noqa: B018 # the access is the test


def test_features_that_do_not_vary_have_no_correlation(recwarn):
    words = dependence_in_words(FeatureModel("a", LAYERS))
    assert words.startswith("at 4°, the RDM of IT is undefined")
    assert not recwarn.list


def test_labels_that_a_model_refuses_only_with_pictures_are_left_out():
    class WithoutClasses(FeatureModel):
        def start_task(self, task, *args, **kwargs):
            self.labels = True

        def start_recording(self, *args, **kwargs):
            self.labels = False
            return super().start_recording(*args, **kwargs)

        def look_at(self, stimuli, *args, **kwargs):
            if getattr(self, "labels", False):
                raise NotApplicable("it has 2 logits, not the 1,000 of ImageNet")
            return super().look_at(stimuli, *args, **kwargs)

    assert "labels" not in dependence_in_words(WithoutClasses("a", LAYERS))
