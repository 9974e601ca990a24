"""The *questions* panel on the card of a benchmark: stored answers to questions about its scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from brainscore_core.figures import pictures as pictures_figure
from brainscore_core.formatting import count_text, number_text, p_text
from brainscore_core.plurals import counted
from brainscore_core.questions.explained import draw_atlas, stimulus_pictures
from brainscore_core.receipts.assessment import (
    QUESTION_PARTS,
    Answered,
    AnsweredModel,
    Designed,
    Result,
    SignalShares,
    StimulusShown,
    Unexplained,
    result_of,
)
from brainscore_core.receipts.schema import ReceiptError
from brainscore_web.leaderboard.cards.benchmark import BenchmarkData
from brainscore_web.leaderboard.cards.formatting import Axis, axis_of, bar, estimate
from brainscore_web.leaderboard.cards.validity import Origin, origin_of, stored_documents
from brainscore_web.leaderboard.clean import objects_in, or_nan, text
from brainscore_web.leaderboard.models import Benchmark

MOST: Final = 20
"""Number of answers on a card, the newest first; the API has all."""

_MOST_ROWS: Final = 100
_MOST_NAMES: Final = 20
_MOST_STIMULI: Final = 1_000


def load_questions(benchmark: Benchmark, data: BenchmarkData) -> dict[str, Any] | None:
    """Read the stored answers that the visitor may see, with at most one query; None if there are none."""
    documents = stored_documents(data.assessments, QUESTION_PARTS)
    days = {line.receipt: line.created for line in data.scores.values()}
    return questions_of(benchmark, documents, days) if documents else None


def questions_of(
    benchmark: Benchmark, documents: Iterable[Mapping[str, Any]], days: Mapping[str, datetime]
) -> dict[str, Any]:
    """Return the panel of stored answers, newest first; one that cannot be read is left out.

    Of each question, the newest answer is shown. `days` are the receipts of scores that the visitor may see.
    """
    answers: dict[tuple[str, ...], tuple[Origin, Result, list[str]]] = {}
    for document in documents:
        part = str(document.get("part"))
        names = [str(item.get("identifier")) for item in objects_in(document, "models")]
        try:
            result = result_of(part, document.get("result"))
        except ReceiptError:
            continue
        key = part, json.dumps(document.get("settings"), sort_keys=True), *(names if part == "explanation" else ())
        answers.setdefault(key, (origin_of(benchmark, document), result, names))
    asked = max([result.asked for _, result, _ in answers.values() if isinstance(result, Answered)], default=0)
    shown = list(answers.values())[:MOST]
    panels = []
    for number, (origin, result, names) in enumerate(shown):
        match result:
            case Answered():
                panel = _answered(result, asked, days, origin.day)
            case SignalShares():
                panel = _shares(result)
            case Unexplained():
                panel = _unexplained(result, names, f"atlas-{number}")
            case Designed():
                panel = _designed(result)
            case _:
                continue
        panels.append({"origin": origin, "question": text(result.question, 500), **panel})
    return {"asked": counted(asked, "question") if asked else "", "more": len(answers) - len(shown), "panels": panels}


def _answered(answered: Answered, asked: int, days: Mapping[str, datetime], day: str) -> dict[str, Any]:
    rows = answered.models[:_MOST_ROWS]
    axis = axis_of([or_nan(value) for row in rows for value in (row.score, *(row.ci or ()))])
    before = counted(answered.asked, "question")
    return {
        "part": "question",
        "axis": axis.texts,
        "rows": tuple(_model(row, axis, asked / max(answered.asked, 1), days) for row in rows),
        "sentences": (
            f"Ranges of ranks hold for all models and all questions asked until {day} together ({before}). p is of the "
            f"difference to the first model, corrected for all pairs of models and for {counted(asked, 'question')}.",
        )
        if any(row.rank for row in rows)
        else (),
        "refused": counted(answered.refused, "model") if answered.refused else "",
        "hidden": len(answered.models) - len(rows),
    }


def _model(row: AnsweredModel, axis: Axis, factor: float, days: Mapping[str, datetime]) -> dict[str, Any]:
    low, high = row.ci or (None, None)
    day = days.get(row.source)
    return {
        "identifier": row.model,
        "rank": "" if row.rank is None else str(row.rank),
        "range": "" if row.best is None or row.worst is None else f"{row.best}–{row.worst}",
        "score": "undefined" if row.score is None else estimate(row.score, None, low, high),
        "reason": text(row.reason or "", 300),
        "bar": bar(axis, row.score, low, high),
        "raw": "" if row.raw is None else number_text(row.raw),
        "p": "" if row.p is None else p_text(min(1.0, row.p * factor)),
        "source": "" if day is None else row.source,
        "day": "" if day is None else f"{day:%Y-%m-%d}",
    }


def _shares(shares: SignalShares) -> dict[str, Any]:
    rows = shares.shares[:_MOST_ROWS]
    axis = axis_of([or_nan(value) for row in rows for value in (row.share, *(row.ci or ()))])
    return {
        "part": "explanation",
        "axis": axis.texts,
        "rows": tuple(
            {
                "label": text(row.label, 500),
                "share": estimate(row.share, None, *(row.ci or (None, None))),
                "bar": bar(axis, row.share, *(row.ci or (None, None))),
            }
            for row in rows
        ),
        "sentences": (
            f"Shares of the signal of {counted(shares.neuroids, 'neuroid')}; {text(shares.condition, 500)}.",
        ),
    }


def _unexplained(atlas: Unexplained, names: Sequence[str], identifier: str) -> dict[str, Any]:
    share = "" if atlas.margin is None else f"{100 * atlas.margin:.0f} %"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    sentences = [
        f"{counted(len(names), 'model').capitalize()}: {', '.join(names[:_MOST_NAMES])}{more}.",
        f"{count_text(atlas.reliable)} of {counted(atlas.neuroids, 'neuroid')} have a reliable signal. "
        + (
            f"In {count_text(atlas.found)} of them, more than {share} of the signal is not explained by the best "
            "combination of these models; at most 5 % of these are expected to be false."
            if atlas.found
            else f"In none of them was more than {share} of the signal found to be unexplained by the best combination "
            "of these models."
        ),
    ]
    if atlas.best is not None and atlas.combined is not None:
        sentences.append(
            f"Median share of the signal that is explained: {number_text(atlas.best)} by the best model, "
            f"{number_text(atlas.combined)} by the best combination."
        )
    figure = draw_atlas(atlas, title="What no model explains", identifier=identifier) if atlas.points else None
    if atlas.stimuli:
        names = [text(each.stimulus, 200) for each in atlas.stimuli[:_MOST_NAMES]]
        others = f" and {atlas.stimuli_found - len(names)} more" if atlas.stimuli_found > len(names) else ""
        count = counted(atlas.stimuli_found, "stimulus")
        sentences.append(f"Of {count}, more than {share} of the signal is not explained: {', '.join(names)}{others}.")
    sentences.append(f"Shares are those of {text(atlas.condition, 500)}.")
    return {"part": "atlas", "sentences": tuple(sentences), "figure": figure}


def _designed(designed: Designed) -> dict[str, Any]:
    models = text(" and ".join(designed.compared[:_MOST_NAMES]), 500)
    pictures = stimulus_pictures(designed.stimuli, title="Chosen stimuli", most=40)
    return {
        "part": "design",
        "sentences": (
            f"{counted(len(designed.stimuli), 'stimulus').capitalize()} of {count_text(designed.pool)} "
            f"({text(designed.pool_of, 200)}), whose responses decide best between {models}, if each is shown "
            f"{counted(designed.repetitions, 'time')}. Scores on them count in no average.",
            f"Maps to {counted(designed.neuroids, 'neuroid')} were fitted to {counted(designed.training, 'stimulus')}.",
        ),
        "power": tuple(
            {
                "true": "no model" if row.true == "none" else text(row.true, 500),
                "designed": _percent(row.designed),
                "random": _percent(row.random),
            }
            for row in designed.power[:_MOST_ROWS]
        ),
        "stimuli": _stimuli(designed.stimuli),
        "figure": None if pictures is None else pictures_figure(pictures),
        "sha256": text(designed.sha256, 64),
        "measured": tuple(
            {"model": text(row.model, 500), "correlation": number_text(row.correlation)}
            for row in designed.measured[:_MOST_ROWS]
        ),
    }


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _stimuli(stimuli: Iterable[StimulusShown]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (text(each.stimulus, 200), "" if each.value is None else number_text(each.value))
        for each in islice(stimuli, _MOST_STIMULI)
    )
