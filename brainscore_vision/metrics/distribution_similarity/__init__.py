"""Whether a property is distributed over a model's neuroids as over recorded ones."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import BootstrapDistributionSimilarity, NeuronalPropertyCeiling, ks_similarity

__all__ = ["BootstrapDistributionSimilarity", "NeuronalPropertyCeiling", "ks_similarity"]

metric_registry["ks_similarity"] = BootstrapDistributionSimilarity
metric_registry["property_ceiling"] = NeuronalPropertyCeiling

BIBTEX = read_citation(__file__)
