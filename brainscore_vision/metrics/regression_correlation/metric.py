"""Published import path of predictivity and its regressions."""

from brainscore_core.metric_helpers.predictivity import (
    CrossRegressedCorrelation,
    SplitRegressedCorrelation,
    pearsonr_correlation,
)

from .regressions import (
    ALPHA_LIST,
    DualRidgeCVRegression,
    dual_ridge_cv_regression,
    dual_ridge_regression,
    linear_regression,
    neuron_to_neuron_regression,
    pls_regression,
    relative_ridge_cv_regression,
    ridge_cv_regression,
    ridge_regression,
)

__all__ = [
    "ALPHA_LIST",
    "CrossRegressedCorrelation",
    "DualRidgeCVRegression",
    "SplitRegressedCorrelation",
    "TrainTestSplitCorrelation",
    "dual_ridge_cv_regression",
    "dual_ridge_regression",
    "linear_regression",
    "neuron_to_neuron_regression",
    "pearsonr_correlation",
    "pls_regression",
    "relative_ridge_cv_regression",
    "ridge_cv_regression",
    "ridge_regression",
    "single_regression",
]

TrainTestSplitCorrelation = SplitRegressedCorrelation
"""Name of :class:`SplitRegressedCorrelation` on brain-score 2.x."""

single_regression = neuron_to_neuron_regression
"""Name of :func:`neuron_to_neuron_regression` on brain-score 2.x."""
