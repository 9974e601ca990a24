"""Scores in the API: as objects and as tables."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from django.conf import settings
from django.db.models import BooleanField, Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import BeforeValidator, Field

from brainscore_core.formatting import size_text
from brainscore_web.api.authentication import Access, caller_of
from brainscore_web.api.problems import Problem, problem_responses
from brainscore_web.api.responses import refuse_unknown_parameters, url_with
from brainscore_web.api.schemas import Me, Posted, ScorePage
from brainscore_web.leaderboard.cards.receipts import public_document
from brainscore_web.leaderboard.clean import harmless
from brainscore_web.leaderboard.models import Benchmark, Score, ScoreQuerySet, VisionModel, Visitor
from brainscore_web.leaderboard.withheld import withheld_reason

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "COLUMNS",
    "MOST_RECEIPTS",
    "ScoresAsked",
    "benchmark_keys",
    "model_keys",
    "router",
    "scores",
    "write_scores",
]

COLUMNS = (
    "receipt", "version", "state", "reason", "value", "error", "low", "high", "level", "estimates", "error_reason",
    "undetermined", "scale", "unclamped", "raw", "raw_error", "raw_low", "raw_high", "ceiling", "seconds", "created",
)  # fmt: skip
"""Fields of a score that responses contain unchanged."""


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


class ScoresAsked(Schema):
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
    since: Moment = Field(
        None,
        description="Only receipts made since this date or time (ISO 8601; UTC without a time zone).",
        examples=["2026-01-31"],
    )


def scores(visitor: Visitor, query: ScoresAsked) -> ScoreQuerySet:
    """Return the requested scores that the visitor may see, annotated with `counts`, oldest receipt first.

    As on the leaderboard, the newest score of a model on the current version of a benchmark counts; of several with the
    same time, the one with the last id.

    Raises
    ------
    Problem
        404, if a model or benchmark does not exist or the visitor may not see it.
    """
    rows = Score.objects.visible_to(visitor)
    if query.model:
        rows = rows.filter(model__in=model_keys(visitor, query.model))
    if query.benchmark:
        rows = rows.filter(benchmark__in=benchmark_keys(query.benchmark))
    if query.state:
        rows = rows.filter(state__in=query.state)
    if query.version is not None:
        rows = rows.filter(version=query.version)
    if query.since is not None:
        rows = rows.filter(created__gte=query.since)
    # pairs that failed before the benchmark was loaded have no version, and count for all versions
    of_any_version = Q(version="", state__in=[Score.State.FAILED, Score.State.NOT_APPLICABLE, Score.State.NOT_RUN])
    of_version = Q(benchmark__version="") | Q(version=F("benchmark__version")) | of_any_version
    same = Score.objects.filter(model=OuterRef("model"), benchmark=OuterRef("benchmark"))
    same = same.alias(any_version=Value("", output_field=CharField())).filter(
        Q(version=OuterRef("benchmark__version")) | Q(any_version=OuterRef("benchmark__version")) | of_any_version
    )
    newer = same.filter(created__gte=OuterRef("created")).filter(
        Q(created__gt=OuterRef("created")) | Q(receipt__gt=OuterRef("receipt"))
    )
    not_run = Q(state=Score.State.NOT_RUN)  # counts only if the pair has no other result
    replaced_run = Exists(newer.exclude(not_run).order_by())
    replaced = Exists(same.exclude(not_run).order_by()) | Exists(newer.order_by())
    counts = of_version & ((~not_run & ~replaced_run) | (not_run & ~replaced))
    if query.history:
        rows = rows.annotate(counts=Case(When(counts, then=Value(True)), default=False, output_field=BooleanField()))
    else:
        rows = rows.filter(counts).annotate(counts=Value(True, output_field=BooleanField()))
    return rows.order_by("receipt")


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
    children: defaultdict[int | None, list[int]] = defaultdict(list)
    keys: dict[str, int] = {}
    for identifier, pk, parent in Benchmark.objects.order_by().values_list("identifier", "pk", "parent_id"):
        keys[identifier] = pk
        children[parent].append(pk)
    below: set[int] = set()
    for identifier in wanted:
        if identifier not in keys:
            raise Problem(404, f"there is no benchmark {identifier!r}", "see /api/v1/benchmarks")
        waiting = [keys[identifier]]
        while waiting:
            pk = waiting.pop()
            if pk not in below:
                below.add(pk)
                waiting += children[pk]
    return sorted(below)


_ROWS = 5000
_FIRST = ("model", "benchmark")
_TEXTS = frozenset({"receipt", "version", "state", "reason", "estimates", "error_reason", "undetermined", "scale"})


def write_scores(scores: QuerySet[Score], form: Literal["csv", "parquet"]) -> tuple[IO[bytes], str]:
    """Write scores with `counts` and `shows_data` to a temporary file, which is deleted when it is closed.

    In CSV, text that a spreadsheet would read as a formula gets an apostrophe in front.

    Returns
    -------
    file, digest
        The file, at its start, and the SHA-256 of its content.
    """
    from pyarrow import csv, parquet

    file = tempfile.TemporaryFile()  # noqa: SIM115 (the response closes it)
    schema = _schema()
    writer = csv.CSVWriter(file, schema) if form == "csv" else parquet.ParquetWriter(file, schema, compression="zstd")
    with writer:
        for batch in _batches(scores, schema, guarded=form == "csv"):
            writer.write_batch(batch)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return file, digest


def _schema() -> pyarrow.Schema:
    import pyarrow

    kinds = {"created": pyarrow.timestamp("us", tz="UTC"), "counts": pyarrow.bool_()}
    kinds |= dict.fromkeys((*_TEXTS, *_FIRST), pyarrow.string())
    return pyarrow.schema([(name, kinds.get(name, pyarrow.float64())) for name in (*_FIRST, *COLUMNS, "counts")])


def _batches(scores: QuerySet[Score], schema: pyarrow.Schema, *, guarded: bool) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    names = ("model__identifier", "benchmark__identifier", *COLUMNS, "counts", "shows_data")
    state, reason = names.index("state"), names.index("reason")
    rows: list[tuple[Any, ...]] = []

    def batch() -> pyarrow.RecordBatch:
        columns = []
        for field, column in zip(schema, zip(*rows, strict=True), strict=True):
            texts = guarded and field.type == pyarrow.string()
            columns.append(pyarrow.array(map(harmless, column) if texts else column, field.type, from_pandas=True))
        rows.clear()
        return pyarrow.record_batch(columns, schema=schema)

    for row in scores.values_list(*names).iterator(chunk_size=_ROWS):
        *values, shown = row
        if not shown:
            values[reason] = withheld_reason(values[state], values[reason])
        rows.append(tuple(values))
        if len(rows) == _ROWS:
            yield batch()
    if rows:
        yield batch()


router = Router()

MOST_RECEIPTS = 1000
"""Maximum number of receipts in one request."""

_RECEIPT = {
    "type": "object",
    "description": (
        "A receipt: see https://www.brain-score.org/schemas/receipt-3.json. Receipts that break this schema are "
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


@router.get("scores", response={200: ScorePage, **problem_responses(404)}, tags=["scores"], summary="List scores")
def list_scores(request: HttpRequest, query: Query[ScoresPaged]) -> dict[str, Any]:
    """List the scores that count, or all with `history`, oldest receipt first.

    A page continues after the last receipt of the previous one, so none is missed or repeated if others are added.
    """
    refuse_unknown_parameters(request, ScoresPaged)
    visitor = caller_of(request).visitor
    rows = scores(visitor, query).with_shows_data(visitor)
    if query.after:
        rows = rows.filter(receipt__gt=query.after)
    columns = rows.values(*COLUMNS, "counts", "shows_data", "model__identifier", "benchmark__identifier")
    items = list(columns[: query.limit + 1])
    more, items = len(items) > query.limit, items[: query.limit]
    for item in items:
        if not item.pop("shows_data"):
            item["reason"] = withheld_reason(item["state"], item["reason"])
        item["model"], item["benchmark"] = item.pop("model__identifier"), item.pop("benchmark__identifier")
    return {
        "items": items,
        "limit": query.limit,
        "next": url_with(request, limit=query.limit, after=items[-1]["receipt"]) if more else None,
    }


@router.get(
    "receipts/{receipt}",
    response={200: dict[str, Any], **problem_responses(404)},
    tags=["scores"],
    summary="Show a receipt",
)
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
    auth=Access(scope="receipts:write"),
    response={200: Posted, **problem_responses(403, 413, 415)},
    tags=["scores"],
    summary="Post receipts",
    openapi_extra={"requestBody": _BODY, "x-token-needed": True},
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


@router.get(
    "me",
    auth=Access(required=True),
    response={200: Me, **problem_responses()},
    tags=["you"],
    summary="Show your account",
    openapi_extra={"x-token-needed": True},
)
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
