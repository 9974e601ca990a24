"""Effective dimensionality of two representations."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import EffectiveDimensionality

metric_registry["effective_dimensionality"] = EffectiveDimensionality

BIBTEX = read_citation(__file__)
