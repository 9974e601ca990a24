"""What all answers share: entity tags, HEAD, problems for what is not there, addresses of further pages."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from ninja.renderers import BaseRenderer
from pydantic import BaseModel

from brainscore_web.api.file_parts import answer_part
from brainscore_web.api.problems import Problem, problem

__all__ = ["Renderer", "decorated", "elsewhere", "page_of", "refuse_others"]

View = Callable[..., HttpResponseBase]


class Renderer(BaseRenderer):
    """JSON as it is written elsewhere: UTF-8, compact, no NaN."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        """Write an answer."""
        write = functools.partial(
            json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_text
        )
        try:
            text = write(data)
        except ValueError:  # documents of others may hold NaN
            text = write(_finite(data))
        return text.encode(errors="replace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _as_text(value: Any) -> str:
    """A moment, the only thing in answers that JSON has no form for."""
    return str(value.isoformat())


def decorated(patterns: Sequence[URLPattern]) -> list[URLPattern]:
    """Give each address what all answers share."""
    return [URLPattern(one.pattern, _answering(one.callback), one.default_args, one.name) for one in patterns]


def _answering(view: View) -> View:
    @csrf_exempt  # nothing is ever changed for a session: that takes a token
    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        head = request.method == "HEAD"
        if head:
            request.method = "GET"
        response = _answer(view, request, *args, **kwargs)
        if head:
            request.method = "HEAD"
        response = answer_part(request, response)
        return _without_body(response) if head else response

    return answer


def _answer(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    try:
        asked = request.GET
    except TooManyFieldsSent:
        return problem(400, "too many parameters", f"send at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}")
    if "\0" in request.path or any("\0" in part for pair in asked.lists() for part in (pair[0], *pair[1])):
        return problem(400, "the address has a NUL character", "leave it out")
    response = view(request, *args, **kwargs)
    if response.status_code == 405:
        allowed = sorted({*response["Allow"].split(", "), *(["HEAD"] if "GET" in response["Allow"] else [])})
        return problem(
            405, f"{request.method} is not possible here", "see /api/v1/docs", headers={"Allow": ", ".join(allowed)}
        )
    patch_vary_headers(response, ["Authorization", "Cookie", "Accept-Encoding"])
    if not response.has_header("Cache-Control"):
        response["Cache-Control"] = "private, no-cache" if response.status_code == 200 else "no-store"
    if request.method == "GET" and response.status_code == 200:
        return _conditional(request, response)
    return response


def _conditional(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Tag an answer by its content, which tells nothing that the content does not; 304 if it is known."""
    if isinstance(response, HttpResponse) and not response.has_header("ETag"):
        response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    etag = response.get("ETag")
    if not etag:
        return response
    return get_conditional_response(request, etag=etag, response=response) or response


def _without_body(response: HttpResponseBase) -> HttpResponseBase:
    if isinstance(response, StreamingHttpResponse):  # its file is closed with it, once the request is done
        response.streaming_content = []
        del response["Content-Length"]
        return response
    headers = {name: value for name, value in response.items() if name != "Content-Length"}
    length = len(response.content) if isinstance(response, HttpResponse) else 0
    return HttpResponse(status=response.status_code, headers={**headers, "Content-Length": str(length)})


def refuse_others(request: HttpRequest, *asked: type[BaseModel]) -> None:
    """Refuse parameters that the operation does not have: a misspelt filter must not give everything."""
    known = sorted({name for one in asked for name in one.model_fields})
    for name in request.GET:
        if name not in known:
            remedy = f"there are: {', '.join(known)}" if known else "leave it out"
            raise Problem(400, f"there is no parameter {name!r} here", remedy)


def elsewhere(request: HttpRequest, **changed: Any) -> str:
    """Give the address that was asked for, with other parameters."""
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = str(value)
    pairs = [(name, value) for name, values in query.lists() for value in values]
    return request.build_absolute_uri(f"{request.path}?{urlencode(pairs)}")


def page_of(request: HttpRequest, items: Sequence[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    """Make a page."""
    following, before = offset + limit, max(offset - limit, 0)
    return {
        "items": items,
        "total": total,
        "limit": limit,
        "offset": offset,
        "next": elsewhere(request, limit=limit, offset=following) if following < total else None,
        "previous": elsewhere(request, limit=limit, offset=before) if offset else None,
    }
