"""Ingestion of the assessments that lie beside the receipts of a results store."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import DatabaseError, transaction

from brainscore_core.domain_names import FIRST
from brainscore_core.domains import domains
from brainscore_core.errors import UserError
from brainscore_core.receipts.assessment import Assessment
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.scoring import Problem, ResultsStore
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import check_identifier, check_receipt, json_value, moment
from brainscore_web.leaderboard.ingest.rows import Row, Writer, benchmarks_of, limits
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, Visibility, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write

MOST_BYTES = 500_000
"""Largest assessment that is stored, in bytes of JSON."""

MOST_MODELS = 500
"""Largest number of models of an assessment."""

_BATCH = 50
_log = logging.getLogger(__name__)


class _Checked(NamedTuple):
    """An assessment after validation: its row, without benchmark and models, and the names of these."""

    row: StoredAssessment
    benchmark: str
    models: tuple[str, ...]


def keep_assessments(store: ResultsStore, writer: Writer) -> None:
    """Store the new assessments of a results store; known ones are not opened.

    Each batch is written completely or not at all, so that an interrupted ingestion continues with the next one. An
    assessment that is not valid, has more than :data:`MOST_BYTES` or :data:`MOST_MODELS`, or cannot be stored is
    reported as a problem.
    """
    assessments = AssessmentStore(store)
    known = set(StoredAssessment.objects.order_by().values_list("identifier", flat=True))
    waiting: list[_Checked] = []
    for entry in assessments.unread(known):
        if isinstance(entry, Problem):
            writer.report.add_problem(entry.path, entry.message, entry.remedy)
            continue
        try:
            waiting.append(_checked(entry))
        except (ValueError, RecursionError) as error:
            writer.report.add_problem(assessments.address_of(entry), str(error) or type(error).__name__)
        if len(waiting) == _BATCH:
            _write(waiting, writer)
            waiting = []
    _write(waiting, writer)


def keep_published(documents: Iterable[Any]) -> None:
    """Store assessments that the site has computed for a submitted benchmark, which is now published.

    They were written by the submitted code: one that is not valid, or names a model that is neither public on this
    site nor installed, is not stored.
    """
    entries = []
    for document in documents:
        try:
            entries.append(_checked(Assessment.from_json(json.dumps(document))))
        except (ReceiptError, ValueError, RecursionError) as error:
            _log.warning("An assessment of a published benchmark is not stored: %s", error)
    names = {name for entry in entries for name in entry.models}
    rows = VisionModel.objects.filter(identifier__in=names).values_list("identifier", "visibility")
    visibility = {name: str(Visibility.PUBLIC) for each in domains() for name in each.registries["model"]} | dict(rows)
    named = [entry for entry in entries if all(visibility.get(name) == Visibility.PUBLIC for name in entry.models)]
    _write(named, Writer(None, Visibility.PUBLIC))


def keep_answer(answer: Assessment) -> None:
    """Store the answer to a question that the site has computed; UserError if it cannot be stored."""
    writer = Writer(None, Visibility.PRIVATE)
    try:
        _write([_checked(answer)], writer)
    except ValueError as error:
        raise UserError(f"the answer cannot be stored: {error}", remedy="ask about fewer models") from error
    if problems := writer.report.problems:
        raise UserError(f"the answer cannot be stored: {problems[0].message}")


def _checked(entry: Assessment) -> _Checked:
    """Validate an assessment."""
    document = json_value(entry.to_dict())
    size = len(json.dumps(document, ensure_ascii=False).encode())
    if size > MOST_BYTES:
        raise ValueError(f"it has {size:,} bytes; at most {MOST_BYTES:,} are stored")
    if len(entry.models) > MOST_MODELS:
        raise ValueError(f"it has {len(entry.models)} models; at most {MOST_MODELS} are stored")
    longest = limits()
    version = "" if entry.benchmark.version is None else str(entry.benchmark.version)
    if version:
        check_identifier(version, "the version", longest["version"] or 0)
    models = tuple(check_identifier(model.identifier, "the model", longest["model"] or 0) for model in entry.models)
    row = StoredAssessment(
        identifier=check_receipt(str(entry.id)),
        version=version,
        part=entry.part,
        models_key=hashlib.sha256((json.dumps(models) + entry.topic).encode()).hexdigest(),
        state=entry.state,
        outcome=entry.outcome,
        created=moment(str(entry.created)),
        document=document,
    )
    return _Checked(
        row, check_identifier(entry.benchmark.identifier, "the benchmark", longest["benchmark"] or 0), models
    )


def _write(entries: Sequence[_Checked], writer: Writer) -> None:
    if not entries:
        return
    with exclusive_write():
        identifiers = [entry.row.identifier for entry in entries]
        stored = StoredAssessment.objects.filter(identifier__in=identifiers)
        known = set(stored.values_list("identifier", flat=True))
        new = [entry for entry in entries if entry.row.identifier not in known]
        benchmarks = _benchmarks(new)
        domain_of = {name: benchmarks[entry.benchmark].domain for entry in new for name in entry.models}
        models = writer.models(dict.fromkeys(domain_of, ""), domain_of)
        for row, name, names in sorted(new, key=lambda entry: entry.row.identifier):
            row.benchmark = benchmarks[name]
            if row.benchmark.is_mean:
                writer.report.add_problem(row.identifier, f"{name!r} is a mean of the leaderboard, not a benchmark")
                continue
            try:
                with transaction.atomic():
                    _insert(row, [models[name] for name in names])
            except DatabaseError as error:
                writer.report.add_problem(row.identifier, f"the database refused it: {error}")
                continue
            writer.report.assessments += 1
        if new:
            revision.bump()


def _benchmarks(entries: Iterable[_Checked]) -> dict[str, Benchmark]:
    """Return the benchmarks by identifier; new ones are created as for receipts."""
    rows = [
        Row(
            receipt=entry.row.identifier,
            created=entry.row.created,
            model="",
            benchmark=entry.benchmark,
            version=entry.row.version,
            parent=None,
            control=False,
            state=entry.row.state,
            domain=next((each.name for each in domains() if each.knows("benchmark", entry.benchmark)), FIRST),
        )
        for entry in entries
    ]
    return benchmarks_of(rows)


def _insert(row: StoredAssessment, models: Sequence[int]) -> None:
    """Insert an assessment; of several with the same models, only the newest keeps its document."""
    same = StoredAssessment.objects.newest()
    same = same.filter(benchmark=row.benchmark, part=row.part, models_key=row.models_key)
    if same.filter(identifier__gt=row.identifier).exists():
        row.document = None
    else:
        same.update(document=None)
    row.save(force_insert=True)
    row.vision_models.set(models)
