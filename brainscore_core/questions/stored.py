"""Results of questions as assessments, which are stored beside scores for the site and its API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_core.formatting import estimate_text
from brainscore_core.plurals import counted
from brainscore_core.questions.answers import Answers
from brainscore_core.questions.explained import stimuli_shown
from brainscore_core.questions.question import Question
from brainscore_core.receipts.assessment import (
    Answered,
    AnsweredModel,
    Assessment,
    Designed,
    MeasuredModel,
    Part,
    Power,
    SignalShare,
    SignalShares,
    Used,
)
from brainscore_core.receipts.environment import current_environment, platform_code
from brainscore_core.receipts.receipt import Receipt
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.results.store import ResultsStore
from brainscore_core.strict_json import plain

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.questions.designed import Design
    from brainscore_core.questions.explained import Atlas, Explanation


def store_answers(answers: Answers, results: ResultsStore) -> Assessment:
    """Store the answers to a question, with ranks and p-values, and return them as they are stored.

    Raises a UserError if no model has an answer.
    """
    if not answers.items:
        reason = next(iter(answers.refused.items()), ("", ""))
        raise UserError(f"no model has an answer; {': '.join(reason)}", remedy="ask about models with stored products")
    several = len(answers.items) > 1
    ranks = {ranked.model: ranked for ranked in answers.ranks().models} if several else {}
    first = next(iter(ranks), None)
    p_values = {}
    for pair in answers.compare() if several else ():
        if first in (pair.first, pair.second):
            p_values[pair.second if pair.first == first else pair.first] = pair.p_corrected
    models = []
    for item in answers.items:
        receipt, ranked = item.receipt, ranks.get(item.model)
        models.append(
            AnsweredModel(
                model=item.model,
                score=None if receipt.score is None else receipt.score.value,
                ci=None if receipt.score is None else receipt.score.ci,
                raw=None if receipt.raw is None else receipt.raw.value,
                raw_ci=None if receipt.raw is None else receipt.raw.ci,
                rank=None if ranked is None else ranked.rank,
                best=None if ranked is None else ranked.best,
                worst=None if ranked is None else ranked.worst,
                p=p_values.get(item.model),
                receipt=receipt.id,
                source="" if receipt.answer is None else receipt.answer.source,
                reason=receipt.reason,
            )
        )
    models.sort(key=lambda model: (model.rank is None, model.rank or 0, model.model))
    text = answers.question.text()
    result = Answered(question=text, asked=answers.asked, models=tuple(models), refused=len(answers.refused))
    lines = [
        f"{model.rank or '–'}  {model.model}  "
        + ("undefined" if model.score is None else estimate_text(model.score, ci=model.ci, brief=True))
        for model in models
    ]
    lines.append(f"{counted(answers.asked, 'question')} asked of these data so far.")
    return _store("question", answers.question, [model.model for model in models], result, "\n".join(lines), results)


def store_explanation(explanation: Explanation, results: ResultsStore) -> Assessment:
    """Store what models explain alone and together, and return it as it is stored."""
    selected = explanation.selected
    result = SignalShares(
        question=selected.question.text(),
        neuroids=len(selected.neuroids),
        condition=selected.condition,
        shares=tuple(
            SignalShare(label=label, share=share, ci=(interval.low, interval.high))
            for label, (share, interval) in explanation.shares().items()
        ),
    )
    return _store("explanation", selected.question, explanation.models, result, explanation.text(), results)


def store_atlas(atlas: Atlas, results: ResultsStore, *, margin: float = 0.1) -> Assessment:
    """Store what no model explains, and return it as it is stored."""
    result, text = atlas.result(margin=margin), atlas.text(margin=margin)
    return _store("atlas", atlas.selected.question, atlas.models, result, text, results)


def store_design(
    design: Design, power: pd.DataFrame, results: ResultsStore, *, measured: pd.DataFrame | None = None
) -> Assessment:
    """Store a design, and what :func:`~brainscore_core.questions.designed.compare_with_predictions` found later."""
    _, about = design.sealed()
    question, digest = design.selected.question, about["predictions"]["sha256"]
    result = Designed(
        question=question.text(),
        compared=tuple(about["models"]),
        neuroids=len(design.selected.neuroids),
        training=design.training,
        pool=len(design.pool),
        pool_of=about["pool of"],
        repetitions=design.repetitions,
        stimuli=stimuli_shown(question, design.stimuli, design.differences.tolist()),
        power=tuple(
            Power(true=str(true), designed=designed, random=random)
            for true, designed, random in power[["true", "designed", "random"]].to_numpy().tolist()
        ),
        sha256=digest,
        measured=()
        if measured is None
        else tuple(
            MeasuredModel(model=str(model), correlation=correlation)
            for model, correlation in measured[["model", "correlation"]].to_numpy().tolist()
        ),
    )
    text = f"{counted(len(design.stimuli), 'stimulus')}; predictions with the SHA-256 {digest}"
    settings = {"sha256": digest, "stimuli": len(design.stimuli)}
    return _store("design", question, design.models, result, text, results, **settings)


def _store(
    part: Part,
    question: Question,
    models: Iterable[str],
    result: Any,
    text: str,
    results: ResultsStore,
    **settings: Any,
) -> Assessment:
    receipts = {
        receipt.model.identifier: receipt for receipt in results.listing(benchmark=question.benchmark).newest_of_each()
    }
    used = [receipts[name] for name in models]
    benchmark = max(used, key=lambda receipt: receipt.created).benchmark
    store = AssessmentStore(results)
    store.require_writable()
    return store.write(
        Assessment(
            part=part,
            benchmark=Used(
                kind="benchmark",
                identifier=question.benchmark,
                version=benchmark.version,
                sha256=None if benchmark.plugin is None else benchmark.plugin.sha256,
            ),
            models=tuple(map(_used, used)),
            settings={name: value for name, value in question.as_dict().items() if name != "benchmark"} | settings,
            state="assessed",
            result=plain(asdict(result)),
            text=text,
            environment=asdict(current_environment()),
            code=platform_code(),
        )
    )


def _used(receipt: Receipt) -> Used:
    plugin = receipt.model.plugin
    return Used(kind="model", identifier=receipt.model.identifier, sha256=None if plugin is None else plugin.sha256)
