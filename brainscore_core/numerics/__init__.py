"""Numerics of metrics and ceilings: arrays in, arrays out.

Everything accumulates in float64, takes seeds as arguments and changes none of its inputs.
"""

from brainscore_core.numerics._linear import LinearFit
from brainscore_core.numerics.association import Association, AssociationMatrix, association, association_matrix
from brainscore_core.numerics.correlation import cross_pearson, pearson, spearman
from brainscore_core.numerics.dissimilarity import rdm, square_rdm
from brainscore_core.numerics.effective_dimensionality import Dimensionality, participation_ratio
from brainscore_core.numerics.factors import FactorDimensions, factor_dimensions
from brainscore_core.numerics.kappa import KappaCounts, kappa, pairwise_kappa
from brainscore_core.numerics.kernel_alignment import cka, compare_kernels, linear_kernel, rbf_kernel
from brainscore_core.numerics.least_squares import LeastSquares
from brainscore_core.numerics.multiple_testing import corrected
from brainscore_core.numerics.noise import SignalToNoise, noise_ceiling_fraction, signal_to_noise
from brainscore_core.numerics.noise_normalisation import crossnobis_rdm, mahalanobis_rdm, noise_precision
from brainscore_core.numerics.one_to_one import OneToOne
from brainscore_core.numerics.paired import PairedTest, jackknife_influence, mean_influence, paired_test, with_ceiling
from brainscore_core.numerics.paired_summary import PairedSummary, paired_summary
from brainscore_core.numerics.pls import PLS
from brainscore_core.numerics.predicted import Predictivity, compare_predictivity, predictivity
from brainscore_core.numerics.ranks import RankInterval, rank_intervals, tie_groups
from brainscore_core.numerics.ranks_from_errors import RanksFromErrors, ranks_from_errors
from brainscore_core.numerics.reliability import spearman_brown, split_half_reliability
from brainscore_core.numerics.resampling import Interval, bootstrap_interval, influence_interval, jackknife_interval
from brainscore_core.numerics.ridge import Ridge
from brainscore_core.numerics.ridge_cv import RidgeCV
from brainscore_core.numerics.shape import Shape, shape_similarity
from brainscore_core.numerics.similarity import (
    NoiseCeiling,
    Similarity,
    compare_rdms,
    compare_rdms_whitened,
    noise_ceiling,
)

__all__ = [
    "PLS",
    "Association",
    "AssociationMatrix",
    "Dimensionality",
    "FactorDimensions",
    "Interval",
    "KappaCounts",
    "LeastSquares",
    "LinearFit",
    "NoiseCeiling",
    "OneToOne",
    "PairedSummary",
    "PairedTest",
    "Predictivity",
    "RankInterval",
    "RanksFromErrors",
    "Ridge",
    "RidgeCV",
    "Shape",
    "SignalToNoise",
    "Similarity",
    "association",
    "association_matrix",
    "bootstrap_interval",
    "cka",
    "compare_kernels",
    "compare_predictivity",
    "compare_rdms",
    "compare_rdms_whitened",
    "corrected",
    "cross_pearson",
    "crossnobis_rdm",
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
    "paired_summary",
    "paired_test",
    "pairwise_kappa",
    "participation_ratio",
    "pearson",
    "predictivity",
    "rank_intervals",
    "ranks_from_errors",
    "rbf_kernel",
    "rdm",
    "shape_similarity",
    "signal_to_noise",
    "spearman",
    "spearman_brown",
    "split_half_reliability",
    "square_rdm",
    "tie_groups",
    "with_ceiling",
]
