"""Keys of the cache that processes share."""

from __future__ import annotations

from django.utils.crypto import salted_hmac


def hashed_key(key: str, prefix: str, version: int) -> str:
    """Make a cache key that does not reveal the address or code that is counted."""
    return salted_hmac("brainscore_web.cache", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()
