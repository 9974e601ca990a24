"""Whether a model needs stimuli as strong as people do."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import Threshold, ThresholdElevation

metric_registry["threshold"] = Threshold
metric_registry["threshold_elevation"] = ThresholdElevation

BIBTEX = read_citation(__file__)
