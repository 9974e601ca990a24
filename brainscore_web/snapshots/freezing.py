"""Freezing a view of the leaderboard: the document with all that it shows, and what must not be in it.

A snapshot is made by a worker, as a task of django-tasks: a large one takes seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Length
from django.http import QueryDict
from django.utils import timezone
from django_tasks import task
from numpy.typing import NDArray

from brainscore_core.domains import Domain
from brainscore_core.domains import domain as named_domain
from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import export
from brainscore_web.leaderboard.board import Board, board_for
from brainscore_web.leaderboard.cards.receipts import receipt_file
from brainscore_web.leaderboard.models import Score, Visibility, Visitor, chunks
from brainscore_web.leaderboard.page import heads_of
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.snapshots.citing import archive_of
from brainscore_web.snapshots.models import KEY_LENGTH, FrozenView

if TYPE_CHECKING:
    from django_tasks_db.models import DBTaskResult

SCHEMA = 2  # 1: without the SHA-256 of receipts
MOST_CELLS = 250_000
"""Models × columns of a snapshot."""
MOST_BYTES, MOST_A_DAY = 100_000_000, 10
"""Stored bytes of the snapshots of a member, and how many within 24 hours."""
INTERRUPTED = timedelta(minutes=10)
"""A task that takes longer has lost its worker."""

_NAMING = ("q", "models", "family", "architecture", "training")
"""Filters that may contain the name or the description of a private model."""


def public_board(domain: Domain, state: BoardState) -> Board:
    """Return the view as visitors without an account see it."""
    if state.mine:
        raise UserError("the view is limited to your models", remedy="choose them by name, and make them public")
    return board_for(snapshot_for(AnonymousUser(), domain.name, at=state.at), state)


def private_models(visitor: Visitor, domain: Domain, state: BoardState) -> tuple[str, ...]:
    """Return the models of the visitor's view that are not public, and therefore not in a snapshot of it."""
    board = board_for(snapshot_for(visitor, domain.name, at=state.at), state)
    return tuple(model.identifier for model in board.models if model.private)


def queue_snapshot(
    user: User, domain: Domain, state: BoardState, *, title: str, authors: Sequence[str]
) -> DBTaskResult:
    """Let a worker make a snapshot; return its task. What cannot be frozen is refused at once."""
    _freezable(user, domain, state)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # of several requests, each sees the tasks before it
        running = Q(status="RUNNING", started_at__gt=timezone.now() - INTERRUPTED)
        if tasks_of(user).filter(Q(status="READY") | running).exists():
            raise UserError("a snapshot of yours is being made", remedy="wait until it is ready")
        _require_allowance(user)
        result = make_snapshot.enqueue(user.pk, domain.name, state.query(), title, list(authors))
    return tasks_of(user).get(pk=result.id)


def tasks_of(user: User) -> QuerySet[DBTaskResult]:
    """Return the tasks that make snapshots for a member."""
    from django_tasks_db.models import DBTaskResult

    return DBTaskResult.objects.filter(task_path=make_snapshot.module_path, args_kwargs__args__0=user.pk)


@task()
def make_snapshot(user: int, domain: str, query: str, title: str, authors: list[str]) -> dict[str, str]:
    """Make a snapshot for a member; return its key, or why there is none."""
    state = BoardState.from_query(QueryDict(query))
    try:
        row = freeze(User.objects.get(pk=user), named_domain(domain), state, title=title, authors=authors)
    except UserError as error:
        return {"problem": f"{error.line()}."}
    return {"key": row.key}


def _freezable(user: User, domain: Domain, state: BoardState) -> Board:
    """Return the public view of a state; UserError if there is nothing in it, too much, or what may be private."""
    board = public_board(domain, state)
    named = [name for name in _NAMING if getattr(state, name)]
    if named and private_models(user, domain, state):
        raise UserError(
            f"the view has private models, which its filters ({', '.join(named)}) may name",
            remedy="remove these filters, or make the models public",
        )
    if not board.models or not board.n_benchmarks:
        raise UserError("the view has no public scores", remedy="change its filters")
    if len(board.models) * len(board.nodes) > MOST_CELLS:
        raise UserError(
            f"the view has {len(board.models)} models and {len(board.nodes)} columns",
            remedy=f"choose fewer: a snapshot may have {MOST_CELLS:,} cells",
        )
    return board


def freeze(user: User, domain: Domain, state: BoardState, *, title: str, authors: Sequence[str]) -> FrozenView:
    """Store the view of a state as it is public now."""
    state = state.changed()
    board, now = _freezable(user, domain, state), timezone.now()
    document = document_of(board, title=title, authors=authors, now=now)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    sha256 = hashlib.sha256(text).hexdigest()
    row = FrozenView(
        key=sha256[:KEY_LENGTH],
        sha256=sha256,
        domain=domain.name,
        title=title,
        n_models=len(board.models),
        n_benchmarks=board.n_benchmarks,
        created=now,
        by=user,
    )
    row.archive = archive_of(row, document, text)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # of several tasks, each counts the snapshots before it
        _require_allowance(user, len(row.archive))
        row.save()
    return row


