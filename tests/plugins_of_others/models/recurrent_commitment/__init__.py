from brainscore_vision import model_registry

from .model import recurrent_brainmodel

model_registry["recurrent_commitment"] = recurrent_brainmodel
