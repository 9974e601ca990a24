"""Who calls the API, what they may do, and how often."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security.base import AuthBase
from ninja.throttling import BaseThrottle

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.accounts.rates import Usage, client_of, computing_exceeded
from brainscore_web.api.problems import Problem
from brainscore_web.leaderboard.models import Visitor


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


_INTERVAL = timedelta(minutes=1)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="Brain-Score"'}


@dataclass(frozen=True)
class Caller:
    """The caller of a request.

    Attributes
    ----------
    kind : str
        ``'anonymous'``, ``'session'`` or ``'token'``.
    visitor : User or AnonymousUser
        The user whose visibility applies: anonymous if a token lacks the scope ``read``.
    user : User or None
        The user who is logged in, or owns the token.
    token : ApiToken or None
        The token.
    key : str
        Key by which requests are counted.
    """

    kind: Literal["anonymous", "session", "token"]
    visitor: Visitor
    user: User | None
    token: ApiToken | None
    key: str

    def may(self, scope: str) -> bool:
        """Whether the request has a token with this scope."""
        return self.token is not None and scope in self.token.scopes


class Access(AuthBase):
    """Identifies the caller; an invalid token is always refused.

    Parameters
    ----------
    required : bool
        Whether anonymous callers are refused.
    scope : str, optional
        The scope that a token must have; sessions are then refused.
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
        header = request.headers.get("Authorization")
        if header is not None:
            caller = _by_token(header)
            if caller is None:
                if not RATE.allow(client_of(None, request.META), "anonymous"):
                    raise RATE.problem()
                raise Problem(
                    401,
                    "the token is not valid: it does not exist, has expired or was revoked",
                    "send Authorization: Bearer TOKEN with a valid token, or no such header",
                    headers=_CHALLENGE,
                )
        else:
            caller = _without_token(request)
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


def _by_token(header: str) -> Caller | None:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = ApiToken.find(text.strip())
    if token is None:
        return None
    _record_use(token)
    visitor: Visitor = token.user if "read" in token.scopes else AnonymousUser()
    return Caller("token", visitor, token.user, token, f"token:{token.pk}")


def _without_token(request: HttpRequest) -> Caller:
    if request.user.is_authenticated:
        return Caller("session", request.user, request.user, None, client_of(request.user, request.META))
    return Caller("anonymous", AnonymousUser(), None, None, client_of(None, request.META))


def _record_use(token: ApiToken) -> None:
    """Store when a token was last used, at most once per minute to avoid writes."""
    now = timezone.now()
    if token.last_used is not None and now - token.last_used < _INTERVAL:
        return
    stale = Q(last_used=None) | Q(last_used__lt=now - _INTERVAL)
    with suppress(OperationalError):  # if the database is busy, the next request stores it
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used=now)
