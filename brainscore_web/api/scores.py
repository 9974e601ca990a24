"""Scores and assessments in the API: as objects and as tables."""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from io import BytesIO
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import numpy as np
from django.conf import settings
from django.http import HttpRequest
from ninja import Query, Router, Schema
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from brainscore_core.formatting import harmless, size_text
from brainscore_core.receipts.assessment import Part
from brainscore_core.results.assessments import ASSESSMENT_COLUMNS, assessment_rows
from brainscore_core.results.export import write_rows
from brainscore_web.api.authentication import Access, caller_of
from brainscore_web.api.responses import Problem, operation, refuse_unknown_parameters, url_with
from brainscore_web.api.schemas import AssessmentPage, Me, OfDomain, Posted, ScoreEntry, ScorePage
from brainscore_web.leaderboard.cards.receipts import public_document
from brainscore_web.leaderboard.clean import objects_in
from brainscore_web.leaderboard.models import (
    Benchmark,
    Score,
    StoredAssessment,
    StoredAssessmentQuerySet,
    VisionModel,
    Visitor,
    benchmarks_at_or_below,
)
from brainscore_web.leaderboard.reasons import withheld_assessment, withheld_reason
from brainscore_web.leaderboard.snapshot import STATES, receipts_in_order

if TYPE_CHECKING:
    import pyarrow

COLUMNS = (
    "receipt", "version", "state", "reason", "value", "error", "low", "high", "level", "estimates", "error_reason",
    "undetermined", "scale", "unclamped", "raw", "raw_error", "raw_low", "raw_high", "ceiling", "seconds", "created",
)  # fmt: skip
"""Fields of a score that responses contain unchanged."""
FIELDS = ("model", "benchmark", *COLUMNS, "domain", "counts")
"""Fields of a score in responses and files."""
_KEYS_PER_QUERY = 900
"""Scores that are read at a time: SQLite limits the parameters of a query."""


def _moment(value: object) -> datetime | None:
    """Parse a date or a time; UTC without a time zone."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        text = str(value)
        if len(text) == len("2026-01-31"):
            text = f"{date.fromisoformat(text).isoformat()}T00:00:00"
        elif "T" not in text.upper():
            raise ValueError
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("write a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z") from None


Moment = Annotated[datetime | None, BeforeValidator(_moment)]
"""A date or a time in ISO 8601."""


class ScoresAsked(OfDomain):
    """Filters of scores; a repeated filter matches any of its values."""

    model: list[str] = Field([], description="Identifiers of models. Repeat it for several values.")
    benchmark: list[str] = Field(
        [],
        description="Identifiers of benchmarks, or of means for all below them. Repeat it for several values.",
    )
    state: list[Literal["scored", "undefined", "not applicable", "failed", "not run"]] = Field(
        [], description="Repeat it for several values."
    )
    version: str | None = Field(None, max_length=50, description="Version of the benchmarks.")
    history: bool = Field(False, description="All receipts, not only those that count.")
    above_ceiling: bool = Field(
        False, description="Only scores whose interval was above the ceiling: do their models predict noise?"
    )
    since: Moment = Field(
        None,
        description="Only receipts made since this date or time (ISO 8601; UTC without a time zone).",
        examples=["2026-01-31"],
    )


def scores(visitor: Visitor, query: ScoresAsked, after: str = "") -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the primary keys of the requested scores that the visitor may see, and whether they count.

    They are sorted by receipt; with `after`, only those whose receipts come after this one.
    """
    stored = receipts_in_order()
    models = model_keys(visitor, query.model) if query.model else _visible_models(visitor)
    selected = np.isin(stored.model, models)
    if query.benchmark:
        selected &= np.isin(stored.benchmark, benchmark_keys(query.benchmark))
    if query.domain is not None:
        of_domain = Benchmark.objects.filter(domain=query.domain).order_by().values_list("pk", flat=True)
        selected &= np.isin(stored.benchmark, list(of_domain))
    if query.state:
        selected &= np.isin(stored.state, [STATES.index(state) for state in query.state])
    if query.version is not None:
        selected &= stored.version == query.version
    if query.since is not None:
        selected &= stored.created >= np.datetime64(query.since.replace(tzinfo=None), "us")
    if query.above_ceiling:
        above = Score.objects.above_ceiling().order_by().values_list("pk", flat=True)
        selected &= np.isin(stored.pk, list(above))
    if not query.history:
        selected &= stored.counts
    if after:
        selected[: _place_after(after, stored.pk)] = False
    return stored.pk[selected], stored.counts[selected]


