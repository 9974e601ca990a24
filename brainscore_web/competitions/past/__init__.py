"""The competitions there have been, put into every new database.

They are put there once, by name: what organisers change of them afterwards stays.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from brainscore_web.competitions.models import (
    Award,
    Competition,
    Entry,
    Milestone,
    Person,
    ProgrammeItem,
    Question,
    Track,
)
from brainscore_web.competitions.past import _of_2022, _of_2024

__all__ = ["PAST", "put_past_competitions"]

PAST: dict[str, dict[str, Any]] = {"2022": _of_2022.COMPETITION, "2024": _of_2024.COMPETITION}
"""By their names in addresses."""

_LISTS: tuple[tuple[str, Any], ...] = (
    ("milestones", Milestone),
    ("people", Person),
    ("programme", ProgrammeItem),
    ("questions", Question),
)


def put_past_competitions(*, using: str = "default") -> list[str]:
    """Put those that are not there into the database; their names."""
    there = set(Competition.objects.using(using).filter(slug__in=PAST).values_list("slug", flat=True))
    made = [slug for slug in PAST if slug not in there]
    for slug in made:
        with transaction.atomic(using=using):
            _put(slug, PAST[slug], using)
    return made


def _put(slug: str, told: dict[str, Any], using: str) -> None:
    competition = Competition.objects.using(using).create(slug=slug, published=True, **told["fields"])
    for name, table in _LISTS:
        table.objects.using(using).bulk_create(
            table(competition=competition, order=place, **values) for place, values in enumerate(told.get(name, ()), 1)
        )
    for place, one in enumerate(told["tracks"], 1):
        track = Track.objects.using(using).create(competition=competition, order=place, **one["fields"])
        for order, award in enumerate(one["awards"], 1):
            _award(track, order, award, using)


def _award(track: Track, order: int, told: dict[str, Any], using: str) -> None:
    won = Award.objects.using(using).create(track=track, order=order, **told["fields"])
    for identifier in told["entries"] or ("",):
        entry = Entry.objects.using(using).create(
            track=track,
            team=told["fields"].get("people", ""),
            title=told["fields"]["title"],
            identifier=identifier,
            known=True,
            entered=None,  # on which day is not known
        )
        won.entries.add(entry)
