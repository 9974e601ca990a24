"""Absolute Pearson correlation of two vectors."""

import numpy as np
from scipy.stats import pearsonr

from brainscore_core.metrics import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


class PearsonCorrelation(Metric):
    """Absolute Pearson correlation.

    Entries are compared in their order; NaN in one of them gives NaN. ``attrs`` hold the signed ``rvalue`` and its
    ``pvalue``.

    Examples
    --------
    >>> score = PearsonCorrelation()([1, 2, 3, 4, 5], [3, 1, 6, 1, 2])
    >>> round(float(score), 3), round(score.attrs["rvalue"], 3)
    (0.152, -0.152)
    """

    scale = "correlation"

    def __call__(self, assembly1: DataAssembly, assembly2: DataAssembly) -> Score:
        """Correlate two vectors of equal length."""
        first, second = np.asarray(assembly1, dtype=float), np.asarray(assembly2, dtype=float)
        if np.isnan(first).any() or np.isnan(second).any():
            rvalue = pvalue = float("nan")
        else:
            rvalue, pvalue = map(float, pearsonr(first, second))
        score = Score(abs(rvalue))
        score.attrs.update(rvalue=rvalue, pvalue=pvalue)
        return score
