"""How many requests one caller may make: counted in windows of a minute, by token, person or address.

Each process of the server counts for itself, in the cache ``rates``.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest
from ninja.throttling import BaseThrottle

from brainscore_web.api._problems import Problem

__all__ = ["RATE", "Rate", "address_of"]

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
