"""Numerics of metrics and ceilings: arrays in, arrays out.

All functions accumulate in float64, take seeds as arguments, and do not change their inputs. PLS, CKA with a linear
kernel, and dissimilarities by correlation or cosine multiply large float32 features in float32 before.
"""

from brainscore_core.numerics.correlation import cross_pearson, pearson, spearman
from brainscore_core.numerics.dissimilarity import crossnobis_rdm, mahalanobis_rdm, noise_precision, rdm, square_rdm
from brainscore_core.numerics.factors import effective_dimensionality, factor_dimensions, participation_ratio
from brainscore_core.numerics.kappa import KappaCounts, crossed_kappa, kappa, pairwise_kappa
from brainscore_core.numerics.linear_regression import LeastSquares, LinearFit
from brainscore_core.numerics.noise import (
    ResponseMoments,
    noise_ceiling_fraction,
    response_moments,
    signal_to_noise,
    spearman_brown,
    split_half_reliability,
)
from brainscore_core.numerics.one_to_one import OneToOne
from brainscore_core.numerics.pls import PLS
from brainscore_core.numerics.predictions import Predictivity, compare_predictivity, predictivity
from brainscore_core.numerics.ranks import ranks_from_influence
from brainscore_core.numerics.resampling import (
    Interval,
    bootstrap_interval,
    combined_interval,
    influence_interval,
    jackknife_influence,
    jackknife_interval,
    mean_influence,
)
from brainscore_core.numerics.ridge import Ridge
from brainscore_core.numerics.ridge_cv import RidgeCV
from brainscore_core.numerics.shape import shape_similarity
from brainscore_core.numerics.significance import (
    Uncertain,
    corrected,
    paired_test,
    ratio_limits,
    undetermined_by,
    with_ceiling,
)
from brainscore_core.numerics.similarity import (
    Similarity,
    cka,
    compare_kernels,
    compare_rdms,
    compare_rdms_whitened,
    linear_kernel,
    noise_ceiling,
    rbf_kernel,
)

__all__ = [
    "PLS",
    "Interval",
    "KappaCounts",
    "LeastSquares",
    "LinearFit",
    "OneToOne",
    "Predictivity",
    "ResponseMoments",
    "Ridge",
    "RidgeCV",
    "Similarity",
    "Uncertain",
    "bootstrap_interval",
    "cka",
    "combined_interval",
    "compare_kernels",
    "compare_predictivity",
    "compare_rdms",
    "compare_rdms_whitened",
    "corrected",
    "cross_pearson",
    "crossed_kappa",
    "crossnobis_rdm",
    "effective_dimensionality",
    "factor_dimensions",
    "influence_interval",
    "jackknife_influence",
    "jackknife_interval",
    "kappa",
    "linear_kernel",
    "mahalanobis_rdm",
    "mean_influence",
    "noise_ceiling",
    "noise_ceiling_fraction",
    "noise_precision",
    "paired_test",
    "pairwise_kappa",
    "participation_ratio",
    "pearson",
    "predictivity",
    "ranks_from_influence",
    "ratio_limits",
    "rbf_kernel",
    "rdm",
    "response_moments",
    "shape_similarity",
    "signal_to_noise",
    "spearman",
    "spearman_brown",
    "split_half_reliability",
    "square_rdm",
    "undetermined_by",
    "with_ceiling",
]
