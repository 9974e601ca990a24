"""How much each client uses in the present minute: requests to the API, and time of the server's processors."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from django.conf import settings
from django.core.cache import BaseCache, caches
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

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
