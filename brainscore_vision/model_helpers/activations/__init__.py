"""Activations of models: extracted once, stored, and returned as assemblies."""

from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.activations.pytorch import preprocess_images as preprocess_pytorch
from brainscore_vision.model_helpers.activations.reduction import Pooling

__all__ = ["ActivationsExtractorHelper", "ImagePreprocessing", "Pooling", "PytorchWrapper", "preprocess_pytorch"]
