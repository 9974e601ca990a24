"""The competitions of 2022 and 2024, created once in every new database from ``data/*.toml``.

Organisers may change them afterwards.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
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

PAST: dict[str, dict[str, Any]] = {
    file.stem: tomllib.loads(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "data").glob("*.toml"))
}
"""Past competitions by their names in addresses."""

_LISTS: tuple[tuple[str, Any], ...] = (
    ("milestones", Milestone),
    ("people", Person),
    ("programme", ProgrammeItem),
    ("questions", Question),
)


def create_past_competitions(*, using: str = "default") -> list[str]:
    """Create past competitions that are not in the database; return their names."""
    existing = set(Competition.objects.using(using).filter(slug__in=PAST).values_list("slug", flat=True))
    missing = [slug for slug in PAST if slug not in existing]
    for slug in missing:
        with transaction.atomic(using=using):
            _create_competition(slug, PAST[slug], using)
    return missing


def _create_competition(slug: str, content: dict[str, Any], using: str) -> None:
    competition = Competition.objects.using(using).create(slug=slug, published=True, **content["fields"])
    for name, table in _LISTS:
        table.objects.using(using).bulk_create(
            table(competition=competition, order=place, **values)
            for place, values in enumerate(content.get(name, ()), 1)
        )
    for place, fields in enumerate(content["tracks"], 1):
        track = Track.objects.using(using).create(competition=competition, order=place, **fields["fields"])
        for order, award in enumerate(fields.get("awards", ()), 1):
            _create_award(track, order, award, using)


def _create_award(track: Track, order: int, content: dict[str, Any], using: str) -> None:
    award = Award.objects.using(using).create(track=track, order=order, **content["fields"])
    for identifier in content["entries"] or ("",):
        entry = Entry.objects.using(using).create(
            track=track,
            team=content["fields"].get("people", ""),
            title=content["fields"]["title"],
            identifier=identifier,
            known=True,
            entered=None,  # the day is not known
        )
        award.entries.add(entry)
