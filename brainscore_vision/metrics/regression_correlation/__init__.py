"""Linear maps from a model's features to neural responses, and how well they predict."""

from collections.abc import Callable, Mapping
from typing import Any

from brainscore_vision import metric_registry
from brainscore_vision.metric_helpers.xarray_utils import XarrayRegression

from .metric import (
    CrossRegressedCorrelation,
    SplitRegressedCorrelation,
    pearsonr_correlation,
    pls_regression,
    ridge_regression,
)

_Regression = Callable[[Mapping[str, Any] | None], XarrayRegression]


def _cross_validated(regression: _Regression) -> Callable[..., CrossRegressedCorrelation]:
    def make(*, regression_kwargs: Mapping[str, Any] | None = None, **kwargs: Any) -> CrossRegressedCorrelation:
        return CrossRegressedCorrelation(
            regression=regression(regression_kwargs), correlation=pearsonr_correlation(), **kwargs
        )

    return make


def _split(regression: _Regression) -> Callable[..., SplitRegressedCorrelation]:
    def make(*, regression_kwargs: Mapping[str, Any] | None = None) -> SplitRegressedCorrelation:
        return SplitRegressedCorrelation(regression=regression(regression_kwargs), correlation=pearsonr_correlation())

    return make


metric_registry["pls"] = _cross_validated(pls_regression)
metric_registry["pls_cv"] = _cross_validated(pls_regression)
metric_registry["pls_split"] = _split(pls_regression)
metric_registry["ridge"] = _cross_validated(ridge_regression)
metric_registry["ridge_cv"] = _cross_validated(ridge_regression)
metric_registry["ridge_split"] = _split(ridge_regression)

BIBTEX = """@article{schrimpf2018brainscore,
  title={Brain-Score: Which Artificial Neural Network for Object Recognition is most Brain-Like?},
  author={Schrimpf, Martin and Kubilius, Jonas and Hong, Ha and Majaj, Najib J and Rajalingham, Rishi and Issa, Elias B
    and Kar, Kohitij and Bashivan, Pouya and Prescott-Roy, Jonathan and Geiger, Franziska and others},
  journal={bioRxiv},
  pages={407007},
  year={2018},
  doi={10.1101/407007}
}

@article{yamins2014performance,
  title={Performance-optimized hierarchical models predict neural responses in higher visual cortex},
  author={Yamins, Daniel LK and Hong, Ha and Cadieu, Charles F and Solomon, Ethan A and Seibert, Darren and
    DiCarlo, James J},
  journal={Proceedings of the National Academy of Sciences},
  volume={111},
  number={23},
  pages={8619--8624},
  year={2014},
  doi={10.1073/pnas.1403112111}
}"""
