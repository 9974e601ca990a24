"""``brainscore ask``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_columns, echo_json
from brainscore_core.errors import UserError
from brainscore_core.formatting import estimate_text, number_text
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore_core.questions.answers import Answers
    from brainscore_core.questions.subjects import Subjects
    from brainscore_core.statistics.comparison import Ranking

_MOST_IDS = 5_000_000  # bytes of a file with identifiers


@click.command("ask")
@click.argument("benchmark")
@click.option(
    "--stimuli", metavar="EXPRESSION", help="Only these stimuli, such as 'category == \"faces\" and size > 3'."
)
@click.option(
    "--stimulus-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Only the stimuli whose identifiers this file lists, one a line.",
)
@click.option("--neuroids", metavar="EXPRESSION", help="Only these neuroids, such as 'reliability > 0.7'.")
@click.option("--subject", "subjects", multiple=True, help="Only neuroids of this subject; may be repeated.")
@click.option("--region", "regions", multiple=True, help="Only neuroids of this region; may be repeated.")
@click.option("--metric", help="Another metric, such as ridge, pls, cka or rdm.")
@click.option("--ceiling", help="Another ceiling, such as internal_consistency, or none.")
@click.option(
    "--split",
    metavar="KIND:…",
    help="Other splits: groups:COLUMN keeps equal values on one side, each:COLUMN tests each value once, "
    "test:EXPRESSION tests these stimuli and fits on the others.",
)
@click.option("--model", "models", multiple=True, help="Only this model; may be repeated.")
@click.option("--compare", "compares", is_flag=True, help="Also test all pairs of models.")
@click.option(
    "--by-subject", is_flag=True, help="Predict subjects from each other, and compare the models' scores for them."
)
@click.option("--verify", "verifies", is_flag=True, help="Compute the answer twice, the second time from its receipt.")
@click.option(
    "--store", "stores", is_flag=True, help="Also store table, ranks and p-values beside scores, for reports and sites."
)
@results_option
@json_option
def command(
    benchmark: str,
    stimulus_file: Path | None,
    compares: bool,
    by_subject: bool,
    verifies: bool,
    stores: bool,
    results: str | None,
    json_: bool,
    **asked: Any,
) -> None:
    """Ask how all scored models score otherwise, without running them.

    brainscore ask MajajHong2015public.IT-pls --stimuli 'category_name != "Faces"' --subject Chabo

    Answers are computed from products of features that are stored with scores, and kept apart from scores.
    """
    with stage("starting"):
        from brainscore_core.questions.answers import ask, questions_asked, verify_answer
        from brainscore_core.questions.stored import store_answers
        from brainscore_core.questions.subjects import compare_subjects
        from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    names = asked.pop("models")
    if stimulus_file is not None:
        asked["stimulus_ids"] = _identifiers(stimulus_file)
    answers = ask(benchmark, **asked, models=names or None, results=store)
    subjects = compare_subjects(answers.question, results=store) if by_subject else None
    answers = replace(answers, asked=max(1, questions_asked(store, answers.question.benchmark)))
    ranking = answers.ranks() if len(answers.items) > 1 else None
    comparisons = answers.compare() if compares else None
    differences = {item.model: verify_answer(item.receipt, store) for item in answers.items} if verifies else {}
    if stores:
        store_answers(answers, store)
    if json_:
        content = {
            "question": answers.question.as_dict(),
            "questions_asked": answers.asked,
            "answers": [item.receipt.to_dict() for item in answers.items],
            "refused": answers.refused,
            "ranks": None if ranking is None else ranking.to_pandas().to_dict("records"),
            "comparisons": None if comparisons is None else comparisons.to_pandas().to_dict("records"),
            "subjects": None if subjects is None else _subjects_as_dict(subjects),
            "verified": differences,
        }
        echo_json(content)
        return
    echo(f"{answers.question.benchmark}; {answers.question.text()}")
    _echo_answers(answers, ranking)
    if comparisons is not None:
        rows = [
            (f"{pair.first} − {pair.second}", number_text(pair.difference), number_text(pair.p_corrected), pair.verdict)
            for pair in comparisons
        ]
        echo_columns(("Models", "Difference", "p (corrected)", "Outcome"), rows)
    if subjects is not None:
        _echo_subjects(subjects)
    for model, reason in answers.refused.items():
        echo(f"{model}: {reason}", err=True)
    for model, difference in differences.items():
        echo(f"{model}: computed again, the score differs by {difference:.1g}")
    questions = "1 question was" if answers.asked == 1 else f"{answers.asked} questions were"
    echo(f"{questions} asked of these data; p-values and ranks are corrected for their number.")


def _identifiers(file: Path) -> list[str]:
    if file.stat().st_size > _MOST_IDS:
        raise UserError(f"{file} is too large for a list of stimuli", remedy="write one identifier a line")
    try:
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not a text", remedy="write one identifier a line") from error
    if not names:
        raise UserError(f"{file} is empty", remedy="write one identifier a line")
    return names


def _echo_answers(answers: Answers, ranking: Ranking | None) -> None:
    """Print models, the best one first, those without a rank last."""
    places = {} if ranking is None else {model.model: model for model in ranking.models}
    rows = []
    for item in sorted(answers.items, key=lambda item: (item.model not in places, *_place(places.get(item.model)))):
        score, raw, place = item.receipt.score, item.receipt.raw, places.get(item.model)
        rows.append(
            (
                item.model,
                "undefined"
                if score is None
                else estimate_text(score.value, error=score.error, ci=score.ci, brief=True),
                "" if raw is None else number_text(raw.value),
                "" if place is None else f"{place.rank} ({place.best}–{place.worst})",
            )
        )
    echo_columns(("Model", "Score (95 % interval)", "Raw", "Rank (range)"), rows)


def _place(model: Any) -> tuple[int, str]:
    return (0, "") if model is None else (model.rank, model.model)


def _echo_subjects(subjects: Subjects) -> None:
    low, high = subjects.typical.attrs["ci"]
    typical = estimate_text(float(subjects.typical), ci=(low, high), brief=True)
    rows = [("typical subject, from another", typical, *[""] * len(subjects.subjects))]
    for model, scores in subjects.models.items():
        values = [number_text(float(scores[name])) if name in scores else "" for name in subjects.subjects]
        rows.append((model, "", *values))
    echo_columns(("Raw scores", "Mean of pairs", *subjects.subjects), rows)
    differing = [each for each in subjects.differences if each.low > 0 or each.high < 0]
    for each in differing:
        limits = estimate_text(each.difference, ci=(each.low, each.high), brief=True)
        echo(f"{each.model}: {each.first} − {each.second} = {limits}")
    if subjects.models and not differing:
        echo("No difference between subjects was found for any model.")


def _subjects_as_dict(subjects: Subjects) -> dict[str, Any]:
    return {
        "subjects": subjects.subjects,
        "pairs": subjects.pairs.tolist(),
        "typical": float(subjects.typical),
        "typical_ci": list(subjects.typical.attrs["ci"]),
        "models": {
            model: {name: float(score) for name, score in scores.items()} for model, scores in subjects.models.items()
        },
        "differences": [vars(each) for each in subjects.differences],
    }
