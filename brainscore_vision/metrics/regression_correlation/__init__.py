"""Linear maps from a model's features to neural responses, and how well they predict."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from brainscore_core.metric_helpers.predictivity import (
    CrossRegressedCorrelation,
    SplitRegressedCorrelation,
    pearsonr_correlation,
)
from brainscore_core.metric_helpers.xarray_utils import XarrayRegression
from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .regressions import (
    dual_ridge_cv_regression,
    dual_ridge_regression,
    linear_regression,
    neuron_to_neuron_regression,
    pls_regression,
    relative_ridge_cv_regression,
    ridge_cv_regression,
    ridge_regression,
)
from .variants import (
    ReverseCrossRegressedCorrelation,
    ReverseSplitRegressedCorrelation,
    SpanTimeCrossRegressedCorrelation,
)

_Options = Mapping[str, Any] | None
_Regression = Callable[[_Options], XarrayRegression]


def _cross_validated(
    regression: _Regression, metric: type[CrossRegressedCorrelation] = CrossRegressedCorrelation
) -> Callable[..., CrossRegressedCorrelation]:
    def make(*, regression_kwargs: _Options = None, **kwargs: Any) -> CrossRegressedCorrelation:
        return metric(regression=regression(regression_kwargs), correlation=pearsonr_correlation(), **kwargs)

    return make


def _split(
    regression: _Regression, metric: type[SplitRegressedCorrelation] = SplitRegressedCorrelation
) -> Callable[..., SplitRegressedCorrelation]:
    """Metric with fixed training and test stimuli; `alphas` arrives only where the regression chooses no penalty."""

    def make(*, alphas: Sequence[float] | None = None, regression_kwargs: _Options = None) -> SplitRegressedCorrelation:
        if alphas is not None:
            warnings.warn(
                "alphas has no effect: the penalty of this regression is fixed, as on brain-score 2.x. "
                "'ridgecv_split' and 'dual_ridgecv_split' choose among alphas",
                stacklevel=3,
            )
        return metric(regression=regression(regression_kwargs), correlation=pearsonr_correlation())

    return make


def _reverse(regression: _Regression) -> Callable[..., CrossRegressedCorrelation]:
    return _cross_validated(regression, ReverseCrossRegressedCorrelation)


def _reverse_split(regression: _Regression) -> Callable[..., SplitRegressedCorrelation]:
    return _split(regression, ReverseSplitRegressedCorrelation)


def _on_device(make_metric: Callable[..., Any]) -> Callable[..., Any]:
    """`device` may be given directly."""

    def make(*, device: Any = None, regression_kwargs: _Options = None, **kwargs: Any) -> Any:
        options = dict(regression_kwargs or {}) | ({} if device is None else {"device": device})
        return make_metric(regression_kwargs=options, **kwargs)

    return make


def _with_alphas(make_metric: Callable[..., Any]) -> Callable[..., Any]:
    """`alphas`, `alpha_per_target`, `cv` and `device` may be given directly."""

    def make(
        *,
        alphas: Sequence[float] | None = None,
        alpha_per_target: bool | None = None,
        cv: Any = None,
        device: Any = None,
        regression_kwargs: _Options = None,
        **kwargs: Any,
    ) -> Any:
        direct_options = {"alphas": alphas, "alpha_per_target": alpha_per_target, "cv": cv, "device": device}
        options = dict(regression_kwargs or {}) | {
            name: value for name, value in direct_options.items() if value is not None
        }
        return make_metric(regression_kwargs=options, **kwargs)

    return make


metric_registry["pls"] = _on_device(_cross_validated(pls_regression))
metric_registry["pls_cv"] = _on_device(_cross_validated(pls_regression))
metric_registry["pls_split"] = _on_device(_split(pls_regression))
metric_registry["ridge"] = _on_device(_cross_validated(ridge_regression))
metric_registry["ridge_cv"] = _on_device(_cross_validated(ridge_regression))
metric_registry["ridge_split"] = _on_device(_split(ridge_regression))
metric_registry["linear_predictivity"] = _cross_validated(linear_regression)
metric_registry["linear_predictivity_cv"] = _cross_validated(linear_regression)
metric_registry["linear_predictivity_split"] = _split(linear_regression)
metric_registry["neuron_to_neuron"] = _cross_validated(neuron_to_neuron_regression)
metric_registry["neuron_to_neuron_cv"] = _cross_validated(neuron_to_neuron_regression)
metric_registry["neuron_to_neuron_split"] = _split(neuron_to_neuron_regression)
metric_registry["dual_ridge"] = _on_device(_cross_validated(dual_ridge_regression))
metric_registry["dual_ridge_cv"] = _on_device(_cross_validated(dual_ridge_regression))
metric_registry["dual_ridge_split"] = _on_device(_split(dual_ridge_regression))
metric_registry["ridgecv"] = _with_alphas(_cross_validated(ridge_cv_regression))
metric_registry["ridgecv_cv"] = _with_alphas(_cross_validated(ridge_cv_regression))
metric_registry["ridgecv_split"] = _with_alphas(_split(ridge_cv_regression))
metric_registry["ridgecv_relative"] = _with_alphas(_cross_validated(relative_ridge_cv_regression))
metric_registry["ridgecv_relative_cv"] = _with_alphas(_cross_validated(relative_ridge_cv_regression))
metric_registry["ridgecv_relative_split"] = _with_alphas(_split(relative_ridge_cv_regression))
metric_registry["dual_ridgecv"] = _with_alphas(_cross_validated(dual_ridge_cv_regression))
metric_registry["dual_ridgecv_cv"] = _with_alphas(_cross_validated(dual_ridge_cv_regression))
metric_registry["dual_ridgecv_split"] = _with_alphas(_split(dual_ridge_cv_regression))
metric_registry["reverse_pls"] = _on_device(_reverse(pls_regression))
metric_registry["reverse_pls_cv"] = _on_device(_reverse(pls_regression))
metric_registry["reverse_pls_split"] = _on_device(_reverse_split(pls_regression))
metric_registry["reverse_ridge"] = _on_device(_reverse(ridge_regression))
metric_registry["reverse_ridge_cv"] = _on_device(_reverse(ridge_regression))
metric_registry["reverse_ridge_split"] = _on_device(_reverse_split(ridge_regression))
metric_registry["reverse_linear_predictivity"] = _reverse(linear_regression)
metric_registry["reverse_linear_predictivity_cv"] = _reverse(linear_regression)
metric_registry["reverse_linear_predictivity_split"] = _reverse_split(linear_regression)
metric_registry["reverse_neuron_to_neuron"] = _reverse(neuron_to_neuron_regression)
metric_registry["reverse_neuron_to_neuron_cv"] = _reverse(neuron_to_neuron_regression)
metric_registry["reverse_neuron_to_neuron_split"] = _reverse_split(neuron_to_neuron_regression)
metric_registry["reverse_ridgecv"] = _with_alphas(_reverse(ridge_cv_regression))
metric_registry["reverse_ridgecv_cv"] = _with_alphas(_reverse(ridge_cv_regression))
metric_registry["reverse_ridgecv_split"] = _with_alphas(_reverse_split(ridge_cv_regression))
metric_registry["spantime_pls"] = _on_device(_cross_validated(pls_regression, SpanTimeCrossRegressedCorrelation))
metric_registry["spantime_ridge"] = _on_device(_cross_validated(ridge_regression, SpanTimeCrossRegressedCorrelation))

BIBTEX = read_citation(__file__)