def _visible_models(visitor: Visitor) -> list[int]:
    """Return the primary keys of all models that the visitor may see."""
    return list(VisionModel.objects.visible_to(visitor).order_by().values_list("pk", flat=True))


def _place_after(receipt: str, keys: NDArray[np.int64]) -> int:
    """Return the index of the first receipt after another one, which may not exist."""
    following = Score.objects.filter(receipt__gt=receipt).order_by("receipt").values_list("pk", flat=True)
    for key in following.iterator():  # the first one, unless it has just been stored
        if (matches := np.flatnonzero(keys == key)).size:
            return int(matches[0])
    return len(keys)


def rows_of(visitor: Visitor, keys: NDArray[np.int64], counts: NDArray[np.bool_]) -> Iterator[tuple[Any, ...]]:
    """Read the `FIELDS` of scores, which are sorted by receipt; withheld reasons are replaced."""
    names = ("pk", "shows_data", "model__identifier", "benchmark__identifier", *COLUMNS, "benchmark__domain")
    state, reason = FIELDS.index("state"), FIELDS.index("reason")
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        chunk = slice(start, start + _KEYS_PER_QUERY)
        counting = dict(zip(keys[chunk].tolist(), counts[chunk].tolist(), strict=True))
        rows = Score.objects.visible_to(visitor).with_shows_data(visitor).filter(pk__in=counting)
        for pk, shown, *values in rows.order_by("receipt").values_list(*names):
            if not shown:
                values[reason] = withheld_reason(values[state], values[reason])
            yield (*values, counting[pk])


def model_keys(visitor: Visitor, wanted: Iterable[str]) -> list[int]:
    """Return the primary keys of models; 404 for those that do not exist or that the visitor may not see."""
    rows = VisionModel.objects.visible_to(visitor).filter(identifier__in=set(wanted)).values_list("identifier", "pk")
    keys = dict(rows)
    for identifier in wanted:
        if identifier not in keys:
            raise Problem(404, f"there is no model {identifier!r}", "see /api/v1/models")
    return list(keys.values())


def benchmark_keys(wanted: Iterable[str]) -> list[int]:
    """Return the primary keys of benchmarks and of all below means; 404 for those that do not exist."""
    below = benchmarks_at_or_below(set(wanted))
    for identifier in wanted:
        if identifier not in below.values():
            raise Problem(404, f"there is no benchmark {identifier!r}", "see /api/v1/benchmarks")
    return sorted(below)


_ROWS = 5000


def write_scores(rows: Iterator[tuple[Any, ...]], form: Literal["csv", "parquet"]) -> tuple[IO[bytes], str]:
    """Write rows with the `FIELDS` of scores to a temporary file, which is deleted when it is closed.

    In CSV, text that a spreadsheet would read as a formula gets an apostrophe in front.
    """
    from pyarrow import csv, parquet

    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it)
    schema = _schema()
    writer = csv.CSVWriter(file, schema) if form == "csv" else parquet.ParquetWriter(file, schema, compression="zstd")
    with writer:
        for batch in _batches(rows, schema, guarded=form == "csv"):
            writer.write_batch(batch)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return file, digest


def _schema() -> pyarrow.Schema:
    import pyarrow

    kinds: dict[Any, Any] = {
        datetime: pyarrow.timestamp("us", tz="UTC"),
        bool: pyarrow.bool_(),
        float | None: pyarrow.float64(),
    }
    types = {name: field.annotation for name, field in ScoreEntry.model_fields.items()}
    return pyarrow.schema([(name, kinds.get(types[name], pyarrow.string())) for name in FIELDS])


def _batches(
    rows: Iterator[tuple[Any, ...]], schema: pyarrow.Schema, *, guarded: bool
) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    while batch := list(itertools.islice(rows, _ROWS)):
        columns = []
        for field, column in zip(schema, zip(*batch, strict=True), strict=True):
            texts = guarded and field.type == pyarrow.string()
            columns.append(pyarrow.array(map(harmless, column) if texts else column, field.type, from_pandas=True))
        yield pyarrow.record_batch(columns, schema=schema)


router = Router()

MOST_RECEIPTS = 1000
"""Maximum number of receipts in one request."""

_RECEIPT = {
    "type": "object",
    "description": (
        "A receipt: see https://www.brain-score.org/schemas/receipt-4.json. Receipts that break this schema are "
        "among the problems of the response; the others are stored."
    ),
}
_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"oneOf": [_RECEIPT, {"type": "array", "items": _RECEIPT, "maxItems": MOST_RECEIPTS}]}
        }
    },
}


class ScoresPaged(ScoresAsked):
    """Filters of scores, and the requested page."""

    limit: int = Field(100, ge=1, le=1000, description="Maximum number of scores.")
    after: str = Field("", max_length=100, description="The last receipt of the previous page.")


