"""Trying again when a site says that it is busy."""

from __future__ import annotations

from typing import Any

from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

__all__ = ["Patience"]

_LONGEST = 90.0  # seconds; a site counts requests by the minute


class Patience(Retry):
    """Tries again a few times after 429 and 503, as late as the site says, but never much later than a minute.

    What is posted are receipts, of which a site keeps each once.
    """

    def __init__(self, **options: Any) -> None:
        few: dict[str, Any] = {
            "total": 4,
            "connect": 0,
            "read": 0,
            "other": 0,
            "status_forcelist": (429, 503),
            "allowed_methods": ("GET", "POST"),
            "backoff_factor": 0.5,
            "raise_on_status": False,
        }
        super().__init__(**{**few, **options})

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, _LONGEST)
