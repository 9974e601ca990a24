"""Answers to a question for all models whose products are stored, with comparison and ranks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from brainscore_core.errors import BrainScoreError, UserError
from brainscore_core.memory import memory_limit
from brainscore_core.metrics import Score
from brainscore_core.numerics.influence import comparable
from brainscore_core.parallel import evaluate
from brainscore_core.progress import track
from brainscore_core.questions.asked import Asked, apply_question
from brainscore_core.questions.question import SEPARATOR, Question
from brainscore_core.receipts.environment import current_environment
from brainscore_core.receipts.output import scrub_text
from brainscore_core.receipts.receipt import AnswerInfo, CeilingEstimate, Estimate, Receipt, Timings
from brainscore_core.results.store import ResultsStore, arrays_of
from brainscore_core.statistics.comparison import Comparisons, Ranking, compare_known, rank_jointly, ranked_models
from brainscore_core.statistics.units import Incomparable, Side, influence_of, units_of

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.numerics.significance import Correction
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

_MATRICES = 30
"""About how many matrices of all pairs of stimuli a process needs for one model."""


@dataclass(frozen=True)
class Answer:
    """Score of one model in answer to a question, and its receipt."""

    model: str
    score: Score
    receipt: Receipt


@dataclass(frozen=True)
class Answers:
    """Answers of all models to one question.

    Attributes
    ----------
    question : Question
        The question.
    items : tuple of Answer
        Models with an answer, in alphabetical order.
    refused : dict
        Models without an answer, and why.
    ceiling : Score
        Ceiling of the selected measurements.
    asked : int
        Number of different questions that were asked about this benchmark in this store, with this one.
    """

    question: Question
    items: tuple[Answer, ...]
    refused: dict[str, str]
    ceiling: Score
    asked: int

    def to_pandas(self) -> pd.DataFrame:
        """Make a table with one row for each model: its score and raw score, with intervals."""
        import pandas as pd

        rows = []
        for item in self.items:
            row: dict[str, object] = {"model": item.model, "state": item.receipt.state}
            for name, estimate in (("score", item.receipt.score), ("raw", item.receipt.raw)):
                low, high = (None, None) if estimate is None or estimate.ci is None else estimate.ci
                value = None if estimate is None else estimate.value
                row |= {name: value, f"{name}_ci_low": low, f"{name}_ci_high": high}
            rows.append(row | {"reason": item.receipt.reason})
        return pd.DataFrame(rows)

    def compare(self, *, correction: Correction = "holm", level: float = 0.95) -> Comparisons:
        """Compare all pairs of models, as :func:`~brainscore_core.statistics.comparison.compare` does.

        p-values are corrected for the pairs, and then multiplied by the number of questions that were asked about
        these data (Bonferroni's method), at most 1.
        """
        if len(self.items) < 2:
            raise UserError(f"{len(self.items)} model cannot be compared", remedy="score another one")
        compared = compare_known({self.question.identifier: self._sides()}, correction=correction, level=level)
        items = (
            item if item.p_corrected is None else replace(item, p_corrected=min(1.0, item.p_corrected * self.asked))
            for item in compared
        )
        return replace(compared, items=tuple(items))

    def ranks(self, *, level: float = 0.95) -> Ranking:
        """Rank the models, with intervals that hold simultaneously for all of them and all questions asked.

        Their level is 1 − (1 − `level`) / number of questions.
        """
        if len(self.items) < 2:
            raise UserError(f"{len(self.items)} model cannot be ranked", remedy="score another one")
        level = 1 - (1 - level) / self.asked
        sides = self._sides()
        known = {model: side for model, side in sides.items() if isinstance(side, Side)}
        influences = {}
        for model, side in known.items():
            with suppress(Incomparable):
                influences[model] = influence_of(side)
        shared = comparable(list(influences.values()))
        if len(influences) < len(known) or len(known) < 2 or any(each is None for each in shared):
            return compare_known({self.question.identifier: sides}, level=level).ranks(self.question.identifier)
        values = [side.score for side in known.values()]
        left_out = {model: side[1] for model, side in sides.items() if not isinstance(side, Side)}
        return Ranking(
            benchmark=self.question.identifier,
            models=ranked_models(known, values, rank_jointly(values, shared, level=level)),
            left_out=left_out,
            level=level,
            simultaneous=True,
        )

    def _sides(self) -> dict[str, Side | tuple[Receipt | None, str]]:
        return {item.model: _side(item) for item in self.items}


def ask(
    question: str | Question,
    *,
    stimuli: str | None = None,
    stimulus_ids: Iterable[str] = (),
    neuroids: str | None = None,
    subjects: Iterable[str] = (),
    regions: Iterable[str] = (),
    metric: str | None = None,
    ceiling: str | None = None,
    split: str | None = None,
    models: Iterable[str] | None = None,
    results: ResultsStore | str | os.PathLike[str] | None = None,
) -> Answers:
    """Ask how all models that were scored on a benchmark score otherwise, without running them.

    Parameters
    ----------
    question : str or Question
        Identifier of a benchmark, or a whole question; the following parameters are then left out.
    stimuli, stimulus_ids, neuroids, metric, ceiling, split
        As the attributes of :class:`Question`.
    subjects, regions : iterable of str
        Only neuroids of these, by the coordinates ``subject`` and ``region``.
    models : iterable of str, optional
        Only these models.
    results : ResultsStore or path, optional
        Store of the scores; answers are stored in its folder ``.answers``, apart from scores of benchmarks.

    Returns
    -------
    Answers
        A model without stored products of the stimuli is in ``refused``.

    Raises
    ------
    UserError
        If the question cannot be answered: a column or a metric is unknown, nothing is selected, or the metric needs
        single features.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_vision import score
    >>> store = tempfile.mkdtemp()
    >>> whole = score("gabor", "Simulated2026.V1-rdm", results=store)
    >>> answers = ask("Simulated2026.V1-rdm", metric="cka", results=store)
    >>> [item.model for item in answers.items], answers.asked
    (['gabor'], 1)
    """
    if isinstance(question, str):
        question = Question.about(
            question,
            stimuli=stimuli,
            stimulus_ids=tuple(map(str, stimulus_ids)),
            neuroids=neuroids,
            subjects=subjects,
            regions=regions,
            metric=metric,
            ceiling=ceiling,
            split=split,
        )
    store = results if isinstance(results, ResultsStore) else ResultsStore(results)
    asked = apply_question(question)
    sources, refused = sources_of(store, asked, models)
    answers_store = answers_of(store)
    scores, stored = [], []

    def score_of(source: Receipt) -> Score | str:
        try:
            return asked.score(features_of(asked, source, store))
        except BrainScoreError as error:
            return error.message if isinstance(error, UserError) else str(error)

    needed = _MATRICES * 8 * sum(map(len, asked.stimuli)) ** 2
    scores_of = evaluate(score_of, sources, most=max(1, memory_limit() // needed))
    with ThreadPoolExecutor(1) as writer:  # a file is on the disk only some milliseconds after it was written
        for source, score in zip(track(sources, "asking", len(sources), unit="models"), scores_of, strict=True):
            if isinstance(score, str):
                refused[source.model.identifier] = score
                continue
            scores.append(score)
            stored.append(writer.submit(_stored, _receipt(asked, source, score), answers_store))
    receipts = [future.result() for future in stored]
    items = [Answer(each.model.identifier, score, each) for each, score in zip(receipts, scores, strict=True)]
    number = max(1, questions_asked(store, asked.question.benchmark))
    return Answers(asked.question, tuple(items), refused, asked.ceiling, number)


def answers_of(store: ResultsStore) -> ResultsStore:
    """Return the store of the answers to questions about a store of scores."""
    return ResultsStore(f"{store.address}/.answers")


def questions_asked(store: ResultsStore, benchmark: str) -> int:
    """Count the different questions about a benchmark that were answered."""
    return len({name for _, name in answers_of(store).pairs() if name.rpartition(SEPARATOR)[0] == benchmark})


def verify_answer(receipt: Receipt, results: ResultsStore) -> float:
    """Compute the answer of a receipt again from the products that it names.

    Returns: absolute difference of the two scores. Raises UserError if the receipt is not an answer with a score, or
    its source or products are missing or have changed.
    """
    if receipt.answer is None or receipt.score is None or receipt.score.value is None:
        raise UserError(f"receipt {receipt.id} is not an answer with a score", remedy="use brainscore verify")
    source = results.load(receipt.answer.source)
    if source.products != receipt.products:
        raise UserError(f"receipt {source.id} names other products than the answer", remedy="ask again")
    asked = apply_question(Question.from_dict(receipt.answer.question))
    return abs(float(asked.score(features_of(asked, source, results))) - receipt.score.value)


def sources_of(store: ResultsStore, asked: Asked, models: Iterable[str] | None) -> tuple[list[Receipt], dict[str, str]]:
    """Newest receipts with products, and why other models have no answer."""
    benchmark = asked.benchmark.identifier
    newest = {receipt.model.identifier: receipt for receipt in store.listing(benchmark=benchmark).newest_of_each()}
    names = sorted(newest) if models is None else list(dict.fromkeys(models))
    if not names:
        raise UserError(
            f"no model was scored on {benchmark} in {store.address}", remedy=f"brainscore score MODEL {benchmark}"
        )
    sources, refused = [], {}
    for name in names:
        receipt = newest.get(name)
        if receipt is None:
            refused[name] = f"it was not scored on {benchmark}"
        elif not receipt.products:
            notes = [note for note in receipt.notes if note.startswith("products of the features")]
            refused[name] = notes[0] if notes else f"no products are stored ({receipt.state}); score it again"
        else:
            sources.append(receipt)
    return sources, refused


def features_of(asked: Asked, source: Receipt, store: ResultsStore) -> list[DataAssembly]:
    """Features with the stored products of a receipt, one assembly for each part of the measurements."""
    if len(source.products) > 1:
        raise UserError(f"{len(source.products)} layers or regions were recorded, and questions need one")
    return asked.sources(store.read_products(source.products[0]))


def _stored(receipt: Receipt, answers: ResultsStore) -> Receipt:
    """The receipt as it is stored; that of an earlier, equal answer if there is one."""
    latest = answers.latest(receipt.model.identifier, receipt.benchmark.identifier)
    if latest is not None and receipt == replace(latest, id="", created=""):
        return latest
    return answers.write(receipt)


def _receipt(asked: Asked, source: Receipt, score: Score) -> Receipt:
    """The receipt of an answer: not below the benchmark's parent, so that no average contains it."""
    raw, estimate = score.attrs.get("raw"), Estimate.from_score(score)
    defined = estimate.value is not None
    return replace(
        source,
        id="",
        created="",
        benchmark=replace(source.benchmark, identifier=asked.question.identifier, parent=None),
        state="scored" if defined else "undefined",
        reason=None if defined else scrub_text(str(score.attrs.get("reason") or "the metric is undefined")),
        score=estimate if defined else None,
        raw=Estimate.from_score(raw) if raw is not None and np.size(raw) == 1 else None,
        ceiling=CeilingEstimate.from_score(asked.ceiling) if np.size(asked.ceiling) == 1 else None,
        answer=AnswerInfo(source=source.id, question=asked.question.as_dict()),
        environment=current_environment(),
        attachments=(),
        notes=(),
        timings=Timings(),
    )


def _side(answer: Answer) -> Side | tuple[Receipt | None, str]:
    if answer.receipt.state != "scored":
        return answer.receipt, f"{answer.model}: {answer.receipt.reason}"
    try:
        return Side(answer.receipt, units_of(arrays_of(answer.score)[0], answer.receipt))
    except Incomparable as error:
        return answer.receipt, error.message
