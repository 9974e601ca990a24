"""Outcomes of models on each stimulus, in the database in a compact form, and pages of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_core.statistics.stimuli import StimulusOutcomes, read_outcomes
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.models import Score, StimulusList, StimulusSample, StoredOutcomes, chunks

MOST_STIMULI = 20_000
"""Largest number of stimuli of which outcomes are stored."""

LONGEST_NAME = 200
"""Number of characters to which identifiers of stimuli are cut."""

ON_A_PAGE = 60
"""Number of stimuli on a page."""

Order = Literal["worst", "best", "name"]

_LARGEST = float(np.finfo(np.float32).max)


def scores_without_outcomes() -> QuerySet[Score]:
    """Return scores with predictions that have not been read."""
    scored = Score.objects.order_by("pk").filter(state=Score.State.SCORED, outcomes=None)
    return scored.filter(document__attachments__icontains="predictions")


def keep_outcomes(store: ResultsStore, receipts: Iterable[Receipt]) -> int:
    """Read and keep the outcomes of those scores that the site has and of which none were read so far."""
    by_id = {receipt.id: receipt for receipt in receipts}
    rows: list[tuple[int, StimulusOutcomes | None]] = []
    for some in chunks(by_id):
        for pk, identifier in scores_without_outcomes().filter(receipt__in=some).values_list("pk", "receipt"):
            try:
                rows.append((pk, read_outcomes(store, by_id[identifier])))
            except (UserError, OSError, ValueError, KeyError):
                continue  # the files cannot be read at present; the next ingestion tries again
    write_outcomes(rows)
    return len(rows)


def write_outcomes(rows: Sequence[tuple[int, StimulusOutcomes | None]]) -> None:
    """Write outcomes by primary key of their score; those of scores that have some are skipped."""
    if not rows:
        return
    with revision.exclusive_write():
        StoredOutcomes.objects.bulk_create([_row(*row) for row in rows], ignore_conflicts=True)
        revision.bump()


def _row(score: int, outcomes: StimulusOutcomes | None) -> StoredOutcomes:
    if outcomes is None or len(outcomes.stimuli) > MOST_STIMULI:
        return StoredOutcomes(score_id=score)
    names = [text(name, LONGEST_NAME) for name in outcomes.stimuli]
    digest = hashlib.sha256(json.dumps(names).encode()).hexdigest()
    stimuli, _ = StimulusList.objects.get_or_create(digest=digest, defaults={"identifiers": names})
    reference = b"" if outcomes.reference is None else _pack(outcomes.reference)
    return StoredOutcomes(
        score_id=score, stimuli=stimuli, kind=outcomes.kind, values=_pack(outcomes.values), reference=reference
    )


def _pack(values: NDArray[np.float64]) -> bytes:
    return np.clip(values, -_LARGEST, _LARGEST).astype("<f4").tobytes()


@dataclass(frozen=True, kw_only=True)
class StimulusLine:
    """A stimulus on a page: its outcome, that of subjects, and its picture if there is one."""

    rank: int  # 1 for the best one
    identifier: str
    value: float
    reference: float | None
    sample: StimulusSample | None


@dataclass(frozen=True, kw_only=True)
class OutcomePage:
    """A page of the stimuli of a score."""

    kind: str
    page: Page[int]  # positions of the stimuli among all
    lines: tuple[StimulusLine, ...]
    values: NDArray[np.float64]  # of all stimuli that have one
    reference: float | None  # mean of the subjects


def outcome_page(score: Score, order: Order, number: str) -> OutcomePage | None:
    """Return a page of the stimuli of a score, with three queries; None if nothing is stored by stimulus.

    `number`: number of the page, from 1; the last page if there are fewer.
    """
    row = StoredOutcomes.objects.select_related("stimuli").filter(score=score, stimuli__isnull=False).first()
    if row is None or row.stimuli is None:
        return None
    names: list[str] = row.stimuli.identifiers
    values = np.frombuffer(bytes(row.values), "<f4").astype(np.float64)
    reference = np.frombuffer(bytes(row.reference), "<f4").astype(np.float64)
    known = np.flatnonzero(np.isfinite(values))
    best_first = known[np.argsort(-values[known] if row.kind == "choice" else values[known], kind="stable")]
    ranks = {index: rank for rank, index in enumerate(best_first.tolist(), start=1)}
    ordered = {"best": best_first, "worst": best_first[::-1], "name": known}[order].tolist()
    page = Paginator(ordered, ON_A_PAGE).get_page(number)
    shown = [names[at] for at in page]
    samples = StimulusSample.objects.filter(benchmark=score.benchmark_id, stimulus_id__in=shown)
    pictures = {sample.stimulus_id: sample for sample in samples}
    return OutcomePage(
        kind=row.kind,
        page=page,
        lines=tuple(
            StimulusLine(
                rank=ranks[at],
                identifier=names[at],
                value=float(values[at]),
                reference=float(reference[at]) if len(reference) else None,
                sample=pictures.get(names[at]),
            )
            for at in page
        ),
        values=values[known],
        reference=float(reference.mean()) if len(reference) else None,
    )
