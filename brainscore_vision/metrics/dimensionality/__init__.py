"""How many of a model's dimensions encode a factor such as shape or texture."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import Dimensionality

__all__ = ["Dimensionality"]

metric_registry["factor_dimensionality"] = Dimensionality

BIBTEX = read_citation(__file__)
