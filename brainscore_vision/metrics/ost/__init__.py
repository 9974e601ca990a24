"""When a model solves an image, compared with when the brain does."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import OSTCorrelation

__all__ = ["OSTCorrelation"]

metric_registry["ost"] = OSTCorrelation

BIBTEX = read_citation(__file__)
