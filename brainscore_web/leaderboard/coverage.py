"""Coverage of models and benchmarks: which models are ranked, by which benchmarks, and what they have in common.

A model is ranked if it was scored on enough of the selected benchmarks. A benchmark counts in ranks once enough of the
ranked models have a result on its current version, so that no model rises by being scored first on a new benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_web.leaderboard.snapshot import STATES

__all__ = ["Common", "common_benchmarks", "counting_benchmarks", "covered", "fewest_scores", "reason_unranked"]

_SCORED = STATES.index("scored")
_NO_RESULT = (STATES.index("missing"), STATES.index("outdated"))
Flags = NDArray[np.bool_]


def covered(n_scored: NDArray[np.int64], n_all: NDArray[np.int64], percentage: float) -> Flags:
    """Return whether models were scored on at least this percentage of the benchmarks, and on at least one.

    Examples
    --------
    >>> covered(np.array([0, 1, 2]), np.array([4, 4, 4]), 50).tolist()
    [False, False, True]
    """
    return (n_scored > 0) & (100 * n_scored >= percentage * n_all)


def fewest_scores(n_all: int, percentage: float) -> int:
    """Return the smallest number of scores that :func:`covered` accepts.

    Examples
    --------
    >>> fewest_scores(213, 50), fewest_scores(4, 0)
    (107, 1)
    """
    return max(1, -int(-percentage * n_all // 100))


def counting_benchmarks(states: NDArray[np.int8], ranked: Flags, percentage: float) -> Flags:
    """Return which benchmarks count in ranks: those on which enough of the ranked models have a result.

    Parameters
    ----------
    states : array (models, benchmarks)
        Indices into `STATES`. Failed and undefined scores are results, as are benchmarks that are not applicable;
        scores of another version are not.
    ranked : array (models,) of bool
        The models that are ranked. If there are none, all benchmarks count.
    percentage : float
        The required percentage of the ranked models.

    Examples
    --------
    >>> scored, missing = STATES.index("scored"), STATES.index("missing")
    >>> states = np.array([[scored, scored], [scored, missing], [scored, missing]], dtype=np.int8)
    >>> counting_benchmarks(states, np.array([True, True, True]), 50).tolist()
    [True, False]
    """
    if not ranked.any():
        return np.ones(states.shape[1], dtype=bool)
    with_result = ~np.isin(states[ranked], _NO_RESULT)
    return 100 * with_result.sum(axis=0) >= percentage * int(ranked.sum())


class Common(NamedTuple):
    """Benchmarks that models have in common: number of models, and for each benchmark whether it is one of them."""

    n_models: int
    benchmarks: Flags

    @property
    def n_benchmarks(self) -> int:
        """Number of these benchmarks."""
        return int(self.benchmarks.sum())


def common_benchmarks(states: NDArray[np.int8]) -> tuple[Common, Common]:
    """Return the benchmarks that all models have, and those that the most complete models have in common.

    Parameters
    ----------
    states : array (models, benchmarks)
        Indices into `STATES`. Models without a score are not considered.

    Returns
    -------
    tuple of (Common, Common)
        Of all models; and of the first models in the order of their number of scores, as many as have the most scores
        on the benchmarks that they share.

    Examples
    --------
    >>> scored, missing = STATES.index("scored"), STATES.index("missing")
    >>> states = np.array([[scored] * 3, [scored, scored, missing], [missing] * 2 + [scored]], dtype=np.int8)
    >>> everyone, most = common_benchmarks(states)
    >>> everyone.n_models, everyone.n_benchmarks
    (3, 0)
    >>> most.n_models, most.benchmarks.tolist()
    (2, [True, True, False])
    """
    scored = states == _SCORED
    scored = scored[scored.any(axis=1)]
    if not len(scored):
        none = Common(0, np.zeros(states.shape[1], dtype=bool))
        return none, none
    order = np.argsort(-scored.sum(axis=1), kind="stable")
    shared = np.logical_and.accumulate(scored[order], axis=0)
    size = shared.sum(axis=1) * np.arange(1, len(shared) + 1)
    if len(size) > 1:
        size[0] = 0  # one model has nothing in common with others
    best = int(np.argmax(size))
    return Common(len(shared), shared[-1]), Common(best + 1, shared[best])


def reason_unranked(n_scored: int, n_all: int, percentage: float, states: Sequence[str]) -> str:
    """Return why a model is not ranked, from the numbers of its scores and the states of its other benchmarks.

    Examples
    --------
    >>> reason_unranked(1, 4, 50, ["missing", "failed", "missing"])
    'scored on 1 of 4 benchmarks, ranked from 2; 1 failed, 2 never scored'
    """
    fewest = fewest_scores(n_all, percentage)
    names = {"missing": "never scored", "outdated": "scored in an older version only"}
    counts = ((names.get(state, state), states.count(state)) for state in STATES if state != "scored")
    others = ", ".join(f"{count} {name}" for name, count in counts if count)
    noun = "benchmark" if n_all == 1 else "benchmarks"
    return f"scored on {n_scored} of {n_all} {noun}, ranked from {fewest}" + (f"; {others}" if others else "")
