"""Who asks about the site's state: this machine, somebody with the token, an administrator, anybody."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

__all__ = ["asks_from_here", "has_token"]

_OF_PROXIES = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def asks_from_here(request: HttpRequest) -> bool:
    """Whether a program on this machine asks, and no proxy on this machine for somebody else."""
    if any(name in request.META for name in _OF_PROXIES):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a socket of this machine, which a proxy may use as well
        return False


def has_token(request: HttpRequest) -> bool:
    """Whether the request has the token of ``BRAINSCORE_SITE_METRICS_TOKEN``."""
    known = str(settings.OPERATIONS["metrics_token"])
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    return bool(known) and kind.lower() == "bearer" and constant_time_compare(sent.strip(), known)
