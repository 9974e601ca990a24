"""Helpers for tests of plugins: small models, and stand-ins for data sets that are not available."""

from brainscore_vision.testing.models import small_labeller, small_models
from brainscore_vision.testing.stand_ins import check_form, list_stand_ins, serve_stand_ins, stand_in

__all__ = ["check_form", "list_stand_ins", "serve_stand_ins", "small_labeller", "small_models", "stand_in"]
