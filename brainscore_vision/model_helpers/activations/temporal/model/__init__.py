"""Networks over time as activations models."""

from brainscore_vision.model_helpers.activations.temporal.model.pytorch import PytorchWrapper

__all__ = ["PytorchWrapper"]
