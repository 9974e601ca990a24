"""Procrustes similarity of two representations."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import ProcrustesMetric

metric_registry["procrustes"] = ProcrustesMetric

BIBTEX = read_citation(__file__)