class ReceiptsPosted(Schema):
    """Options for posted receipts."""

    visibility: Literal["public", "private"] = Field(
        "private", description="Visibility of new models, which become yours."
    )


@router.get("scores", **operation("scores", "List scores", ScorePage, 404))
def list_scores(request: HttpRequest, query: Query[ScoresPaged]) -> dict[str, Any]:
    """List the scores that count, or all with `history`, oldest receipt first.

    A page continues after the last receipt of the previous one, so none is missed or repeated if others are added.
    """
    refuse_unknown_parameters(request, ScoresPaged)
    visitor = caller_of(request).visitor
    keys, counts = scores(visitor, query, query.after)
    page = slice(query.limit)
    items = [dict(zip(FIELDS, row, strict=True)) for row in rows_of(visitor, keys[page], counts[page])]
    more = len(keys) > query.limit and bool(items)
    return {
        "items": items,
        "limit": query.limit,
        "next": url_with(request, limit=query.limit, after=items[-1]["receipt"]) if more else None,
    }


@router.get("receipts/{receipt}", **operation("scores", "Show a receipt", dict[str, Any], 404))
def show_receipt(request: HttpRequest, receipt: str) -> dict[str, Any]:
    """Show a receipt: all details of one score.

    If the benchmark's data are withheld, content that may reveal them is removed: URLs of files, error messages, notes.
    """
    refuse_unknown_parameters(request)
    visitor = caller_of(request).visitor
    score = Score.objects.visible_to(visitor).select_related("benchmark").filter(receipt=receipt).first()
    if score is None:
        raise Problem(404, f"there is no receipt {receipt!r}", "see /api/v1/scores")
    if score.document is None:
        raise Problem(404, f"only the numbers of receipt {receipt!r} are available", "see /api/v1/scores")
    return public_document(score.document, shows_data=score.benchmark.shows_data_to(visitor))


@router.post(
    "receipts",
    **operation(
        "scores", "Post receipts", Posted, 403, 413, 415, auth=Access(scope="receipts:write"), requestBody=_BODY
    ),
)
def post_receipts(request: HttpRequest, query: Query[ReceiptsPosted]) -> dict[str, Any]:
    """Post one receipt, or a list of receipts; known ones are not changed.

    Requires a token with the scope `receipts:write` whose owner may add scores.
    """
    refuse_unknown_parameters(request, ReceiptsPosted)
    user = caller_of(request).user
    if user is None or not user.has_perm("leaderboard.add_score"):
        raise Problem(403, "the token's owner may not add scores", "ask the site's administrators")
    from brainscore_web.leaderboard import ingest

    documents = _documents(request)
    report = ingest.ingest_receipts(documents, by=user, default_visibility=query.visibility)
    problems = [{"receipt": item.path, "message": item.message, "remedy": item.remedy} for item in report.problems]
    return {"added": report.added, "known": report.known, "problems": problems}


