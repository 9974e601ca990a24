"""Who makes a request: an anonymous visitor, a user who is logged in, or the owner of an API token."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.accounts.rates import client_of

_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True)
class Caller:
    """The caller of a request."""

    kind: Literal["anonymous", "session", "token"]  # ``'anonymous'``, ``'session'`` or ``'token'``
    visitor: User | AnonymousUser  # the user whose visibility applies: anonymous if a token lacks the scope ``read``
    user: User | None  # the user who is logged in, or owns the token
    token: ApiToken | None
    key: str  # key by which requests are counted

    def may(self, scope: str) -> bool:
        """Whether the request has a token with this scope."""
        return self.token is not None and scope in self.token.scopes


def find_caller(request: HttpRequest) -> Caller | None:
    """Return the caller of a request; None if it has a token that is not valid."""
    header = request.headers.get("Authorization")
    return _without_token(request) if header is None else _by_token(header)


def _by_token(header: str) -> Caller | None:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = ApiToken.find(text.strip())
    if token is None:
        return None
    _record_use(token)
    visitor: User | AnonymousUser = token.user if "read" in token.scopes else AnonymousUser()
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
