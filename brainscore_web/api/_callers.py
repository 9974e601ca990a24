"""Who asks: nobody in particular, a person logged in on the site, or a program with a token."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security.base import AuthBase

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.api._problems import Problem
from brainscore_web.api._rates import RATE, address_of
from brainscore_web.leaderboard.models import Visitor

__all__ = ["Access", "Caller", "caller_of"]

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
