"""Published import path of names of ``brainscore_core.metric_helpers.transformations``."""

from brainscore_core.metric_helpers.transformations import (
    Alignment,
    CartesianProduct,
    CrossValidation,
    CrossValidationSingle,
    TestOnlyCrossValidation,
    TestOnlyCrossValidationSingle,
    apply_aggregate,
    enumerate_done,
    expand,
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
