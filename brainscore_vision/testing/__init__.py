"""What tests of plugins need: data of a data set's form where its measurements cannot be had, and small models."""

from brainscore_vision.testing.models import small_labeller, small_models
from brainscore_vision.testing.stand_ins import list_stand_ins, serve_stand_ins, stand_in

__all__ = ["list_stand_ins", "serve_stand_ins", "small_labeller", "small_models", "stand_in"]
