"""Published import path of names of ``brainscore_core.metric_helpers.transformations``."""

from brainscore_core.metric_helpers.products import Alignment, CartesianProduct, enumerate_done, expand
from brainscore_core.metric_helpers.transformations import (
    CrossValidation,
    CrossValidationSingle,
    TestOnlyCrossValidation,
    TestOnlyCrossValidationSingle,
    apply_aggregate,
    merge_splits,
)

__all__ = [
    "Alignment",
    "CartesianProduct",
    "CrossValidation",
    "CrossValidationSingle",
    "TestOnlyCrossValidation",
    "TestOnlyCrossValidationSingle",
    "apply_aggregate",
    "enumerate_done",
    "expand",
    "merge_splits",
]
