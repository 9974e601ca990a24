"""Activations models of temporal networks."""

from brainscore_vision.model_helpers.activations.temporal.model.pytorch import PytorchWrapper

__all__ = ["PytorchWrapper"]
