"""Error responses of the API, with a message and a remedy."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, Throttled, ValidationError

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


def answer_problems(api: NinjaAPI) -> None:
    """Turn errors of users in operations into problems; internal errors stay errors."""
    handlers: dict[type[Exception], Any] = {
        Problem: _raised,
        UserError: _user_error,
        Http404: _not_found,
        Throttled: _throttled,
        HttpError: _http_error,
        ValidationError: _invalid,
        RequestDataTooBig: _too_big,
    }
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def _raised(request: HttpRequest, error: Problem) -> HttpResponse:
    return problem(error.status, error.message, error.remedy, headers=error.headers)


def _user_error(request: HttpRequest, error: UserError) -> HttpResponse:
    return problem(404 if isinstance(error, UnknownIdentifier) else 400, error.message, error.remedy)


def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, "there is nothing at this address", "see /api/v1/docs")


def _throttled(request: HttpRequest, error: Throttled) -> HttpResponse:
    return problem(429, "too many requests", f"try again in {error.wait} s")


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, str(error))


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [
        {"where": _where(item["loc"]), "message": item["msg"].removeprefix("Value error, ")} for item in error.errors
    ]
    named = ", ".join(dict.fromkeys(item["where"] for item in errors))
    return problem(400, f"invalid: {named}", "see /api/v1/docs", errors=errors)


def _where(location: tuple[Any, ...]) -> str:
    """Return the name of a parameter, without its location in the query or path."""
    names = [str(step) for step in location[1:]]
    return ".".join(names) or str(location[0])


def _too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem(413, "the body is too big", "send fewer receipts at a time")
