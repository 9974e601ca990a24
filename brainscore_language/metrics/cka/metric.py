"""Centred kernel alignment of two sets of responses to the same stimuli (Kornblith et al. 2019)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from brainscore_core.metric_helpers import cka
from brainscore_core.metric_helpers.geometry import CrossValidatedGeometry
from brainscore_core.metric_helpers.xarray_utils import Defaults
from brainscore_core.numerics import similarity
from brainscore_language.utils.transformations import TestOnlyCrossValidation


def centering(K: np.ndarray) -> np.ndarray:
    """A kernel without the means of rows and columns."""
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def rbf(X: np.ndarray, sigma: float | None = None) -> np.ndarray:
    """Gaussian kernel; σ² is by default the median of the halved squared distances that are not 0."""
    products = X @ X.T
    distances = np.diag(products)[:, None] + np.diag(products) - 2 * products
    variance = np.median(distances[distances != 0] / 2) if sigma is None else sigma**2
    return np.exp(-distances / (2 * variance))


def linear_HSIC(X: np.ndarray, Y: np.ndarray) -> float:  # noqa: N802 - published name
    """Sum of products of the centred linear kernels."""
    return float((centering(X @ X.T) * centering(Y @ Y.T)).sum())


def kernel_HSIC(X: np.ndarray, Y: np.ndarray, sigma: float | None) -> float:  # noqa: N802 - published name
    """Sum of products of the centred Gaussian kernels."""
    return float((centering(rbf(X, sigma)) * centering(rbf(Y, sigma))).sum())


def linear_CKA(X: np.ndarray, Y: np.ndarray) -> float:  # noqa: N802 - published name
    """Alignment of the linear kernels of two matrices, stimuli × units."""
    return float(similarity.cka(X, Y, unbiased=False).value)


def kernel_CKA(X: np.ndarray, Y: np.ndarray, sigma: float | None = None) -> float:  # noqa: N802 - published name
    """Alignment of the Gaussian kernels of two matrices, stimuli × units."""
    return kernel_HSIC(X, Y, sigma) / np.sqrt(kernel_HSIC(X, X, sigma) * kernel_HSIC(Y, Y, sigma))


class CKAMetric(cka.CKAMetric):
    """Alignment over all stimuli, whose ``stimulus_id`` are matched."""

    def __init__(self, comparison_coord: str = Defaults.stimulus_coord) -> None:
        super().__init__(unbiased=False)


class CKACrossValidated(CrossValidatedGeometry):
    """Mean of the alignment over ten random 90 % of the stimuli, as published; nothing is fitted.

    Parameters
    ----------
    comparison_coord : str
        Name of the coordinate that identifies stimuli.
    crossvalidation_kwargs : dict, optional
        Arguments of :class:`~brainscore_language.utils.transformations.TestOnlyCrossValidation`.
    """

    def __init__(
        self, comparison_coord: str = Defaults.stimulus_coord, crossvalidation_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(CKAMetric(comparison_coord))
        options = {"split_coord": comparison_coord, "test_size": 0.9, **(crossvalidation_kwargs or {})}
        self.subsets = TestOnlyCrossValidation(**options)
