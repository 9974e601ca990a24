"""Whether model and people are right equally often."""

from brainscore_vision import metric_registry

from .metric import AccuracyDistance

metric_registry["accuracy_distance"] = AccuracyDistance
