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


def lock_competition(competition: Competition) -> Competition:
    """Lock a competition until the transaction ends, and return its current state."""
    return Competition.objects.select_for_update().get(pk=competition.pk)


def missing_parts(competition: Competition) -> list[str]:
    """Return what is missing before a competition can be published."""
    tracks = list(competition.tracks.all())
    missing = [] if tracks else ["it has no track"]
    missing += [
        f"the track {track} does not list what its entries are scored on" for track in tracks if not track.listed_names
    ]
    if competition.deadline is None:
        missing.append("it has no deadline for entries")
    return missing


def publish(competition: Competition) -> None:
    """Publish a competition; entries are accepted from its opening day on."""
    missing = missing_parts(competition)
    if missing:
        raise UserError(f"the competition cannot be published yet: {'; '.join(missing)}", remedy="add what is missing")
    with transaction.atomic():
        row = lock_competition(competition)
        row.published = True
        row.save(update_fields=["published"])


def close(competition: Competition) -> None:
    """Close a competition before its last day; entries are no longer accepted."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.phase != Phase.OPEN:
            raise UserError(f"the competition is {row.phase}", remedy="close a competition that is open")
        row.closed = timezone.now()
        row.save(update_fields=["closed"])


def reopen(competition: Competition) -> None:
    """Accept entries again, until the last announced deadline."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.phase != Phase.CLOSED:
            raise UserError(f"the competition is {row.phase}", remedy="reopen a competition that is closed")
        row.closed = None
        if row.phase == Phase.CLOSED:
            raise UserError("the deadline has passed", remedy="add a later deadline under Dates")
        row.save(update_fields=["closed"])


def freeze(competition: Competition, by: User) -> Snapshot:
    """Store the current standings permanently; entries are no longer accepted."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.phase not in (Phase.OPEN, Phase.CLOSED, Phase.FROZEN):
            raise UserError(
                f"the competition is {row.phase}", remedy="freeze standings after its opening, before the awards"
            )
        return Snapshot.objects.create(competition=row, document=standings_document(row), by=by)


def take_winners(competition: Competition) -> int:
    """Create awards from the frozen standings for every place with a prize; return their number."""
    with transaction.atomic():
        row = lock_competition(competition)
        frozen = row.frozen
        if frozen is None:
            raise UserError("the standings are not frozen", remedy="freeze them first")
        if row.awarded is not None:
            raise UserError("the winners are already announced", remedy="edit the awards of a track")
        count = 0
        tracks = {track.pk: track for track in row.tracks.all()}
        for frozen_track in frozen.document["tracks"]:
            track = tracks.get(frozen_track["key"])
            if track is None:
                continue
            track.awards.all().delete()
            for result in frozen_track["rows"]:
                if result["prize"] is None and not result["prize_undecided"]:
                    continue
                award = Award.objects.create(
                    track=track,
                    order=count,
                    place=result["place"],
                    title=result["title"] or result["identifier"],
                    people=result["team"],
                    prize=""
                    if result["prize"] is None
                    else format_amount(result["prize"], frozen.document["currency"]),
                )
                award.entries.set(track.entries.filter(pk=result["entry"]))
                count += 1
        return count


def undecided_awards(competition: Competition) -> list[str]:
    """Return the winners whose prize the organisers decide on."""
    rows = Award.objects.filter(track__competition=competition, prize="", place__isnull=False)
    return [award.title for award in rows.exclude(track__prizes="").select_related("track")]


def announce(competition: Competition) -> None:
    """Announce the winners publicly."""
    with transaction.atomic():
        row = lock_competition(competition)
        if row.frozen is None:
            raise UserError("the standings are not frozen", remedy="freeze them first")
        empty = [track.title for track in Track.objects.filter(competition=row, awards__isnull=True)]
        if empty:
            raise UserError(
                f"these tracks have no awards: {', '.join(empty)}",
                remedy="create awards from the frozen standings, or enter them",
            )
        row.awarded = row.awarded or timezone.now()
        row.save(update_fields=["awarded"])


def format_amount(amount: Decimal | str, currency: str) -> str:
    """Format an amount of money, such as $3,000 or $666.66."""
    value = Decimal(amount)
    return f"{currency}{value:,.0f}" if value == value.to_integral() else f"{currency}{value:,.2f}"