def _documents(request: HttpRequest) -> list[Any]:
    """Read the body, whose size Django limits (``DATA_UPLOAD_MAX_MEMORY_SIZE``)."""
    if request.content_type != "application/json":
        raise Problem(415, f"the body is {request.content_type or 'of no type'}", "send application/json")
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise Problem(413, f"the body is bigger than {size_text(most)}", "send fewer receipts at a time")
    try:
        content = json.loads(request.body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # also if it is not UTF-8
        raise Problem(400, f"the body is not valid JSON: {str(error)[:200]}", "send one or several receipts") from error
    documents = content if isinstance(content, list) else [content]
    if len(documents) > MOST_RECEIPTS:
        raise Problem(400, f"{len(documents):,} receipts at a time", f"send at most {MOST_RECEIPTS:,}")
    if not all(isinstance(document, dict) for document in documents):
        raise Problem(400, "the body is not a receipt", "send a receipt (a JSON object), or a list of them")
    return documents


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


@router.get("me", **operation("you", "Show your account", Me, auth=Access(required=True)))
def show_me(request: HttpRequest) -> dict[str, Any]:
    """Show whose token this is, and what it may do."""
    refuse_unknown_parameters(request)
    caller = caller_of(request)
    user, token = caller.user, caller.token
    assert user is not None  # authentication is required
    columns = ("name", "prefix", "scopes", "created", "expires")
    return {
        "name": user.public_name,
        "email": user.email,
        "kind": caller.kind,
        "token": token and {name: getattr(token, name) for name in columns},
        "may_post_receipts": caller.may("receipts:write") and user.has_perm("leaderboard.add_score"),
    }


_MOST = 20_000  # assessments in a file


class AssessmentsAsked(Schema):
    """Filters of assessments; a repeated filter matches any of its values."""

    benchmark: list[str] = Field(
        [],
        description="Identifiers of benchmarks, or of means for all below them. Repeat it for several values.",
    )
    model: list[str] = Field(
        [], description="Identifiers of models, one of which takes part. Repeat it for several values."
    )
    part: list[Part] = Field([], description="Repeat it for several values.")
    state: list[Literal["assessed", "not applicable", "failed"]] = Field(
        [], description="Repeat it for several values."
    )


class AssessmentsPaged(AssessmentsAsked):
    """Filters of assessments, and the requested page."""

    limit: int = Field(20, ge=1, le=50, description="Maximum number of assessments.")
    after: str = Field("", max_length=100, description="The last assessment of the previous page.")


def assessments(visitor: Visitor, query: AssessmentsAsked) -> StoredAssessmentQuerySet:
    """Return the newest assessments that are requested and that the visitor may see, oldest first."""
    rows = StoredAssessment.objects.visible_to(visitor).newest()
    if query.benchmark:
        rows = rows.filter(benchmark__in=benchmark_keys(query.benchmark))
    if query.model:
        keys = model_keys(visitor, query.model)
        rows = rows.filter(pk__in=StoredAssessment.objects.filter(vision_models__in=keys).order_by().values("pk"))
    if query.part:
        rows = rows.filter(part__in=query.part)
    if query.state:
        rows = rows.filter(state__in=query.state)
    return rows.order_by("identifier")


@router.get("assessments", **operation("benchmarks", "List assessments", AssessmentPage, 404))
def list_assessments(request: HttpRequest, query: Query[AssessmentsPaged]) -> dict[str, Any]:
    """List assessments of benchmarks, oldest first: of each benchmark, part and choice of models the newest.

    An assessment is listed if you may see all models that take part. If the benchmark's data are withheld, texts that
    may reveal them are removed: single stimuli, reasons, notes. The parts question, explanation, atlas and design are
    answers to questions, of each question the newest; they are listed if you may see the benchmark's data.
    """
    refuse_unknown_parameters(request, AssessmentsPaged)
    visitor = caller_of(request).visitor
    rows = assessments(visitor, query).select_related("benchmark")
    if query.after:
        rows = rows.filter(identifier__gt=query.after)
    rows_and_next = list(rows[: query.limit + 1])
    more, page = len(rows_and_next) > query.limit, rows_and_next[: query.limit]
    return {
        "items": [_entry(row, shows_data=row.benchmark.shows_data_to(visitor)) for row in page],
        "limit": query.limit,
        "next": url_with(request, limit=query.limit, after=page[-1].identifier) if more else None,
    }


def write_assessments(visitor: Visitor, query: AssessmentsAsked, form: str) -> bytes:
    """Write the requested assessments that the visitor may see as CSV or Parquet."""
    stored = assessments(visitor, query).select_related("benchmark")
    if (count := stored.count()) > _MOST:
        raise Problem(400, f"{count:,} assessments are too many for one file", "filter by benchmark, model or part")
    documents = (
        _document(row, shows_data=row.benchmark.shows_data_to(visitor)) for row in stored.iterator(chunk_size=50)
    )
    rows = assessment_rows(documents)
    stream = BytesIO()
    write_rows(rows, ASSESSMENT_COLUMNS, stream, parquet=form == "parquet")
    return stream.getvalue()


def _document(row: StoredAssessment, *, shows_data: bool) -> Mapping[str, Any]:
    document: Mapping[str, Any] = row.document or {}
    return document if shows_data else withheld_assessment(document)


def _entry(row: StoredAssessment, *, shows_data: bool) -> dict[str, Any]:
    document = _document(row, shows_data=shows_data)
    return {
        "id": row.identifier,
        "created": row.created,
        "part": row.part,
        "benchmark": row.benchmark.identifier,
        "version": row.version,
        "models": [item["identifier"] for item in objects_in(document, "models")],
        "state": row.state,
        "outcome": row.outcome,
        "reason": document.get("reason") or "",
        "code": document.get("code"),
        "seconds": document.get("seconds"),
        "text": document.get("text") or "",
        "used": [dict(item) for item in _used(document)],
        "settings": document.get("settings") or {},
        "environment": document.get("environment") or {},
        "result": document.get("result"),
    }


def _used(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    benchmark = document.get("benchmark")
    first = [benchmark] if isinstance(benchmark, dict) else []
    return [*first, *objects_in(document, "models"), *objects_in(document, "data")]
