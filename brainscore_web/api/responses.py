"""What all responses of the API share: problems, entity tags, HEAD, and links to further pages."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.urls import URLPattern
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, Throttled, ValidationError
from ninja.renderers import BaseRenderer
from pydantic import BaseModel

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.api.schemas import ProblemAnswer

PROBLEM_JSON = "application/problem+json"
"""Media type of problems (RFC 9457)."""


class Problem(Exception):
    """Ends a request with an error response.

    `message` says what is wrong, and `remedy` what to do about it.
    """

    def __init__(
        self, status: int, message: str, remedy: str | None = None, *, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.remedy, self.headers = status, message, remedy, headers or {}


def problem(
    status: int,
    message: str,
    remedy: str | None = None,
    *,
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    """Make an error response; `errors` lists what is wrong (``message``) with each parameter (``where``)."""
    content: dict[str, Any] = {
        "status": status,
        "title": HTTPStatus(status).phrase,
        "message": message,
        "remedy": remedy,
        "errors": errors or [],
    }
    return HttpResponse(
        json.dumps(content, ensure_ascii=False), status=status, content_type=PROBLEM_JSON, headers=headers
    )


def problem_responses(*statuses: int) -> dict[int, type[ProblemAnswer]]:
    """Return the error responses of an operation, including those of all operations."""
    return dict.fromkeys(sorted({400, 401, 405, 429, *statuses}), ProblemAnswer)


def operation(
    tag: str,
    summary: str,
    answer: Any,
    *statuses: int,
    auth: Any = None,
    status: int = 200,
    media: Sequence[str] = (),
    **extra: Any,
) -> dict[str, Any]:
    """Return the options of an operation.

    Parameters
    ----------
    tag, summary : str
        Its group, and its title.
    answer : type
        The schema of the response.
    *statuses : int
        Statuses of error responses, besides those of all operations.
    auth : Access, optional
        What the token that it requires must have; by default none is required.
    status : int
        The status of the response.
    media : sequence of str
        Types of the files that are sent, rather than JSON.
    **extra : object
        Further fields of its description.
    """
    return {
        "response": {status: answer, **problem_responses(*statuses)},
        "tags": [tag],
        "summary": summary,
        "openapi_extra": {"x-token-needed": auth is not None, "x-media-types": media, **extra},
        **({} if auth is None else {"auth": auth}),
    }


def answer_problems(api: NinjaAPI) -> None:
    """Turn errors of users in operations into problems; internal errors stay errors."""

    def handle(kind: type[Exception], response: Callable[[Any], HttpResponse]) -> None:
        api.add_exception_handler(kind, lambda request, error: response(error))

    handle(Problem, lambda error: problem(error.status, error.message, error.remedy, headers=error.headers))
    handle(UserError, lambda error: problem(_status_of(error), error.message, error.remedy))
    handle(Http404, lambda _: problem(404, "there is nothing at this address", "see /api/v1/docs"))
    handle(Throttled, lambda error: problem(429, "too many requests", f"try again in {error.wait} s"))
    handle(HttpError, lambda error: problem(error.status_code, str(error)))
    handle(RequestDataTooBig, lambda _: problem(413, "the body is too big", "send fewer receipts at a time"))
    handle(ValidationError, _invalid)


def _status_of(error: UserError) -> int:
    return 404 if isinstance(error, UnknownIdentifier) else 400


def _invalid(error: ValidationError) -> HttpResponse:
    errors = [
        {"where": _where(item["loc"]), "message": item["msg"].removeprefix("Value error, ")} for item in error.errors
    ]
    named = ", ".join(dict.fromkeys(item["where"] for item in errors))
    return problem(400, f"invalid: {named}", "see /api/v1/docs", errors=errors)


def _where(location: tuple[Any, ...]) -> str:
    """Return the name of a parameter, without its location in the query or path."""
    names = [str(step) for step in location[1:]]
    return ".".join(names) or str(location[0])


View = Callable[..., HttpResponseBase]


class Renderer(BaseRenderer):
    """Compact JSON in UTF-8 without NaN."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        """Serialise a response."""
        write = functools.partial(
            json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_text
        )
        try:
            text = write(data)
        except ValueError:  # documents may contain NaN
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
    """Convert a time, the only type in responses that JSON does not support."""
    return str(value.isoformat())


def with_response_headers(patterns: Sequence[URLPattern]) -> list[URLPattern]:
    """Wrap each view with what all responses share."""
    return [
        URLPattern(pattern.pattern, _wrapped_view(pattern.callback), pattern.default_args, pattern.name)
        for pattern in patterns
    ]


def _wrapped_view(view: View) -> View:
    @csrf_exempt  # sessions cannot change anything, which requires a token
    @functools.wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        head = request.method == "HEAD"
        if head:
            request.method = "GET"
        response = _response_of(view, request, *args, **kwargs)
        if head:
            request.method = "HEAD"
        return _without_body(response) if head else response

    return answer


def _response_of(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
    try:
        query = request.GET
    except TooManyFieldsSent:
        return problem(400, "too many parameters", f"send at most {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}")
    if "\0" in request.path or any("\0" in text for pair in query.lists() for text in (pair[0], *pair[1])):
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
    """Tag a response with a hash of its content; return 304 if the client has it."""
    if isinstance(response, HttpResponse) and not response.has_header("ETag"):
        response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    etag = response.get("ETag")
    if not etag:
        return response
    return get_conditional_response(request, etag=etag, response=response) or response


def _without_body(response: HttpResponseBase) -> HttpResponseBase:
    if isinstance(response, StreamingHttpResponse):  # the response closes its file at the end of the request
        response.streaming_content = []
        del response["Content-Length"]
        return response
    headers = {name: value for name, value in response.items() if name != "Content-Length"}
    length = len(response.content) if isinstance(response, HttpResponse) else 0
    return HttpResponse(status=response.status_code, headers={**headers, "Content-Length": str(length)})


def refuse_unknown_parameters(request: HttpRequest, *schemas: type[BaseModel]) -> None:
    """Refuse unknown parameters, since a misspelt filter must not return everything."""
    parameters = sorted({name for schema in schemas for name in schema.model_fields})
    for name in request.GET:
        if name not in parameters:
            remedy = f"use one of: {', '.join(parameters)}" if parameters else "leave it out"
            raise Problem(400, f"there is no parameter {name!r} here", remedy)


def url_with(request: HttpRequest, **changed: Any) -> str:
    """Return the URL of the request with changed parameters."""
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = str(value)
    pairs = [(name, value) for name, values in query.lists() for value in values]
    return request.build_absolute_uri(f"{request.path}?{urlencode(pairs)}")


def page_of(request: HttpRequest, items: Sequence[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    """Return a page of a list, with links to other pages."""
    following, before = offset + limit, max(offset - limit, 0)
    return {
        "items": items,
        "total": total,
        "limit": limit,
        "offset": offset,
        "next": url_with(request, limit=limit, offset=following) if following < total else None,
        "previous": url_with(request, limit=limit, offset=before) if offset else None,
    }
