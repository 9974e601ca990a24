"""Conditional and cached responses of the site's views, and error responses with their remedy."""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import brotli
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import salted_hmac

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import Snapshot

View = TypeVar("View", bound=Callable[..., HttpResponse])


def conditional(snapshot: Snapshot, *parts: object) -> str:
    """Make the ETag of a response that depends on a snapshot and further values."""
    return etag(snapshot.digest, *parts)


def etag(*parts: object) -> str:
    """Make an ETag of all that a response depends on besides the code of the site."""
    text = "\x00".join(f"{len(str(part))}:{part}" for part in (_site_version(), *parts))
    return f'W/"{salted_hmac("brainscore_web.etag", text, algorithm="sha256").hexdigest()[:32]}"'


def answer(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """Respond with status 304 if the visitor's copy has this tag, otherwise with the response that `make` returns.

    Responses are cached by their tag and shared between visitors, so the tag must include everything that the response
    depends on. Responses with a CSRF token or with messages are not cached.
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


def public_answer(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    """Respond as `answer` does with what is the same for every visitor, which caches of others may keep for minutes."""
    response = get_conditional_response(request, etag=tag) or _cached_or_made(request, tag, make)
    response["ETag"] = tag
    response["Cache-Control"] = f"public, max-age={_SHARED_SECONDS}"
    patch_vary_headers(response, ("Accept-Encoding",))
    return response


_SHARED_SECONDS = 300


def cached_for_visitors(view: View) -> View:
    """Give visitors who are not logged in the response that :func:`answer` cached, until the data change.

    For views whose tag is slow to compute. Their response to such visitors must depend only on the URL, the day and
    the revision of the leaderboard.
    """

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        encoding = _encoding(request)
        if request.user.is_authenticated or not encoding or _has_message(request):
            return view(request, *args, **kwargs)
        key = (revision.current(), datetime.now(UTC).date(), request.build_absolute_uri(), _site_version())
        tag = _tags.find(key)
        packed = None if tag is None else _packed.find((tag, encoding))
        if tag is not None and packed is not None:
            return _send(request, tag, lambda: _unpacked(packed))
        response = view(request, *args, **kwargs)
        if "ETag" in response:
            _tags.get(key, lambda: response["ETag"])
        return response

    return wrapped  # type: ignore[return-value] # of the same signature


def _visitor_tag(request: HttpRequest, tag: str) -> str:
    """Make a tag for this visitor: pages show who is logged in, and the login link contains the address of the page."""
    user = request.user
    if user.is_authenticated:
        menu = str(getattr(request, "role_links", ""))  # such as the number of submissions that wait for review
        text = f"{user.pk}:{user.is_staff}:{request.META.get('CSRF_COOKIE')}:{tag}:{user.public_name}:{menu}"
    else:
        text = f"{tag}:{request.get_full_path()}"
    return f'W/"{salted_hmac("brainscore_web.etag.visitor", text, algorithm="sha256").hexdigest()[:32]}"'


def _has_message(request: HttpRequest) -> bool:
    """Whether a message is waiting to be shown on the next page."""
    messages = getattr(request, "_messages", None)
    return bool(request.COOKIES) and messages is not None and len(messages) > 0


class _Packed(NamedTuple):
    """A compressed response."""

    body: bytes
    headers: dict[str, str]


class _NotCacheable(Exception):
    """Carries a response that is for one visitor only."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__()
        self.response = response


_tags: Cache[tuple[Any, ...], str] = Cache(most=5_000)  # by revision, day and URL
_packed: Cache[tuple[str, str], _Packed] = Cache(most=64_000_000, weigh=lambda packed: len(packed.body) + _OVERHEAD)
_LARGE = 1_000_000  # bytes of a response, such as an export
_OVERHEAD = 3_000  # bytes of a cached response besides its body


def _cached_or_made(request: HttpRequest, tag: str, make: Callable[[], HttpResponse]) -> HttpResponse:
    encoding = _encoding(request)
    if not encoding:
        return make()

    def made() -> _Packed:
        response = make()
        messages = getattr(request, "_messages", None)
        personal = request.META.get("CSRF_COOKIE_NEEDS_UPDATE") or (messages is not None and messages.used)
        if response.status_code != 200 or response.streaming or response.cookies or personal:
            raise _NotCacheable(response)
        is_large = len(response.content) >= _LARGE  # a fifth of the time for a tenth more bytes
        if encoding == "br":
            body = brotli.compress(response.content, quality=1 if is_large else 5)
        else:
            body = gzip.compress(response.content, 1 if is_large else 6, mtime=0)
        return _Packed(body, {**dict(response.items()), "Content-Encoding": encoding})

    try:
        packed = _packed.get((tag, encoding), made)
    except _NotCacheable as error:
        return error.response
    return _unpacked(packed)


def _unpacked(packed: _Packed) -> HttpResponse:
    return HttpResponse(packed.body, headers=packed.headers)


def _encoding(request: HttpRequest) -> str:
    """Return the better of the encodings that the visitor accepts; empty if the response is not to be compressed."""
    accepted = {entry.partition(";")[0].strip() for entry in request.headers.get("Accept-Encoding", "").split(",")}
    return next((encoding for encoding in ("br", "gzip") if encoding in accepted), "")


def user_errors(view: View) -> View:
    """Turn a view's UserErrors into responses with status 400, or 404 for an unknown identifier."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except UserError as error:
            return error_response(request, error)

    return wrapped  # type: ignore[return-value] # of the same signature


def error_response(request: HttpRequest, error: UserError, *, status: int | None = None) -> HttpResponse:
    """Respond with the error and its remedy: as JSON in the API and to clients that prefer it, otherwise as a page."""
    status = status or (404 if isinstance(error, UnknownIdentifier) else 400)
    content = {"message": error.message, "remedy": error.remedy or ""}
    preferred = request.get_preferred_type(["text/html", "application/json"])
    if preferred == "application/json" or request.path.startswith("/api/"):
        response: HttpResponse = JsonResponse(content, status=status)
    else:
        response = render(request, "leaderboard/error.html", content, status=status)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("Accept", "Cookie", "Accept-Encoding"))
    return response


def _site_version() -> str:
    """Identify the code of the site, equally in all processes; with DEBUG, changed files are noticed."""
    return _code_version() if settings.DEBUG else _code_version_at_start()


def _code_version() -> str:
    root = Path(__file__).resolve().parents[2]
    folders = (root / "brainscore_web", root / "brainscore_core" / "figures")
    files = sorted(
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in {".py", ".html", ".css", ".js", ".json"}
    )
    stats = ((path.relative_to(root).as_posix(), path.stat()) for path in files)
    text = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{metadata.version('brainscore')} {hashlib.sha256(text.encode()).hexdigest()} {settings.DEBUG}"


_code_version_at_start = functools.lru_cache(maxsize=1)(_code_version)
