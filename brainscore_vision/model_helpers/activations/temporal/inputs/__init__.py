"""What networks over time look at."""

from brainscore_vision.model_helpers.activations.temporal.inputs.clip import Clip

__all__ = ["Clip"]
