"""How much is taken, from whom."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.conf import settings

__all__ = ["Limits", "limits"]


@dataclass(frozen=True)
class Limits:
    """What is taken; sizes in bytes.

    Attributes
    ----------
    size : int
        Of one submission: the ZIP that is sent, and the one that is kept.
    person : int
        What all revisions of a person's submissions may take up together.
    open : int
        How many submissions of a person may be open at a time.
    day : int
        How many revisions a person may send in 24 hours.
    fetching : float
        How many seconds fetching from a Git repository may take while its sender waits.
    fetches : int
        How many such a process of the server does at a time.
    """

    size: int = 20_000_000
    person: int = 500_000_000
    open: int = 20
    day: int = 50
    fetching: float = 20.0
    fetches: int = 2


def limits() -> Limits:
    """What the settings say; what they leave out is as above."""
    known = {one.name for one in fields(Limits)}
    return Limits(**{name: value for name, value in settings.SUBMISSIONS.items() if name in known})
