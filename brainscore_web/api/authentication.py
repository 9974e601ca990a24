"""Who calls the API, what they may do, and how often."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import BaseCache, caches
from django.db import DatabaseError, OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security.base import AuthBase
from ninja.throttling import BaseThrottle

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.api.problems import Problem
from brainscore_web.leaderboard.models import Visitor

__all__ = ["RATE", "Access", "address_of", "caller_of"]

_WINDOW = 60.0
_REPORTED = 10
"""Requests after which a process adds them to the count that all processes share; it is in the database."""


class Rate(BaseThrottle):
    """Limits requests per minute of ``anonymous`` and ``known`` callers to ``settings.API_RATES``.

    The processes of the server know of each other's requests ten at a time, so that few requests write to the database.
    """

    def __init__(self) -> None:
        self._now = threading.local()

    def allow_request(self, request: HttpRequest) -> bool:
        """Count a request; return False if it exceeds the limit."""
        caller = request.auth  # type: ignore[attr-defined] # django-ninja sets it
        return self.allow(caller.key, "anonymous" if caller.kind == "anonymous" else "known")

    def allow(self, key: str, kind: str) -> bool:
        """Count a request of a caller; return False if it exceeds the limit."""
        now = self._now.time = time.time()
        name = f"{key}:{int(now // _WINDOW)}"
        here = _incremented(caches["rates"], name, 1)
        limit = settings.API_RATES[kind]
        shared = f"{name}:all"
        if here % _REPORTED == 0:
            with suppress(DatabaseError):  # if the database is busy, this process counts alone
                everywhere = _incremented(caches["default"], f"api {name}", _REPORTED)
                caches["rates"].set(shared, everywhere, 2 * _WINDOW)
        known = int(caches["rates"].get(shared, 0))
        return max(here, known + here % _REPORTED) <= limit

    def wait(self) -> float:
        """Return the seconds until the window of this thread's last request ends."""
        return math.ceil(_WINDOW - self._now.time % _WINDOW)

    def problem(self) -> Problem:
        """Return the response to a request that exceeds the limit."""
        wait = f"{self.wait():.0f}"
        return Problem(429, "too many requests", f"try again in {wait} s", headers={"Retry-After": wait})


def _incremented(cache: BaseCache, name: str, by: int) -> int:
    if cache.add(name, by, 2 * _WINDOW):
        return by
    try:
        return cache.incr(name, by)
    except ValueError:  # the cache has just dropped it
        cache.set(name, by, 2 * _WINDOW)
        return by


RATE = Rate()
"""The rate limit of the API."""


def address_of(request: HttpRequest) -> str:
    """Return the IP address of a request; for IPv6 its /64 network, since one client has many addresses.

    The header of a proxy is used only if the settings say that there is one; of several addresses, the last one counts,
    which the proxy has added.
    """
    text = request.META.get("REMOTE_ADDR") or ""
    if settings.BEHIND_PROXY:
        text = request.META.get("HTTP_X_FORWARDED_FOR", text).rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


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
                if not RATE.allow(f"address:{address_of(request)}", "anonymous"):
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
        return Caller("session", request.user, request.user, None, f"user:{request.user.pk}")
    return Caller("anonymous", AnonymousUser(), None, None, f"address:{address_of(request)}")


def _record_use(token: ApiToken) -> None:
    """Store when a token was last used, at most once per minute to avoid writes."""
    now = timezone.now()
    if token.last_used is not None and now - token.last_used < _INTERVAL:
        return
    stale = Q(last_used=None) | Q(last_used__lt=now - _INTERVAL)
    with suppress(OperationalError):  # if the database is busy, the next request stores it
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used=now)
