"""A model that knows how bright an image is, and nothing else."""

from brainscore_vision import model_registry

from .model import Brightness

model_registry["example-lab-brightness"] = Brightness
