"""The comparison that a question requests, and its numbers as CSV."""

from __future__ import annotations

import csv
import io
import math
import threading
from collections.abc import Iterable, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from brainscore_core.formatting import harmless
from brainscore_web.compare.benchmark_comparison import (
    Correlations,
    ScoreAgainstSize,
    TwoBenchmarks,
    correlations,
    score_against_size,
    two_benchmarks,
)
from brainscore_web.compare.model_comparison import TwoModels, two_models, without_models
from brainscore_web.compare.question import Question
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import STATES, Snapshot

Comparison: TypeAlias = TwoBenchmarks | TwoModels | Correlations | ScoreAgainstSize


def csv_of(comparison: Comparison) -> str:
    """Write a comparison as CSV.

    Two benchmarks: one row per model, including those without a value. Two models: one row per benchmark, likewise.
    Size: one row per model that has both. Matrix: one row per pair, with both coefficients and the number of models.
    """
    if isinstance(comparison, ScoreAgainstSize):
        return _to_csv(*_sizes(comparison))
    if isinstance(comparison, TwoBenchmarks):
        return _to_csv(*_benchmarks(comparison))
    return _to_csv(*(_models(comparison) if isinstance(comparison, TwoModels) else _correlations(comparison)))


def _sizes(comparison: ScoreAgainstSize) -> tuple[list[str], Iterable[Sequence[object]]]:
    axis = comparison.axis
    names = ["model", "architecture", "family", "training_data", "parameters", axis.identifier]
    names += [f"{axis.identifier}:{part}" for part in ("error", "low", "high")]

    def rows() -> Iterable[Sequence[object]]:
        for place in comparison.places:
            model = comparison.models[place]
            row: list[object] = [model.identifier, model.architecture, model.family, model.training_data]
            row.append(model.parameters)
            yield [*row, *(float(array[place]) for array in (axis.values, axis.errors, axis.low, axis.high))]

    return names, rows()


def _benchmarks(comparison: TwoBenchmarks) -> tuple[list[str], Iterable[Sequence[object]]]:
    names = ["model", "architecture", "family", "training_data"]
    for axis in (comparison.x, comparison.y):
        names += [axis.identifier, *(f"{axis.identifier}:{part}" for part in ("error", "low", "high", "state"))]

    def rows() -> Iterable[Sequence[object]]:
        for place, model in enumerate(comparison.models):
            row: list[object] = [model.identifier, model.architecture, model.family, model.training_data]
            for axis in (comparison.x, comparison.y):
                row += [float(array[place]) for array in (axis.values, axis.errors, axis.low, axis.high)]
                row.append(STATES[axis.states[place]])
            yield row

    return names, rows()


def _models(comparison: TwoModels) -> tuple[list[str], Iterable[Sequence[object]]]:
    first, second = comparison.first.identifier, comparison.second.identifier
    names = ["benchmark", "version", "group", first, f"{first}:error", second, f"{second}:error"]
    names += ["difference", "error", "low", "high", "outcome", "condition"]

    def rows() -> Iterable[Sequence[object]]:
        groups = [("mean", comparison.means), *((group.title, group.differences) for group in comparison.groups)]
        for title, differences in groups:
            for row in differences:
                version = row.benchmark.version if row.benchmark else ""
                scores = row.first, row.first_error, row.second, row.second_error
                test = row.difference, row.error, row.low, row.high, row.outcome
                yield row.identifier, version, title, *scores, *test, row.condition
        for absent in comparison.absent:
            scores = absent.first_value, math.nan, absent.second_value, math.nan
            yield absent.identifier, absent.version, absent.group, *scores, *[math.nan] * 4, absent.why, ""

    return names, rows()


def _correlations(comparison: Correlations) -> tuple[list[str], Iterable[Sequence[object]]]:
    names = ["first", "second", "pearson", "spearman", "n"]

    def rows() -> Iterable[Sequence[object]]:
        first, second = np.triu_indices(len(comparison.nodes), 1)
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            values = float(comparison.pearson[i, j]), float(comparison.spearman[i, j]), int(comparison.n[i, j])
            yield comparison.nodes[i].identifier, comparison.nodes[j].identifier, *values

    return names, rows()


def _to_csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    return harmless(value) if isinstance(value, str) else str(value)


_correlation_caches: WeakKeyDictionary[Snapshot, Cache[str, Correlations]] = WeakKeyDictionary()


_lock = threading.Lock()


def compare(snapshot: Snapshot, question: Question) -> Comparison:
    """Run the comparison that is requested, on the data that the visitor sees.

    A `UserError` says why it is not possible.
    """
    if question.mode == "benchmarks":
        return two_benchmarks(board_for(snapshot, question.board.changed(unscored=True)), question)
    if question.mode == "size":
        return score_against_size(board_for(snapshot, question.board.changed(unscored=True)), question)
    if question.mode == "models":
        unfiltered = without_models(question)
        every_state = bool(question.first or question.second)
        board = board_for(snapshot, unfiltered.board.changed(unscored=True, states=every_state))
        return two_models(board, unfiltered)
    matrix_question = question.changed(x="", y="", first="", second="", colour="architecture")
    board = board_for(snapshot, question.board.changed(unscored=True))
    with _lock:
        cache = _correlation_caches.setdefault(snapshot, Cache(most=4))
    return cache.get(matrix_question.query(), lambda: correlations(board, matrix_question))
