"""Correlation of two benchmarks over models, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Association", "association", "association_text"]

_Z = 1.959963984540054  # of 95 %


class Association(NamedTuple):
    """Correlations and their 95 % intervals; None where they are not defined.

    Attributes
    ----------
    n : int
        How many models.
    pearson, spearman : float or None
        Coefficients.
    pearson_ci, spearman_ci : (float, float) or None
        Fisher's, for Spearman's with the variance of Bonett and Wright (2000, doi:10.1007/BF02294183); None below four
        models.
    """

    n: int
    pearson: float | None
    pearson_ci: tuple[float, float] | None
    spearman: float | None
    spearman_ci: tuple[float, float] | None


def association(x: Sequence[float], y: Sequence[float]) -> Association:
    """Correlate scores of the same models on two benchmarks.

    The intervals take models to be drawn independently, which relatives of one architecture are not.

    Parameters
    ----------
    x, y : sequence of float
        Scores, one a model.

    Examples
    --------
    >>> found = association([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.1, 0.4, 0.3, 0.5])
    >>> found.n, round(found.pearson, 3), round(found.spearman, 3)
    (5, 0.8, 0.8)
    """
    from scipy.stats import rankdata

    n = len(x)
    if n < 3:
        return Association(n, None, None, None, None)
    pearson = _correlation(np.asarray(x), np.asarray(y))
    spearman = _correlation(rankdata(x), rankdata(y))
    return Association(n, pearson, _interval(pearson, n, 1.0), spearman, _interval(spearman, n, None))


def association_text(found: Association) -> str:
    """Write correlations for a figure.

    Examples
    --------
    >>> print(association_text(Association(9, 0.8, (0.287, 0.956), 0.75, (0.1, 0.95))))
    r = 0.80 [0.29, 0.96], n = 9
    ρ = 0.75 [0.10, 0.95]
    """
    lines = []
    for name, value, ci in (("r", found.pearson, found.pearson_ci), ("ρ", found.spearman, found.spearman_ci)):
        if value is not None:
            lines.append(f"{name} = {value:.2f}" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""))
    first = f"{lines[0]}, n = {found.n}" if lines else f"n = {found.n}"
    return "\n".join([first, *lines[1:]]).replace("-", "−")


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:  # a rounded mean would leave something of a constant
        return None
    x, y = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / norm, -1, 1)) if norm > 0 else None


def _interval(r: float | None, n: int, variance: float | None) -> tuple[float, float] | None:
    if r is None or n < 4 or abs(r) >= 1:
        return None
    half = _Z * np.sqrt((1 + r * r / 2 if variance is None else variance) / (n - 3))
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))
