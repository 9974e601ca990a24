"""Share of equal entries."""

from brainscore_language import metric_registry
from brainscore_language.metrics.accuracy.metric import Accuracy

metric_registry["accuracy"] = Accuracy
