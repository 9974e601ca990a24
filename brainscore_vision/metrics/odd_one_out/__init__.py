"""Whether a model takes the same one of three images for the odd one as people."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import OddOneOutMatch

metric_registry["odd_one_out"] = OddOneOutMatch

BIBTEX = read_citation(__file__)
