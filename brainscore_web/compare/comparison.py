"""The comparison that a question asks for, and its numbers as CSV."""

from __future__ import annotations

import csv
import io
import math
import threading
from collections.abc import Iterable, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from brainscore_web.compare.benchmark_comparison import TwoBenchmarks, two_benchmarks
from brainscore_web.compare.correlations import Correlations, correlations
from brainscore_web.compare.model_comparison import TwoModels, two_models, without_models
from brainscore_web.compare.question import Question
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cache import Cache
from brainscore_web.leaderboard.clean import harmless
from brainscore_web.leaderboard.snapshot import STATES, Snapshot

__all__ = ["Comparison", "compare", "csv_of"]


def csv_of(found: TwoBenchmarks | TwoModels | Correlations) -> str:
    """Write what came of a comparison.

    Two benchmarks: one row a model, also those that lack a value. Two models: one row a benchmark, likewise. Matrix:
    one row a pair, with both coefficients and the number of models.
    """
    if isinstance(found, TwoBenchmarks):
        return _written(*_benchmarks(found))
    return _written(*(_models(found) if isinstance(found, TwoModels) else _correlations(found)))


def _benchmarks(found: TwoBenchmarks) -> tuple[list[str], Iterable[Sequence[object]]]:
    names = ["model", "architecture", "family", "training_data"]
    for one in (found.x, found.y):
        names += [one.identifier, *(f"{one.identifier}:{part}" for part in ("error", "low", "high", "state"))]

    def rows() -> Iterable[Sequence[object]]:
        for place, model in enumerate(found.models):
            row: list[object] = [model.identifier, model.architecture, model.family, model.training_data]
            for one in (found.x, found.y):
                row += [float(array[place]) for array in (one.values, one.errors, one.low, one.high)]
                row.append(STATES[one.states[place]])
            yield row

    return names, rows()


def _models(found: TwoModels) -> tuple[list[str], Iterable[Sequence[object]]]:
    first, second = found.first.identifier, found.second.identifier
    names = ["benchmark", "version", "group", first, f"{first}:error", second, f"{second}:error"]
    names += ["difference", "error", "low", "high", "outcome"]

    def rows() -> Iterable[Sequence[object]]:
        for group in (("", found.means), *((one.title, one.differences) for one in found.groups)):
            for one in group[1]:
                version = one.benchmark.version if one.benchmark else ""
                scores = one.first, one.first_error, one.second, one.second_error
                test = one.difference, one.error, one.low, one.high, one.outcome
                yield one.identifier, version, group[0] if one.benchmark else "mean", *scores, *test
        for absent in found.absent:
            scores = absent.first_value, math.nan, absent.second_value, math.nan
            yield absent.identifier, absent.version, absent.group, *scores, *[math.nan] * 4, absent.why

    return names, rows()


def _correlations(found: Correlations) -> tuple[list[str], Iterable[Sequence[object]]]:
    names = ["first", "second", "pearson", "spearman", "n"]

    def rows() -> Iterable[Sequence[object]]:
        first, second = np.triu_indices(len(found.nodes), 1)
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            values = float(found.pearson[i, j]), float(found.spearman[i, j]), int(found.n[i, j])
            yield found.nodes[i].identifier, found.nodes[j].identifier, *values

    return names, rows()


def _written(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    return harmless(value) if isinstance(value, str) else str(value)


Comparison: TypeAlias = TwoBenchmarks | TwoModels | Correlations


_correlation_caches: WeakKeyDictionary[Snapshot, Cache[str, Correlations]] = WeakKeyDictionary()


_lock = threading.Lock()


def compare(snapshot: Snapshot, question: Question) -> Comparison:
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
        kept = _correlation_caches.setdefault(snapshot, Cache(most=4))
    return kept.get(of_matrix.query(), lambda: correlations(board, of_matrix))
