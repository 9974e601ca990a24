"""Whether rearranging a shape's parts costs a model as much accuracy as people."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import BakerAccuracyDelta

metric_registry["baker_accuracy_delta"] = BakerAccuracyDelta

BIBTEX = read_citation(__file__)
