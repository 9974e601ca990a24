from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import ShapeBias

metric_registry["shape_bias"] = ShapeBias

BIBTEX = read_citation(__file__)
