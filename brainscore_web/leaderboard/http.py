"""What views answer with: whether the visitor has it already, and errors that say how to mend them."""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import salted_hmac

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cache import Cache
from brainscore_web.leaderboard.snapshot import Snapshot

__all__ = ["answer", "cached_for_visitors", "conditional", "error_response", "user_errors"]

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
    """Answer 304 if the visitor has what `tag` stands for, else with what `make` makes.

    What was made for one visitor goes to all who ask for the same `tag`, so that it must name everything that the
    answer depends on; answers with a token against forgery, or with messages, are not kept.
    """
    if _has_message(request):
        response = make()
        response["Cache-Control"] = "no-store, private"
        return response
    tag = _visitor_tag(request, tag)
    return _send(request, tag, lambda: _cached_or_made(request, tag, make))


def _send(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    response = get_conditional_response(request, etag=tag)
    if response is None:
        response = make()
    if response.status_code in (200, 304):
        response["ETag"] = tag
        response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response


def cached_for_visitors(view: View) -> View:
    """Answer who is not logged in with what :func:`answer` kept for another, until something changes.

    For views whose tag takes long to make. What they show to such visitors must follow from the address, the day, and
    what revisions count.
    """

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if (
            request.user.is_authenticated
            or "gzip" not in request.headers.get("Accept-Encoding", "")
            or _has_message(request)
        ):
            return view(request, *args, **kwargs)
        asked = (revision.current(), datetime.now(UTC).date(), request.build_absolute_uri(), _site())
        tag = _tags.find(asked)
        packed = None if tag is None else _packed.find(tag)
        if tag is not None and packed is not None:
            return _send(request, tag, lambda: _unpacked(packed))
        response = view(request, *args, **kwargs)
        if "ETag" in response:
            _tags.get(asked, lambda: response["ETag"])
        return response

    return wrapped  # type: ignore[return-value] # of the same signature


def _visitor_tag(request: HttpRequest, tag: str) -> str:
    """Make a tag that nobody else gets: pages name who is logged in; the link to log in leads back to the address."""
    user = request.user
    if user.is_authenticated:
        known = f"{user.pk}:{user.is_staff}:{request.META.get('CSRF_COOKIE')}:{tag}:{user.public_name}"
    else:
        known = f"{tag}:{request.get_full_path()}"
    return f'W/"{salted_hmac("brainscore_web.etag.asker", known, algorithm="sha256").hexdigest()[:32]}"'


def _has_message(request: HttpRequest) -> bool:
    """Whether a message waits to be shown on the next page."""
    waiting = getattr(request, "_messages", None)
    return bool(request.COOKIES) and waiting is not None and len(waiting) > 0


class _Packed(NamedTuple):
    """An answer, compressed."""

    body: bytes
    headers: dict[str, str]


class _NotCacheable(Exception):
    """Carries an answer that is for one visitor alone."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__()
        self.response = response


_tags: Cache[tuple[Any, ...], str] = Cache(most=5_000)  # of what was asked at a revision
_packed: Cache[str, _Packed] = Cache(most=64_000_000, weigh=lambda packed: len(packed.body) + _AROUND)
_AROUND = 3_000  # bytes that an answer takes besides its body


def _cached_or_made(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    if "gzip" not in request.headers.get("Accept-Encoding", ""):
        return make()

    def made() -> _Packed:
        response = make()
        messages = getattr(request, "_messages", None)
        personal = request.META.get("CSRF_COOKIE_NEEDS_UPDATE") or (messages is not None and messages.used)
        if response.status_code != 200 or response.streaming or response.cookies or personal:
            raise _NotCacheable(response)
        return _Packed(gzip.compress(response.content, 6, mtime=0), dict(response.items()))

    try:
        packed = _packed.get(tag, made)
    except _NotCacheable as error:
        return error.response
    return _unpacked(packed)


def _unpacked(packed: _Packed) -> HttpResponse:
    return HttpResponse(packed.body, headers={**packed.headers, "Content-Encoding": "gzip"})


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
    """Say what is wrong and how to mend it: as a page, or as JSON in the API and to who prefers that."""
    status = 404 if isinstance(error, UnknownIdentifier) else 400
    told = {"message": error.message, "remedy": error.remedy or ""}
    wanted = request.get_preferred_type(["text/html", "application/json"])
    if wanted == "application/json" or request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse(told, status=status)
    else:
        response = render(request, "leaderboard/error.html", told, status=status)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("Accept", "Cookie", "Accept-Encoding"))
    return response


def _site() -> str:
    """Which site this is: alike in all processes; while it is worked on, its files are looked at each time."""
    return _files() if settings.DEBUG else _files_at_first()


def _files() -> str:
    root = Path(__file__).resolve().parents[2]
    folders = (root / "brainscore_web", root / "brainscore_core" / "figures")
    found = (path for folder in folders for path in folder.rglob("*"))
    files = sorted(path for path in found if path.suffix in {".py", ".html", ".css", ".js", ".json"})
    stats = ((path.relative_to(root).as_posix(), path.stat()) for path in files)
    text = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{metadata.version('brainscore')} {hashlib.sha256(text.encode()).hexdigest()} {settings.DEBUG}"


_files_at_first = functools.lru_cache(maxsize=1)(_files)
