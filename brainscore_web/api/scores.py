"""Scores: reading them, and posting the receipts that say them."""

from __future__ import annotations

import json
from typing import Any, Literal, NoReturn

from django.conf import settings
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from brainscore_web.api._answers import elsewhere, refuse_others
from brainscore_web.api._callers import Access, caller_of
from brainscore_web.api._problems import Problem
from brainscore_web.api._schemas import Me, Posted, ScorePage
from brainscore_web.api._score_queries import COLUMNS, ScoresAsked, scores
from brainscore_web.api._site_api import problems
from brainscore_web.leaderboard.cards._receipt import public_document
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.withheld import withheld_reason

__all__ = ["MOST_RECEIPTS", "router"]

router = Router()

MOST_RECEIPTS = 1000
"""How many may be posted at a time."""

_RECEIPT = {
    "type": "object",
    "description": (
        "A receipt: see https://www.brain-score.org/schemas/receipt-2.json. One that breaks that schema is among the "
        "problems of the answer; the others are taken."
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
    """Which scores, and where to go on."""

    limit: int = Field(100, ge=1, le=1000, description="How many at most.")
    after: str = Field("", max_length=100, description="The last receipt of the page before.")


class ReceiptsPosted(Schema):
    """How receipts are taken."""

    visibility: Literal["public", "private"] = Field(
        "private", description="Of models that the site does not know yet; they become yours."
    )


@router.get("scores", response={200: ScorePage, **problems(404)}, tags=["scores"], summary="List scores")
def list_scores(request: HttpRequest, asked: Query[ScoresPaged]) -> dict[str, Any]:
    """List the scores that count, or with `history` all, the oldest receipt first.

    A page goes on after the last receipt of the one before, so that none is missed or repeated while others are added.
    """
    refuse_others(request, ScoresPaged)
    visitor = caller_of(request).visitor
    found = scores(visitor, asked).with_shows_data(visitor)
    if asked.after:
        found = found.filter(receipt__gt=asked.after)
    columns = found.values(*COLUMNS, "counts", "shows_data", "model__identifier", "benchmark__identifier")
    items = list(columns[: asked.limit + 1])
    more, items = len(items) > asked.limit, items[: asked.limit]
    for item in items:
        if not item.pop("shows_data"):
            item["reason"] = withheld_reason(item["state"], item["reason"])
        item["model"], item["benchmark"] = item.pop("model__identifier"), item.pop("benchmark__identifier")
    return {
        "items": items,
        "limit": asked.limit,
        "next": elsewhere(request, limit=asked.limit, after=items[-1]["receipt"]) if more else None,
    }


@router.get(
    "receipts/{receipt}", response={200: dict[str, Any], **problems(404)}, tags=["scores"], summary="Show a receipt"
)
def show_receipt(request: HttpRequest, receipt: str) -> dict[str, Any]:
    """Show a receipt: everything that is kept of one scoring, where the site has read it.

    Where the benchmark's data are withheld, all is left out that may show them: addresses of files, texts of errors,
    notes.
    """
    refuse_others(request)
    visitor = caller_of(request).visitor
    found = Score.objects.visible_to(visitor).select_related("benchmark").filter(receipt=receipt).first()
    if found is None:
        raise Problem(404, f"there is no receipt {receipt!r}", "see /api/v1/scores")
    if found.document is None:
        raise Problem(404, f"only the numbers of receipt {receipt!r} are here", "see /api/v1/scores")
    return public_document(found.document, shows_data=found.benchmark.shows_data_to(visitor))


@router.post(
    "receipts",
    auth=Access(scope="receipts:write"),
    response={200: Posted, **problems(403, 413, 415)},
    tags=["scores"],
    summary="Post receipts",
    openapi_extra={"requestBody": _BODY, "x-token-needed": True},
)
def post_receipts(request: HttpRequest, asked: Query[ReceiptsPosted]) -> dict[str, Any]:
    """Post one receipt, or a list of them; those that the site has are not changed.

    Needs a token with the scope `receipts:write` of somebody who may add scores.
    """
    refuse_others(request, ReceiptsPosted)
    user = caller_of(request).user
    if user is None or not user.has_perm("leaderboard.add_score"):
        raise Problem(403, "the token's owner may not add scores", "ask the site's administrators")
    from brainscore_web.leaderboard import ingest

    documents = _documents(request)
    report = ingest.ingest_receipts(documents, by=user, default_visibility=asked.visibility)
    problems_ = [{"receipt": one.path, "message": one.message, "remedy": one.remedy} for one in report.problems]
    return {"added": report.added, "known": report.known, "problems": problems_}


def _documents(request: HttpRequest) -> list[Any]:
    """Read the body, which Django bounds (``DATA_UPLOAD_MAX_MEMORY_SIZE``)."""
    if request.content_type != "application/json":
        raise Problem(415, f"the body is {request.content_type or 'of no type'}", "send application/json")
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise Problem(413, f"the body is bigger than {most / 1e6:.1f} MB", "send fewer receipts at a time")
    try:
        content = json.loads(request.body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # what is no UTF-8, too
        raise Problem(400, f"the body is no JSON: {str(error)[:200]}", "send a receipt, or a list of them") from error
    documents = content if isinstance(content, list) else [content]
    if len(documents) > MOST_RECEIPTS:
        raise Problem(400, f"{len(documents):,} receipts at a time", f"send at most {MOST_RECEIPTS:,}")
    if not all(isinstance(document, dict) for document in documents):
        raise Problem(400, "the body is no receipt", "send a receipt (a JSON object), or a list of them")
    return documents


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


@router.get(
    "me",
    auth=Access(required=True),
    response={200: Me, **problems()},
    tags=["you"],
    summary="Show who asks",
    openapi_extra={"x-token-needed": True},
)
def show_me(request: HttpRequest) -> dict[str, Any]:
    """Show whose token this is, and what it may do."""
    refuse_others(request)
    caller = caller_of(request)
    user, token = caller.user, caller.token
    assert user is not None  # it is required
    columns = ("name", "prefix", "scopes", "created", "expires")
    return {
        "name": user.public_name,
        "email": user.email,
        "kind": caller.kind,
        "token": token and {name: getattr(token, name) for name in columns},
        "may_post_receipts": caller.may("receipts:write") and user.has_perm("leaderboard.add_score"),
    }
