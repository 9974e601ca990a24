"""Clean input for all databases: NUL characters, lone surrogates, infinities and overlong texts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

LONGEST_TEXT = 20_000
"""Maximum number of characters of texts without a limit of their own."""

LARGEST = 1e6
"""Maximum absolute value of scores, errors and ceilings."""

REPLACEMENT = "\ufffd"
"""Replaces characters that a database cannot store; never part of a name."""

_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")
_RECEIPT = re.compile(r"[0-9]{8}T[0-9]{12}Z-[0-9a-f]{12}")
FUTURE = timedelta(days=1)
"""Maximum difference between clocks."""


def text(value: object, limit: int | None = None) -> str:
    r"""Return text with NUL and lone surrogates replaced, cut to `limit` characters; empty for None.

    Examples
    --------
    >>> text("a\x00b"), text("abcdef", 4), text(None)
    ('a\ufffdb', 'abc…', '')
    """
    if value is None:
        return ""
    clean = _IMPOSSIBLE.sub(REPLACEMENT, str(value))
    limit = limit or LONGEST_TEXT
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def number(value: object) -> float | None:
    """Return a finite number as a float; None for anything else.

    Examples
    --------
    >>> number(1), number(float("nan")), number(float("inf")), number(10**400), number(True), number("1")
    (1.0, None, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return finite(float(value))
    except OverflowError:
        return None


def finite(value: float | None) -> float | None:
    """Return the number as a float; None for NaN, infinities and None.

    Examples
    --------
    >>> finite(0.5), finite(float("nan")), finite(None)
    (0.5, None, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def or_nan(value: float | None) -> float:
    """Return the number as a float; NaN for infinities and None.

    Examples
    --------
    >>> or_nan(0.5), or_nan(None)
    (0.5, nan)
    """
    return math.nan if value is None or not math.isfinite(value) else float(value)


def json_value(value: Any) -> Any:
    r"""Return plain JSON with NUL and lone surrogates replaced, and null for numbers that are not finite.

    Examples
    --------
    >>> json_value({"a": [float("nan"), "b\x00", 1]})
    {'a': [None, 'b\ufffd', 1]}
    """
    if isinstance(value, str):
        return _IMPOSSIBLE.sub(REPLACEMENT, value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return None if number(value) is None else value
    if isinstance(value, dict):
        return {json_value(str(name)): json_value(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    raise ValueError(f"a {type(value).__name__} is not valid JSON")


def objects_in(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list in a JSON document; other items are left out, and so is what is not a list.

    Examples
    --------
    >>> objects_in({"files": [{"sha1": "ab"}, None]}, "files"), objects_in({"files": 1}, "files")
    ([{'sha1': 'ab'}], [])
    """
    items = document.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list | tuple) else []


def moment(value: str | datetime) -> datetime:
    """Return a time, also from text, in UTC; without a time zone it is UTC."""
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    if time > timezone.now() + FUTURE:
        raise ValueError(f"its time {value} is in the future")
    return time


def check_identifier(value: str, what: str, limit: int) -> str:
    """Refuse names that cannot be stored unchanged, since a shortened name could be another's."""
    if not value or value != value.strip():
        raise ValueError(f"{what} {value[:60]!r} is empty, or has spaces at its ends")
    if not value.isprintable() or REPLACEMENT in value:
        raise ValueError(f"{what} {value[:60]!r} has characters that cannot be shown")
    if not {".", ".."}.isdisjoint(value.split("/")):
        raise ValueError(f"{what} {value[:60]!r} has '.' or '..' between slashes, so no URL could contain it")
    if len(value) > limit:
        raise ValueError(f"{what} {value[:60]!r}… has {len(value)} characters; at most {limit} are allowed")
    return value


def check_receipt(value: str) -> str:
    """Refuse text that is not a receipt id."""
    if _RECEIPT.fullmatch(value) is None:
        raise ValueError(f"{value[:60]!r} is not a receipt id")
    return value
