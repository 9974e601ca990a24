"""What views answer with: whether the visitor has it already, and errors that say how to mend them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import salted_hmac

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.leaderboard.snapshot import Snapshot

__all__ = ["answer", "conditional", "error_response", "user_errors"]

View = TypeVar("View", bound=Callable[..., HttpResponse])


def conditional(snapshot: Snapshot, *parts: object, only_snapshot: bool = False) -> str:
    """Make the ETag of an answer.

    Parameters
    ----------
    snapshot : Snapshot
        What the answer shows.
    *parts : object
        What it depends on besides, each with a `str` of its own: which page, the query, the visitor's name if it is
        shown.
    only_snapshot : bool
        Whether it shows nothing from the database but the snapshot. Then it stays the same when something changes
        that this visitor does not see. Otherwise every change of anything makes a new one.

    Returns
    -------
    str
        Weak, as answers are compressed on the way. Differs between audiences, queries and versions of the site.
    """
    of = snapshot.digest if only_snapshot else f"{snapshot.revision}"
    known = (of, snapshot.audience, snapshot.at, _site(), *parts)
    text = "\x00".join(f"{len(str(part))}:{part}" for part in known)
    return f'W/"{salted_hmac("brainscore_web.etag", text, algorithm="sha256").hexdigest()[:32]}"'


def answer(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """Answer 304 if the visitor has what `tag` stands for, else with what `make` makes."""
    response = get_conditional_response(request, etag=tag)
    if response is None:
        response = make()
    if response.status_code in (200, 304):
        response["ETag"] = tag
        response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response


def user_errors(view: View) -> View:
    """Let a view's UserErrors be answers: 400, or 404 where something does not exist."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except UserError as error:
            return error_response(request, error)

    return wrapped  # type: ignore[return-value] # of the same signature


def error_response(request: HttpRequest, error: UserError) -> HttpResponse:
    """Say what is wrong and how to mend it, as a page, or as JSON to who prefers that."""
    status = 404 if isinstance(error, UnknownIdentifier) else 400
    told = {"message": error.message, "remedy": error.remedy or ""}
    if request.get_preferred_type(["text/html", "application/json"]) == "application/json":
        response: HttpResponse = JsonResponse(told, status=status)
    else:
        response = render(request, "leaderboard/error.html", told, status=status)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("Accept", "Cookie", "Accept-Encoding"))
    return response


@functools.lru_cache(maxsize=1)
def _site() -> str:
    """Which site this is: its version, and the state of its files, alike in all processes."""
    folder = Path(__file__).resolve().parents[1]
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".html", ".css", ".js", ".json"})
    stats = ((path.relative_to(folder).as_posix(), path.stat()) for path in files)
    text = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{metadata.version('brainscore')} {hashlib.sha256(text.encode()).hexdigest()} {settings.DEBUG}"
