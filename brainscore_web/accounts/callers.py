"""Who makes a request, what views ask of them, and how much of the server each client uses in a minute."""

from __future__ import annotations

import functools
import ipaddress
import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, NamedTuple, TypeVar, cast

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.core.cache import BaseCache, caches
from django.db import DatabaseError, OperationalError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from brainscore_web.accounts.models import ApiToken, User

_WINDOW = 60.0


def address_of(environment: Mapping[str, Any]) -> str:
    """Return the IP address of a client; for IPv6 its /64 network, since one client has many addresses.

    The header of a proxy is used only if the settings say that there is one; of several addresses, the last one counts,
    which the proxy has added.
    """
    text = environment.get("REMOTE_ADDR") or ""
    if settings.BEHIND_PROXY:
        text = environment.get("HTTP_X_FORWARDED_FOR", text).rpartition(",")[2].strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def client_of(user: Any, environment: Mapping[str, Any]) -> str:
    """Return the name under which a client is counted: its account, or its address if it has none."""
    return f"user:{user.pk}" if user is not None and user.is_authenticated else f"address:{address_of(environment)}"


class Usage:
    """Counts what each client uses in the present minute.

    The processes of the server know of each other's counts in steps, so that few requests write to the database.

    `name` says what is counted. After each `step`, a process adds its count to the one in the database, which all
    share.
    """

    def __init__(self, name: str, step: int) -> None:
        self._name = name
        self._step = step

    def add(self, client: str, amount: int = 1) -> int:
        """Count a use, and return what the client has used in this minute."""
        name = self._minute_of(client)
        here = _incremented(caches["rates"], name, amount)
        if steps := here // self._step - (here - amount) // self._step:
            with suppress(DatabaseError):  # if the database is busy, this process counts alone
                everywhere = _incremented(caches["default"], name, steps * self._step)
                caches["rates"].set(f"{name}:all", everywhere, 2 * _WINDOW)
        return self._total(name, here)

    def of(self, client: str) -> int:
        """Return what a client has used in this minute."""
        name = self._minute_of(client)
        return self._total(name, int(caches["rates"].get(name, 0)))

    def seconds_left(self) -> int:
        """Return the seconds until this minute ends."""
        return math.ceil(_WINDOW - time.time() % _WINDOW)

    def _minute_of(self, client: str) -> str:
        return f"{self._name}:{client}:{int(time.time() // _WINDOW)}"

    def _total(self, name: str, here: int) -> int:
        return max(here, int(caches["rates"].get(f"{name}:all", 0)) + here % self._step)


def _incremented(cache: BaseCache, name: str, by: int) -> int:
    if cache.add(name, by, 2 * _WINDOW):
        return by
    try:
        return cache.incr(name, by)
    except ValueError:  # the cache has just dropped it
        cache.set(name, by, 2 * _WINDOW)
        return by


COMPUTING = Usage("computing", step=1000)
"""Milliseconds of the server's processors that reading pages, exports and the API took."""


class Exceeded(NamedTuple):
    """A limit that a client has reached: what it has used, what to do, and the header ``Retry-After``."""

    message: str
    remedy: str
    retry_after: str


_READING = ("GET", "HEAD")
_NOT_LIMITED = (
    "/accounts/", "/admin/", "/health/", "/metrics", "/robots.txt", "/favicon.ico", "/sitemap", "/.well-known/",
)  # fmt: skip


def count_computing(request: HttpRequest, user: Any, seconds: float) -> None:
    """Count the processor time that the response to a request took."""
    if (milliseconds := int(1000 * seconds)) and _is_limited(request):
        COMPUTING.add(client_of(user, request.META), milliseconds)


def computing_exceeded(request: HttpRequest, user: Any) -> Exceeded | None:
    """Return the limit of `COMPUTING` if the client of a request has reached it.

    Only reading is limited, and neither accounts, nor the administration, nor what search engines ask for first.
    """
    logged_in = user is not None and user.is_authenticated
    limit = settings.COMPUTING_SECONDS["known" if logged_in else "anonymous"]
    if not _is_limited(request) or COMPUTING.of(client_of(user, request.META)) < 1000 * limit:
        return None
    seconds = COMPUTING.seconds_left()
    return Exceeded(
        f"pages and files for your {'account' if logged_in else 'address'} have taken the {limit} s of this site's "
        "processor time that they may take in a minute",
        f"try again in {seconds} s" + ("" if logged_in else ", or log in: each account has a limit of its own"),
        str(seconds),
    )


def _is_limited(request: HttpRequest) -> bool:
    return request.method in _READING and not request.path_info.startswith(_NOT_LIMITED)


def hashed_key(key: str, prefix: str, version: int) -> str:
    """Make a cache key that does not reveal the address or code that is counted."""
    return salted_hmac("brainscore_web.cache", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()


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


View = TypeVar("View", bound=Callable[..., HttpResponse])


def confirmed_email_required(template: str) -> Callable[[View], View]:
    """Require a login and a confirmed e-mail address; logged-in users without one see `template` instead."""

    def decorated(view: View) -> View:
        @functools.wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not has_confirmed_email(current_user(request)):
                return render(request, template, status=403)
            return view(request, *args, **kwargs)

        return cast(View, never_cache(login_required(wrapped)))

    return decorated


def has_confirmed_email(user: User) -> bool:
    """Whether a user has confirmed an e-mail address."""
    return EmailAddress.objects.filter(user=user, verified=True).exists()


def current_user(request: HttpRequest) -> User:
    """Return the logged-in user."""
    assert isinstance(request.user, User)  # these views require a login
    return request.user


def return_address(request: HttpRequest, otherwise: str) -> str:
    """Return the page of this site that a form was sent from."""
    address = request.POST.get("back", "")
    if address.startswith("/") and url_has_allowed_host_and_scheme(address, None):
        return address
    return otherwise