def _require_allowance(user: User, size: int = 0) -> None:
    existing = FrozenView.objects.filter(by=user)
    if (existing.aggregate(n=Sum(Length("archive")))["n"] or 0) + size > MOST_BYTES:
        raise UserError(
            f"your snapshots would need more than {size_text(MOST_BYTES)}", remedy="choose fewer models or benchmarks"
        )
    if existing.filter(created__gt=timezone.now() - timedelta(days=1)).count() >= MOST_A_DAY:
        raise UserError(f"you have made {MOST_A_DAY} snapshots within 24 hours", remedy="try again tomorrow")


def document_of(board: Board, *, title: str, authors: Sequence[str], now: datetime) -> dict[str, Any]:
    """Return a board as a document: columns, and for each model its rank and what it has in each column."""
    places = [place for place, node in enumerate(board.nodes) if node.kind != "heading"]
    state, shown = board.state, set(heads_of(board.nodes).columns)
    receipts, hashes = _receipts(board, places)
    ranks = {"rank": board.rank, "rank_best": board.best, "rank_worst": board.worst}
    names = {"scored": "n_scored", "of": "n_all", "values": "value", "errors": "error", "low": "low", "high": "high",
             "states": "state", "exposure": "exposure", "verification": "verification"}  # fmt: skip
    cells = export.cells_of(board)
    return {
        "schema": SCHEMA,
        "site": settings.ADDRESS,
        "domain": board.snapshot.domain,
        "title": title,
        "authors": list(authors),
        "created": now.isoformat(),
        "query": state.query(),
        "as_of": None if state.at is None else f"{state.at}",
        "scores": "relative to the ceiling" if state.values == "ceiled" else "raw",
        "without_a_score": "counts as 0 in means" if state.over == "all" else "left out of means",
        "coverage": state.coverage,
        "data": board.snapshot.digest,
        "receipts": "identifiers, and SHA-256 of the file receipt.json of each on this site when the snapshot was made",
        "notes": list(board.notes),
        "columns": [_column(board, place, shown=place in shown) for place in places],
        "models": [
            {
                "identifier": model.identifier,
                "title": model.title,
                **{name: int(values[row]) or None for name, values in ranks.items()},
                "groups": board.groups[row],
                "unranked": board.unranked[row],
                **{name: _finite(cells[cell][row, places]) for name, cell in names.items()},
                "receipts": receipts[row],
                "receipts_sha256": hashes[row],
            }
            for row, model in enumerate(board.models)
        ],
        "references": export.bibtex(board),
    }


def _column(board: Board, place: int, *, shown: bool) -> dict[str, Any]:
    node = board.nodes[place]
    benchmark = board.snapshot.benchmarks[node.column] if node.column >= 0 else None
    parent = board.nodes[node.parent] if node.parent >= 0 else None
    return {
        "identifier": node.identifier,
        "title": node.title,
        "kind": node.kind,
        "parent": parent.identifier if parent is not None and parent.kind != "heading" else None,
        "version": None if benchmark is None else benchmark.version,
        "ceiling": None if benchmark is None else _finite(np.array([benchmark.ceiling]))[0],
        "condition": board.condition(place),
        "shown": shown,
    }


def _receipts(board: Board, places: Sequence[int]) -> tuple[list[list[str | None]], list[list[str | None]]]:
    """Return identifiers and SHA-256 of the receipts in each cell; None for means, and where there is none."""
    columns = np.array([board.nodes[place].column for place in places], dtype=np.intp)
    scores = np.where(columns >= 0, board.snapshot.score[np.ix_(board.rows, columns)], -1)
    names: dict[int, str] = {}
    hashes: dict[int, str] = {}
    for keys in chunks([key for key in scores.ravel().tolist() if key >= 0]):
        rows = Score.objects.filter(pk__in=keys).order_by()
        for key, name, document, access in rows.values_list("pk", "receipt", "document", "benchmark__access"):
            names[key] = name
            if isinstance(document, dict):
                content = receipt_file(document, shows_data=access == Visibility.PUBLIC)
                hashes[key] = hashlib.sha256(content).hexdigest()
    listed = scores.tolist()
    return [[names.get(key) for key in row] for row in listed], [[hashes.get(key) for key in row] for row in listed]


def _finite(values: NDArray[Any]) -> list[Any]:
    return [None if value != value else value for value in values.tolist()]  # NaN differs from itself
