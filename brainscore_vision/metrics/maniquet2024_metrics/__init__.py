"""Whether model and people confuse the same categories, and find the same tasks hard."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import ConfusionSimilarity, TasksConsistency

metric_registry["confusion_similarity"] = ConfusionSimilarity
metric_registry["tasks_consistency"] = TasksConsistency

BIBTEX = read_citation(__file__)
