"""What networks over time look at."""

from brainscore_vision.model_helpers.activations.temporal.inputs.base import Stimulus
from brainscore_vision.model_helpers.activations.temporal.inputs.image import Image
from brainscore_vision.model_helpers.activations.temporal.inputs.video import Clip, Video, VideoFromImage

__all__ = ["Clip", "Image", "Stimulus", "Video", "VideoFromImage"]
