"""Coverage of models and benchmarks: which models are ranked, by which benchmarks, and what they have in common.

The rules are those of :mod:`brainscore_core.results.board`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.plurals import counted
from brainscore_core.results import board
from brainscore_core.results.board import fewest_scores
from brainscore_web.leaderboard.snapshot import STATES

_SCORED = STATES.index("scored")
_NO_RESULT = (STATES.index("missing"), STATES.index("outdated"))
Flags = NDArray[np.bool_]


def counting_benchmarks(states: NDArray[np.int8], ranked: Flags, percentage: float) -> Flags:
    """Return which benchmarks count in ranks, by the states of the models (indices into `STATES`) on them."""
    return board.counting_benchmarks(~np.isin(states, _NO_RESULT), ranked, percentage)


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
    scored = f"scored on {n_scored} of {counted(n_all, 'benchmark')}, ranked from {fewest}"
    return f"{scored}; {others}" if others else scored
