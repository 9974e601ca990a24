"""Whether model and people confuse the same categories, and find the same tasks hard."""

from brainscore_vision import metric_registry

from .metric import ConfusionSimilarity, TasksConsistency

metric_registry["confusion_similarity"] = ConfusionSimilarity
metric_registry["tasks_consistency"] = TasksConsistency

BIBTEX = """@article{Maniquet2024.04.02.587669,
  author = {Maniquet, Tim and de Beeck, Hans Op and Costantino, Andrea Ivan},
  title = {Recurrent issues with deep neural network models of visual recognition},
  journal = {bioRxiv},
  year = {2024},
  doi = {10.1101/2024.04.02.587669}
}"""
