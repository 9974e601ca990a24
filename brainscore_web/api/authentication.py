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
from django.core.cache import caches
from django.db import OperationalError
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


class Rate(BaseThrottle):
    """Refuses what is beyond ``settings.API_RATES``: requests a minute of ``anonymous`` and of ``known`` callers."""

    def __init__(self) -> None:
        self._now = threading.local()

    def allow_request(self, request: HttpRequest) -> bool:
        """Count a request; False if it is one too many."""
        caller = request.auth  # type: ignore[attr-defined] # django-ninja sets it
        return self.allow(caller.key, "anonymous" if caller.kind == "anonymous" else "known")

    def allow(self, key: str, kind: str) -> bool:
        """Count a request of a caller; False if it is one too many."""
        now = self._now.time = time.time()
        cache = caches["rates"]
        name = f"{key}:{int(now // _WINDOW)}"
        if cache.add(name, 1, 2 * _WINDOW):
            count = 1
        else:
            try:
                count = cache.incr(name)
            except ValueError:  # dropped in this moment
                cache.set(name, 1, 2 * _WINDOW)
                count = 1
        return count <= settings.API_RATES[kind]

    def wait(self) -> float:
        """How long the window of this thread's last request lasts, in seconds."""
        return math.ceil(_WINDOW - self._now.time % _WINDOW)

    def problem(self) -> Problem:
        """The answer to what is one too many."""
        wait = f"{self.wait():.0f}"
        return Problem(429, "too many requests", f"try again in {wait} s", headers={"Retry-After": wait})


RATE = Rate()
"""The one that counts."""


def address_of(request: HttpRequest) -> str:
    """Where a request comes from; of IPv6 the network, as one household has more addresses than can be counted.

    What a proxy says counts only where the settings say that there is one; of several addresses the last, which it
    added itself.
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


_ONCE_IN = timedelta(minutes=1)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="Brain-Score"'}


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes
    ----------
    kind : str
        ``'anonymous'``, ``'session'`` or ``'token'``.
    visitor : User or AnonymousUser
        Whom visibility follows: nobody where a token lacks the scope ``read``.
    user : User or None
        Whoever logged in, or owns the token.
    token : ApiToken or None
        The token.
    key : str
        By which requests are counted.
    """

    kind: Literal["anonymous", "session", "token"]
    visitor: Visitor
    user: User | None
    token: ApiToken | None
    key: str

    def may(self, scope: str) -> bool:
        """Whether the token says so."""
        return self.token is not None and scope in self.token.scopes


class Access(AuthBase):
    """Find out who asks; a token that is not valid is refused, whatever is asked for.

    Parameters
    ----------
    required : bool
        Whether somebody must ask.
    scope : str, optional
        What a token must allow; sessions do not.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = "A token: Authorization: Bearer bs_…"

    def __init__(self, *, required: bool = False, scope: str | None = None) -> None:
        super().__init__()
        self.required = required or scope is not None
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Caller:
        """Say who asks."""
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
    """Who asks, once an operation runs."""
    caller: Any = request.auth  # type: ignore[attr-defined] # django-ninja sets it
    return caller


def _by_token(header: str) -> Caller | None:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = ApiToken.find(text.strip())
    if token is None:
        return None
    _note_use(token)
    visitor: Visitor = token.user if "read" in token.scopes else AnonymousUser()
    return Caller("token", visitor, token.user, token, f"token:{token.pk}")


def _without_token(request: HttpRequest) -> Caller:
    if request.user.is_authenticated:
        return Caller("session", request.user, request.user, None, f"user:{request.user.pk}")
    return Caller("anonymous", AnonymousUser(), None, None, f"address:{address_of(request)}")


def _note_use(token: ApiToken) -> None:
    """Keep when a token was last used, to the minute: reading stays reading."""
    now = timezone.now()
    if token.last_used is not None and now - token.last_used < _ONCE_IN:
        return
    stale = Q(last_used=None) | Q(last_used__lt=now - _ONCE_IN)
    with suppress(OperationalError):  # a busy database; the next request notes it
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used=now)
