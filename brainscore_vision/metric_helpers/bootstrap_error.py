"""Errors of scores by resampling whole dimensions of their raw values.

Metrics state error and interval by themselves; this is for benchmarks that aggregate on their own.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.metrics import declare_no_error as _declare_no_error

Aggregate = Callable[[Any], Any]


def bootstrap_error(
    values: Score, over: Sequence[str], aggregate: Aggregate | None = None, n_bootstrap: int = 1000, seed: int = 0
) -> float:
    """Standard error of an aggregated score, with its units drawn with replacement.

    `values`: one value a unit, or combination of units. `over`: dimensions that are resampled, each independently of
    the others (units are crossed). `aggregate`: ``aggregate(values) -> number``; the mean without NaN by default.
    Result: standard deviation (ddof 1) over resamples in which the aggregate is finite; NaN if there are fewer than
    two. A MetricInputError if a dimension is missing.

    Examples
    --------
    >>> values = Score([0.2, 0.4, 0.6, 0.8], dims=["subject"])
    >>> round(bootstrap_error(values, ["subject"]), 1)
    0.1
    """
    dims = [over] if isinstance(over, str) else list(over)
    missing = [dim for dim in dims if dim not in values.dims]
    if missing or not dims:
        raise MetricInputError(
            f"the values have no dimension {listed(missing)} to resample over; they have {listed(values.dims)}",
            remedy="name some of these in over",
        )
    function = _mean if aggregate is None else aggregate
    rng = np.random.default_rng(seed)
    draws = np.empty(n_bootstrap)
    for i in range(n_bootstrap):
        draws[i] = float(
            function(values.isel({dim: rng.integers(0, values.sizes[dim], values.sizes[dim]) for dim in dims}))
        )
    draws = draws[np.isfinite(draws)]
    return float(draws.std(ddof=1)) if len(draws) > 1 else float("nan")


def attach_error(
    score: Score,
    values: Score,
    over: Sequence[str],
    aggregate: Aggregate | None = None,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> Score:
    """Write :func:`bootstrap_error` into a score's attributes.

    Parameters
    ----------
    score : Score
        Changed in place.
    values, over, aggregate, n_bootstrap, seed
        As for :func:`bootstrap_error`.

    Returns
    -------
    Score
        The same object, with ``error``, ``error_over``, ``n_bootstrap``, and the values as ``raw`` where it has none.

    Examples
    --------
    >>> values = Score([0.2, 0.4, 0.6, 0.8], dims=["subject"])
    >>> attach_error(Score(0.5), values, ["subject"]).attrs["error_over"]
    ['subject']
    """
    error = bootstrap_error(values, over, aggregate, n_bootstrap, seed)
    dims = [over] if isinstance(over, str) else list(over)
    attach_uncertainty(score, error=error, reason=f"only the error was resampled, over {listed(dims)}")
    score.attrs |= {"error_over": dims, "n_bootstrap": int(n_bootstrap)}
    score.attrs.setdefault(Score.RAW_VALUES_KEY, values)
    return score


def declare_no_error(score: Score, reason: str) -> Score:
    """Declare why a score has no error, in ``attrs['error_nan_reason']`` and ``attrs['error_reason']``.

    Examples
    --------
    >>> declare_no_error(Score(1.0), "a constant").attrs["error_nan_reason"]
    'a constant'
    """
    _declare_no_error(score, reason)
    score.attrs["error_nan_reason"] = reason
    return score


def _mean(values: Score) -> float:
    defined = np.asarray(values.values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    return float(defined.mean()) if defined.size else float("nan")
