from brainscore_vision import model_registry
from brainscore_vision.model_helpers.activations.temporal.utils import get_specified_layers
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

from .model import get_model


def commit(identifier):
    model = get_model(identifier)
    return ModelCommitment(identifier=identifier, activations_model=model, layers=get_specified_layers(model))


model_registry["video_wrapper-forward"] = lambda: commit("video_wrapper-forward")
model_registry["video_wrapper-steps"] = lambda: commit("video_wrapper-steps")
