"""What callers of the API may do, and how often."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.throttling import BaseThrottle

from brainscore_web.accounts.callers import Caller, Usage, client_of, computing_exceeded, find_caller
from brainscore_web.api.responses import Problem


class Rate(BaseThrottle):
    """Limits requests per minute of ``anonymous`` and ``known`` callers to ``settings.API_RATES``."""

    _requests = Usage("api", step=10)

    def allow_request(self, request: HttpRequest) -> bool:
        """Count a request; return False if it exceeds the limit."""
        caller = request.auth  # type: ignore[attr-defined] # django-ninja sets it
        return self.allow(caller.key, "anonymous" if caller.kind == "anonymous" else "known")

    def allow(self, key: str, kind: str) -> bool:
        """Count a request of a caller; return False if it exceeds the limit."""
        return self._requests.add(key) <= settings.API_RATES[kind]

    def wait(self) -> float:
        """Return the seconds until this minute ends."""
        return self._requests.seconds_left()

    def problem(self) -> Problem:
        """Return the response to a request that exceeds the limit."""
        wait = f"{self.wait():.0f}"
        return Problem(429, "too many requests", f"try again in {wait} s", headers={"Retry-After": wait})


RATE = Rate()
"""The rate limit of the API."""


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="Brain-Score"'}


class Access(AuthBase):
    """Identifies the caller; an invalid token is always refused.

    `required` refuses anonymous callers; `scope` is what a token must have, and refuses sessions.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A token: Authorization: Bearer bs_…"

    def __init__(self, *, required: bool = False, scope: str | None = None) -> None:
        super().__init__()
        self.required = required or scope is not None
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Caller:
        """Return the caller."""
        caller = find_caller(request)
        if caller is None:
            if not RATE.allow(client_of(None, request.META), "anonymous"):
                raise RATE.problem()
            raise Problem(
                401,
                "the token is not valid: it does not exist, has expired or was revoked",
                "send Authorization: Bearer TOKEN with a valid token, or no such header",
                headers=_CHALLENGE,
            )
        if self.scope and not caller.may(self.scope):
            if caller.token is None:
                raise Problem(401, "a token is needed", f"it needs the scope {self.scope}", headers=_CHALLENGE)
            raise Problem(403, f"the token lacks the scope {self.scope}", "use another token")
        if self.required and caller.user is None:
            raise Problem(401, "a token is needed", "send Authorization: Bearer TOKEN", headers=_CHALLENGE)
        if exceeded := computing_exceeded(request, caller.user):
            raise Problem(429, exceeded.message, exceeded.remedy, headers={"Retry-After": exceeded.retry_after})
        return caller


def caller_of(request: HttpRequest) -> Caller:
    """Return the caller of a running operation."""
    caller: Any = request.auth  # type: ignore[attr-defined] # django-ninja sets it
    return caller
