"""The page of comparisons: its forms, what is compared, its numbers as CSV, and its downloads."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Iterable, Sequence
from csv import writer as csv_writer
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.figures import standalone
from brainscore_core.formatting import harmless
from brainscore_web.accounts.callers import find_caller
from brainscore_web.compare import views
from brainscore_web.compare.benchmark_comparison import (
    Correlations,
    ScoreAgainstSize,
    TwoBenchmarks,
    correlations,
    score_against_size,
    two_benchmarks,
)
from brainscore_web.compare.model_comparison import SeveralModels, TwoModels, several_models, two_models, without_models
from brainscore_web.compare.question import MODES, MOST_MODELS, Question, benchmark_href, model_href, node_names
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.filters import MODEL_FILTERS, active_filters, benchmark_facets, model_facets
from brainscore_web.leaderboard.http import answer, conditional, error_response, user_errors
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import STATES, Snapshot, snapshot_for


@require_safe
@user_errors
def page(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Compare two benchmarks, two models, or all benchmarks; the page shows errors together with its forms."""
    question, snapshot = _question_and_snapshot(request, domain)
    return answer(request, _tag(snapshot, question, "page"), lambda: _page(request, snapshot, question))


@require_safe
@user_errors
def svg(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Download the chart."""
    question, snapshot = _question_and_snapshot(request, domain)

    def make() -> HttpResponse:
        chart = standalone(compare(snapshot, question).svg())
        return _file(chart, "image/svg+xml", question, "svg")

    return answer(request, _tag(snapshot, question, "svg"), make)


@require_safe
@user_errors
def csv(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Download the numbers; programs may send a token, as to the API."""
    caller = find_caller(request)
    if caller is None:
        error = UserError("the token is not valid", remedy="make a new one on your account's page")
        return error_response(request, error, status=401)
    question = Question.from_query(request.GET)
    snapshot = snapshot_for(caller.visitor, domain.name, at=question.board.at)

    def make() -> HttpResponse:
        table = csv_of(compare(snapshot, question))
        return _file(table, "text/csv", question, "csv")

    response = answer(request, _tag(snapshot, question, "csv"), make)
    patch_vary_headers(response, ("Authorization",))
    return response


def _question_and_snapshot(request: HttpRequest, domain: Domain) -> tuple[Question, Snapshot]:
    question = Question.from_query(request.GET)
    return question, snapshot_for(request.user, domain.name, at=question.board.at)


def _tag(snapshot: Snapshot, question: Question, what: str) -> str:
    return conditional(snapshot, "compare", what, question.query(), only_snapshot=True)


def _file(content: str, kind: str, question: Question, ending: str) -> HttpResponse:
    response = HttpResponse(content, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="brain-score-{question.mode}.{ending}"'
    return response


def _page(request: HttpRequest, snapshot: Snapshot, question: Question) -> HttpResponse:
    context: dict[str, Any] = {"question": question, "form": views.form_of(snapshot, question)}
    status = 200
    try:
        comparison = compare(snapshot, question)
    except UserError as error:
        if snapshot.models or snapshot.at is not None:
            status = 404 if isinstance(error, UnknownIdentifier) else 400
            context |= {"message": error.message, "remedy": error.remedy}
        else:
            context |= {"message": "there are no scores to compare yet", "remedy": ""}
    else:
        context |= {
            "comparison": comparison,
            "svg": comparison.svg(),
            **views.comparison_context(comparison, question),
        }
    response = render(request, "compare/compare.html", context, status=status)
    if status != 200:
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response


_NO_CHIP = frozenset({"values", "unscored", "coverage"})  # shown as a field of the form of each mode
_MODE_FIELDS = {  # visible fields of the form of each mode
    "benchmarks": ("x", "y", "colour", "values"),
    "models": ("first", "second", "models", "values"),
    "matrix": ("level", "method", "least", "values"),
    "size": ("y", "colour", "values"),
}


def form_of(snapshot: Snapshot, question: Question) -> dict[str, Any]:
    """Return the content of the forms for the data in a snapshot."""
    facets = benchmark_facets(snapshot, question.board)
    if question.mode != "models":
        facets = (*model_facets(snapshot, question.board), *facets)
    facets = tuple(
        facet for facet in facets if len(facet.options) > 1 or any(choice.chosen for choice in facet.options)
    )
    filter_fields = {facet.name for facet in facets} | {"q", "over", "at"}
    pairs = question.pairs()
    return {
        "modes": [(title, question.changed(mode=mode).query(), mode == question.mode) for mode, title in MODES.items()],
        "nodes": [
            (name, name if name in snapshot.benchmark_index else title) for name, title in node_names(snapshot).items()
        ]
        if question.mode in ("benchmarks", "size")
        else [],
        "models": [(model.identifier, model.title) for model in snapshot.models] if question.mode == "models" else [],
        # fields of further models, one of them empty
        "others": list(enumerate((*question.others, "")[: MOST_MODELS - 2], 3)) if question.mode == "models" else [],
        "hidden": [pair for pair in pairs if pair[0] not in _MODE_FIELDS[question.mode]],
        "hidden_in_filters": [pair for pair in pairs if pair[0] not in filter_fields],
        "facets": facets,
        "chips": _chips(question),
        "colours": {"architecture": "architecture", "family": "family", "training": "training data", "none": "nothing"},
        "levels": {"means": "means", "benchmarks": "benchmarks", "all": "means and benchmarks"},
        "board_query": question.board.query(),
        "query": question.query(),
    }


def comparison_context(comparison: Comparison, question: Question) -> dict[str, Any]:
    """Return the identifiers of the two compared items, the query that swaps them, and links to their pages."""
    if isinstance(comparison, TwoBenchmarks):
        items = [
            (axis.identifier, axis.title, "" if axis.is_mean else benchmark_href(axis.identifier))
            for axis in (comparison.x, comparison.y)
        ]
        swapped = question.changed(x=items[1][0], y=items[0][0])
    elif isinstance(comparison, TwoModels):
        models = (comparison.first, comparison.second)
        items = [(model.identifier, model.title, model_href(model.identifier)) for model in models]
        swapped = question.changed(first=items[1][0], second=items[0][0])
    elif isinstance(comparison, SeveralModels):
        names = [model.identifier for model in comparison.models]
        return {
            "names": names,
            "means": comparison.table(comparison.means),
            "benchmarks": comparison.table(comparison.benchmarks),
            "outcomes": [
                (model, [(*texts, question.changed(first=model.identifier, second=name, models=()).query())
                         for texts, name in zip(row, names, strict=True)])
                for model, row in comparison.outcomes()
            ],
        }  # fmt: skip
    elif isinstance(comparison, ScoreAgainstSize):
        axis = comparison.axis
        return {
            "names": [axis.identifier],
            "cards": [] if axis.is_mean else [(axis.title, benchmark_href(axis.identifier))],
        }
    else:
        return {}
    return {
        "names": [name for name, _, _ in items],
        "swapped": swapped.query(),
        "cards": [(title, href) for _, title, href in dict.fromkeys(items) if href],
    }


def _chips(question: Question) -> list[dict[str, Any]]:
    return [
        {
            "text": active.text,
            "query": question.changed(board=active.without).query(),
        }
        for active in active_filters(question.board)
        if active.field not in _NO_CHIP
        # in the mode that compares two chosen models, filters of models have no effect
        and (question.mode != "models" or active.field not in MODEL_FILTERS)
    ]


Comparison: TypeAlias = TwoBenchmarks | TwoModels | SeveralModels | Correlations | ScoreAgainstSize


def csv_of(comparison: Comparison) -> str:
    """Write a comparison as CSV.

    Two benchmarks: one row per model, including those without a value. Two models: one row per benchmark, likewise;
    more models: one row per mean or benchmark and model.
    Size: one row per model that has both. Matrix: one row per pair, with both coefficients and the number of models.
    """
    if isinstance(comparison, ScoreAgainstSize):
        return _to_csv(*_sizes(comparison))
    if isinstance(comparison, TwoBenchmarks):
        return _to_csv(*_benchmarks(comparison))
    if isinstance(comparison, SeveralModels):
        return _to_csv(*_side_by_side(comparison))
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


def _side_by_side(comparison: SeveralModels) -> tuple[list[str], Iterable[Sequence[object]]]:
    def rows() -> Iterable[Sequence[object]]:
        for scores in (*comparison.means, *comparison.benchmarks):
            group = comparison.groups.get(scores.identifier, "mean")
            for model, row in zip(comparison.models, comparison.rows, strict=True):
                numbers = (float(array[row]) for array in (scores.values, scores.errors, scores.low, scores.high))
                yield scores.identifier, group, model.identifier, *numbers, STATES[scores.states[row]], scores.condition

    return ["benchmark", "group", "model", "value", "error", "low", "high", "state", "condition"], rows()


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
    writer = csv_writer(file, lineterminator="\r\n")
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
        return several_models(board, question) if question.others else two_models(board, unfiltered)
    matrix_question = question.changed(x="", y="", first="", second="", colour="architecture")
    board = board_for(snapshot, question.board.changed(unscored=True))
    with _lock:
        cache = _correlation_caches.setdefault(snapshot, Cache(most=4))
    return cache.get(matrix_question.query(), lambda: correlations(board, matrix_question))
