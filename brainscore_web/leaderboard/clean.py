"""Brings what others wrote to what every database takes: no NUL, no half characters, no infinities, no long texts."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

__all__ = [
    "FUTURE",
    "LARGEST",
    "LONGEST_TEXT",
    "REPLACEMENT",
    "check_identifier",
    "check_receipt",
    "finite",
    "harmless",
    "json_value",
    "moment",
    "number",
    "or_nan",
    "text",
]

LONGEST_TEXT = 20_000
"""Characters of texts that have no limit of their own."""

LARGEST = 1e6
"""Scores, errors and ceilings are no further from zero."""

REPLACEMENT = "\ufffd"
"""Stands for what no database takes; no name has it."""

_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_RECEIPT = re.compile(r"[0-9]{8}T[0-9]{12}Z-[0-9a-f]{12}")
FUTURE = timedelta(days=1)
"""How far clocks may differ."""


def text(value: object, limit: int | None = None) -> str:
    r"""Text that fits: NUL and half characters replaced, cut to `limit` characters; empty for None.

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


def harmless(cell: str) -> str:
    """The text of a cell in CSV: with an apostrophe before what a spreadsheet would take for a formula.

    Examples
    --------
    >>> harmless("=1+1"), harmless("resnet-50")
    ("'=1+1", 'resnet-50')
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def number(value: object) -> float | None:
    """A finite number; None for anything else.

    Examples
    --------
    >>> number(1), number(float("nan")), number(float("inf")), number(10**400), number(True), number("1")
    (1.0, None, None, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


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
    r"""Plain JSON in which NUL and half characters are replaced, and numbers that are not finite are null.

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
        return {json_value(str(name)): json_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    raise ValueError(f"a {type(value).__name__} is no JSON")


def moment(value: str) -> datetime:
    """Read a time; without a zone it is UTC.

    Raises
    ------
    ValueError
        If there is no such time, or it has not come yet.
    """
    found = datetime.fromisoformat(value)
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    if found > timezone.now() + FUTURE:
        raise ValueError(f"it was made at {value}, which has not come yet")
    return found


def check_identifier(value: str, what: str, limit: int) -> str:
    """Refuse names that cannot be kept as they are: to cut one would make it another's.

    Raises
    ------
    ValueError
        Saying what is wrong.
    """
    if not value or value != value.strip():
        raise ValueError(f"{what} {value[:60]!r} is empty, or has blanks at its ends")
    if not value.isprintable() or REPLACEMENT in value:
        raise ValueError(f"{what} {value[:60]!r} has characters that cannot be shown")
    if not {".", ".."}.isdisjoint(value.split("/")):
        raise ValueError(f"{what} {value[:60]!r} has '.' or '..' between slashes: no address could name it")
    if len(value) > limit:
        raise ValueError(f"{what} {value[:60]!r}… has {len(value)} characters; at most {limit} are possible")
    return value


def check_receipt(value: str) -> str:
    """Refuse what is no receipt's id.

    Raises
    ------
    ValueError
        Saying so.
    """
    if _RECEIPT.fullmatch(value) is None:
        raise ValueError(f"{value[:60]!r} is no id of a receipt")
    return value
