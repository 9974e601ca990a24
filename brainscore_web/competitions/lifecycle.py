"""Actions of organisers: publish a competition, freeze standings, create awards, announce winners."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.competitions.models import Award, Competition, Snapshot, Track
from brainscore_web.competitions.rules import Phase
from brainscore_web.competitions.standings import standings_document

__all__ = ["announce", "format_amount", "freeze", "lock_competition", "missing_parts", "publish", "take_winners"]


def lock_competition(competition: Competition) -> Competition:
    """The competition as it is now, for nobody else to change until the transaction ends."""
    return Competition.objects.select_for_update().get(pk=competition.pk)


def missing_parts(competition: Competition) -> list[str]:
    """What must be there before others see a competition."""
    tracks = list(competition.tracks.all())
    found = [] if tracks else ["it has no track"]
    found += [
        f"the track {track} lists nothing that entries are scored on" for track in tracks if not track.listed_names
    ]
    if competition.deadline is None:
        found.append("no date says until when entries are taken")
    return found


def publish(competition: Competition) -> None:
    """Show it to everybody; entries are taken from its first day on."""
    lacks = missing_parts(competition)
    if lacks:
        raise UserError(f"it cannot be opened yet: {'; '.join(lacks)}", remedy="complete it first")
    with transaction.atomic():
        row = lock_competition(competition)
        row.published = True
        row.save(update_fields=["published"])


def freeze(competition: Competition, by: User) -> Snapshot:
    """Keep the standings as they are now; no entries are taken any more."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.phase not in (Phase.OPEN, Phase.CLOSED, Phase.FROZEN):
            raise UserError(f"it is {row.phase}", remedy="standings are frozen between opening and the awards")
        return Snapshot.objects.create(competition=row, document=standings_document(row), by=by)


def take_winners(competition: Competition) -> int:
    """Make awards of the frozen standings: of every place that has a prize. How many were made."""
    with transaction.atomic():
        row = lock_competition(competition)
        frozen = row.frozen
        if frozen is None:
            raise UserError("its standings are not frozen", remedy="freeze them first")
        if row.awarded is not None:
            raise UserError("its winners are announced", remedy="edit the awards of a track")
        made = 0
        tracks = {track.pk: track for track in row.tracks.all()}
        for told in frozen.document["tracks"]:
            track = tracks.get(told["key"])
            if track is None:
                continue
            track.awards.all().delete()
            for result in told["rows"]:
                if result["prize"] is None and not result["prize_undecided"]:
                    continue
                award = Award.objects.create(
                    track=track,
                    order=made,
                    place=result["place"],
                    title=result["title"] or result["identifier"],
                    people=result["team"],
                    prize=""
                    if result["prize"] is None
                    else format_amount(result["prize"], frozen.document["currency"]),
                )
                award.entries.set(track.entries.filter(pk=result["entry"]))
                made += 1
        return made


def announce(competition: Competition) -> None:
    """Show the winners to everybody."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.frozen is None:
            raise UserError("its standings are not frozen", remedy="freeze them first")
        empty = [track.title for track in Track.objects.filter(competition=row, awards__isnull=True)]
        if empty:
            raise UserError(f"no awards in: {', '.join(empty)}", remedy="take over the standings, or write them")
        row.awarded = row.awarded or timezone.now()
        row.save(update_fields=["awarded"])


def format_amount(amount: Decimal | str, currency: str) -> str:
    """An amount as it is written: $3,000, $666.66."""
    value = Decimal(amount)
    return f"{currency}{value:,.0f}" if value == value.to_integral() else f"{currency}{value:,.2f}"
