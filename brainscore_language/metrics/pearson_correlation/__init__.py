"""Correlation of two vectors."""

from brainscore_language import metric_registry
from brainscore_language.metrics.pearson_correlation.metric import PearsonCorrelation

metric_registry["pearsonr"] = PearsonCorrelation
