"""When a competition is what."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

__all__ = ["Phase", "deadline_end", "phase_of"]


class Phase(StrEnum):
    """How far a competition is."""

    DRAFT = "draft"
    ANNOUNCED = "announced"
    OPEN = "open"
    CLOSED = "closed"
    FROZEN = "frozen"
    AWARDED = "awarded"


def deadline_end(day: date | None) -> datetime | None:
    """The moment at which a day is over everywhere on Earth (12:00 UTC of the next one)."""
    return None if day is None else datetime.combine(day + timedelta(days=1), time(12), UTC)


def phase_of(
    now: datetime, *, published: bool, opens: date | None, deadline: date | None, frozen: bool, awarded: bool
) -> Phase:
    """How far a competition is at a moment.

    Parameters
    ----------
    now : datetime
        With a time zone.
    published : bool
        Whether others see it.
    opens, deadline : date or None
        First and last day of entries, as announced last. It opens at the start of that day (UTC); without a first day
        at once, without a last day it does not close by itself.
    frozen, awarded : bool
        Whether its standings are frozen; whether the winners are announced.
    """
    if not published:
        return Phase.DRAFT
    if awarded:
        return Phase.AWARDED
    if frozen:
        return Phase.FROZEN
    end = deadline_end(deadline)
    if end is not None and now >= end:
        return Phase.CLOSED
    if opens is not None and now < datetime.combine(opens, time(), UTC):
        return Phase.ANNOUNCED
    return Phase.OPEN
