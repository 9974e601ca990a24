"""Lists in text fields: one item per line, or short items separated by commas."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation

from django.core.exceptions import ValidationError
from django.utils import dateformat

__all__ = ["check_days", "check_prizes", "day_of", "lines_of", "parts_of", "prizes_in", "shown_day"]

_LONGEST = 200
_LIKE_A_DAY = re.compile(r"\d{2,4}[-./]\d")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines that are not empty."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def parts_of(text: str) -> tuple[str, ...]:
    """Return the items between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def day_of(line: str) -> date | None:
    """Return the date on a line; None if it is not a date."""
    try:
        return date.fromisoformat(line)
    except ValueError:
        return None


def shown_day(line: str) -> str:
    """Format a date for reading; other text is unchanged."""
    day = day_of(line)
    return line if day is None else dateformat.format(day, "F j, Y")


def check_days(text: str) -> None:
    """Refuse very long lines, and invalid dates."""
    for line in lines_of(text):
        if len(line) > _LONGEST:
            raise ValidationError(f"A line is longer than {_LONGEST} characters.")
        if _LIKE_A_DAY.match(line) and day_of(line) is None:
            raise ValidationError(f"{line!r} is not a valid date. Write a date such as 2024-06-30, or text.")


def check_prizes(text: str) -> None:
    """Refuse lines that are not amounts of money."""
    for line in lines_of(text):
        try:
            amount = Decimal(line.replace(",", ""))
        except InvalidOperation:
            raise ValidationError(f"{line!r} is not an amount. Write a number such as 3000.") from None
        if not amount.is_finite() or not 0 <= amount < 10**10:
            raise ValidationError(f"{line!r} is not an amount between 0 and 9,999,999,999.")


def prizes_in(text: str) -> tuple[Decimal, ...]:
    """Return the amounts; none if a line is not an amount."""
    try:
        return tuple(Decimal(line.replace(",", "")) for line in lines_of(text))
    except InvalidOperation:
        return ()
