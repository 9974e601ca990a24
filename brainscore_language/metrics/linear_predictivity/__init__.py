"""Linear prediction of recordings from a subject's units."""

from brainscore_language import metric_registry
from brainscore_language.metrics.linear_predictivity.metric import linear_pearsonr, ridge_pearsonr

metric_registry["linear_pearsonr"] = linear_pearsonr
metric_registry["ridge_pearsonr"] = ridge_pearsonr
