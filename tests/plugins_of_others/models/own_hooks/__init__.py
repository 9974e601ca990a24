from brainscore_vision import model_registry
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

from .model import LAYERS, get_model


def commitment(identifier):
    return ModelCommitment(identifier=identifier, activations_model=get_model(identifier), layers=LAYERS)


model_registry["own_hooks-register_hook"] = lambda: commitment("own_hooks-register_hook")
model_registry["own_hooks-tensor_to_numpy"] = lambda: commitment("own_hooks-tensor_to_numpy")
model_registry["own_hooks-get_activations"] = lambda: commitment("own_hooks-get_activations")
model_registry["own_hooks-call"] = lambda: commitment("own_hooks-call")
model_registry["own_hooks-no_layers"] = lambda: ModelCommitment(
    identifier="own_hooks-no_layers",
    activations_model=get_model("own_hooks-register_hook"),
    layers=None,
    behavioral_readout_layer="block",
    region_layer_map={"V1": "conv", "IT": ["conv", "block"]},
)
