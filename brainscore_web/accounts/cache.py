"""Keys of what processes count together."""

from __future__ import annotations

from django.utils.crypto import salted_hmac

__all__ = ["hashed_key"]


def hashed_key(key: str, prefix: str, version: int) -> str:
    """Make the key under which a cache keeps something: from it nobody learns the address or code that was counted."""
    return salted_hmac("brainscore_web.cache", f"{prefix}:{version}:{key}", algorithm="sha256").hexdigest()
