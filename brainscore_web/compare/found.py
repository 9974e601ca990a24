"""What came of a comparison, kept for who asks the same next."""

from __future__ import annotations

import threading
from typing import TypeAlias
from weakref import WeakKeyDictionary

from brainscore_web.compare.benchmarks import TwoBenchmarks, two_benchmarks
from brainscore_web.compare.correlations import Correlations, correlations
from brainscore_web.compare.models import TwoModels, two_models, without_models
from brainscore_web.compare.question import Question
from brainscore_web.leaderboard._cache import Cache
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.snapshot import Snapshot

__all__ = ["Found", "found_for"]

Found: TypeAlias = TwoBenchmarks | TwoModels | Correlations

_correlations: WeakKeyDictionary[Snapshot, Cache[str, Correlations]] = WeakKeyDictionary()
_lock = threading.Lock()


def found_for(snapshot: Snapshot, question: Question) -> Found:
    """Compare what is asked for among what the visitor sees.

    Raises
    ------
    UserError
        If that cannot be compared; `UnknownIdentifier` if there is no such model, benchmark or mean.
    """
    if question.mode == "benchmarks":
        return two_benchmarks(board_for(snapshot, question.board), question)
    if question.mode == "models":
        asked = without_models(question)
        return two_models(board_for(snapshot, asked.board), asked)
    of_matrix = question.changed(x="", y="", first="", second="", colour="architecture")
    board = board_for(snapshot, question.board)
    with _lock:
        kept = _correlations.setdefault(snapshot, Cache(most=4))
    return kept.get(of_matrix.query(), lambda: correlations(board, of_matrix))
