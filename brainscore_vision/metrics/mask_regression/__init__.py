"""Predictivity with a spatial mask and channel weights for each neuroid."""

from collections.abc import Mapping
from typing import Any

from brainscore_core.metric_helpers.predictivity import CrossRegressedCorrelation, pearsonr_correlation
from brainscore_vision import metric_registry

from .regression import mask_regression

__all__ = ["mask_regression"]


def _mask_metric(*, regression_kwargs: Mapping[str, Any] | None = None, **kwargs: Any) -> CrossRegressedCorrelation:
    return CrossRegressedCorrelation(
        regression=mask_regression(**(regression_kwargs or {})), correlation=pearsonr_correlation(), **kwargs
    )


metric_registry["mask_regression"] = _mask_metric

BIBTEX = """@inproceedings{klindt2017neural,
  title={Neural system identification for large populations separating ``what'' and ``where''},
  author={Klindt, David A. and Ecker, Alexander S. and Euler, Thomas and Bethge, Matthias},
  booktitle={Advances in Neural Information Processing Systems},
  volume={30},
  year={2017},
  url={https://arxiv.org/abs/1711.02653}
}"""
