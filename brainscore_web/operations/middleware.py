"""Middleware that names, counts, times, logs and limits requests, and forbids to store account pages."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseBase
from django.urls import reverse

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import computing_exceeded, count_computing
from brainscore_web.leaderboard.http import error_response
from brainscore_web.operations import logs
from brainscore_web.operations.health import count_request

_log = logging.getLogger("brainscore_web.requests")
_OWN_PATHS = ("/health/", "/metrics")
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Requests:
    """Names, counts and logs each request; by the name of its view, since addresses may contain secrets."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle a request."""
        identifier = request.META.get("HTTP_X_REQUEST_ID", "")
        with logs.log_context(identifier if logs.is_valid_identifier(identifier) else "") as name:
            if request.path_info.startswith(_OWN_PATHS):
                _any_host_allowed(request)
            started = time.perf_counter()
            if "\0" in request.path_info:  # neither databases nor file systems take it
                response: HttpResponseBase = HttpResponseBadRequest("NUL in the address", content_type="text/plain")
            else:
                response = self._get_response(request)
            seconds = time.perf_counter() - started
            response["X-Request-ID"] = name
            _log_request(request, response.status_code, seconds)
            return response


class ComputingTime:
    """Counts the processor time of responses by client, and refuses requests of clients that have used too much.

    A request of the API is refused by the API, which knows the account of its token.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle a request."""
        # without a cookie, no user is logged in; reading `request.user` would make caches keep a response per visitor
        user = request.user if settings.SESSION_COOKIE_NAME in request.COOKIES else None
        if not request.path_info.startswith("/api/") and (exceeded := computing_exceeded(request, user)):
            refusal = error_response(request, UserError(exceeded.message, exceeded.remedy), status=429)
            refusal["Retry-After"] = exceeded.retry_after
            return refusal
        started = time.thread_time()
        response = self._get_response(request)
        caller = getattr(request, "auth", None)  # whom the API has identified
        count_computing(request, user if caller is None else caller.user, time.thread_time() - started)
        return response


def _any_host_allowed(request: HttpRequest) -> None:
    """Let health checks use the machine's address as host name; their responses have no links."""
    hosts = [host for host in settings.ALLOWED_HOSTS if host != "*"]
    if hosts:
        request.META["HTTP_HOST"] = hosts[0].lstrip(".")


def _log_request(request: HttpRequest, status: int, seconds: float) -> None:
    view = _view(request)
    method = request.method if request.method in _METHODS else "other"
    count_request(view, str(method), status, seconds)
    if _log.isEnabledFor(logging.INFO):
        person = getattr(request, "_cached_user", None)  # request.user might query the database
        facts = {
            "method": method,
            "view": view,
            "status": status,
            "milliseconds": round(seconds * 1000, 1),
            "user": getattr(person, "pk", None),
        }
        _log.info("%s %s %s", method, view, status, extra={"facts": facts})


def _view(request: HttpRequest) -> str:
    """Return the name of the view, of which there are few, rather than the address, of which there are many."""
    match = request.resolver_match
    if match is not None:
        return str(match.view_name or match.route or "unnamed")
    static = "/" + str(settings.STATIC_URL).strip("/") + "/"
    return "static" if request.path_info.startswith(static) else "none"


class NoStore:
    """Forbid browsers and proxies to store account pages, so that later users of the same machine cannot see them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._below = reverse("accounts:home")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the header to responses of account pages."""
        response = self._get_response(request)
        if request.path.startswith(self._below):
            response["Cache-Control"] = "no-store, private"
        return response
