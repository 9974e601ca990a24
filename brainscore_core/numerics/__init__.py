"""Numerics of metrics and ceilings: arrays in, arrays out.

Everything accumulates in float64, takes seeds as arguments and changes none of its inputs.
"""

from brainscore_core.numerics._linear import LinearFit
from brainscore_core.numerics.correlation import pearson, spearman
from brainscore_core.numerics.kappa import KappaCounts, kappa, pairwise_kappa
from brainscore_core.numerics.pls import PLS
from brainscore_core.numerics.reliability import spearman_brown, split_half_reliability
from brainscore_core.numerics.resampling import Interval, bootstrap_interval, influence_interval, jackknife_interval
from brainscore_core.numerics.ridge import Ridge
from brainscore_core.numerics.similarity import (
    NoiseCeiling,
    Similarity,
    cka,
    compare_rdms,
    noise_ceiling,
    rdm,
)

__all__ = [
    "PLS",
    "Interval",
    "KappaCounts",
    "LinearFit",
    "NoiseCeiling",
    "Ridge",
    "Similarity",
    "bootstrap_interval",
    "cka",
    "compare_rdms",
    "influence_interval",
    "jackknife_interval",
    "kappa",
    "noise_ceiling",
    "pairwise_kappa",
    "pearson",
    "rdm",
    "spearman",
    "spearman_brown",
    "split_half_reliability",
]
