"""How consistent recordings are with themselves, as predictors of a model."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .ceiling import SplitHalfPredictorConsistency

metric_registry["predictor_consistency"] = SplitHalfPredictorConsistency

BIBTEX = read_citation(__file__)
