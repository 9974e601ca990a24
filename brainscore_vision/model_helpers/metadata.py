"""Metadata of models, by their published path."""

from brainscore_core.benchmarks.model_metadata import ModelMetadata as ModelMetadata
from brainscore_core.benchmarks.model_metadata import read_metadata as read_metadata
