"""Changes of competitions: by organisers, such as freezing standings, by members, and the past ones of a new site."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User, owned_by
from brainscore_web.competitions.models import (
    Announcement,
    Award,
    Competition,
    Entry,
    Membership,
    Milestone,
    Person,
    ProgrammeItem,
    Question,
    Snapshot,
    Team,
    TermsVersion,
    Track,
    parts_of,
    team_of,
)
from brainscore_web.competitions.rules import (
    EntryFacts,
    Finding,
    Phase,
    check_entry,
    species_group,
    task_kind,
    team_key,
)
from brainscore_web.competitions.standings import format_amount, standings_document
from brainscore_web.jobs.outbox import queue_email
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.submissions.models import Submission


def lock_competition(competition: Competition) -> Competition:
    """Lock a competition until the transaction ends, and return its current state."""
    return Competition.objects.select_for_update().get(pk=competition.pk)


def lock_unsettled(competition: Competition, *, remedy: str) -> Competition:
    """Lock a competition as `lock_competition` does; raise an error if its standings are frozen."""
    row = lock_competition(competition)
    if row.is_settled:
        raise UserError("the standings are frozen", remedy=remedy)
    return row


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


_SINGULAR = {Track.Competes.MODELS: "model", Track.Competes.BENCHMARKS: "benchmark"}
_ENDED = (Submission.State.REJECTED, Submission.State.WITHDRAWN)
_MOST = 200
_MOST_MEMBERS = 50
_MOST_MAILS_A_DAY = 5


class Candidate(NamedTuple):
    """A model or benchmark that a member may enter, with its key and label in the form and its origin."""

    key: str
    label: str
    identifier: str
    row: VisionModel | Benchmark | None = None
    submission: Submission | None = None


def candidates(user: User, track: Track) -> list[Candidate]:
    """Return what a member may enter: their models or benchmarks, and those that their submissions register."""
    domain = track.competition.domain
    table: Any = VisionModel if track.competes == Track.Competes.MODELS else Benchmark
    options = [
        Candidate(f"own:{row.identifier}", row.identifier, row.identifier, row)
        for row in table.objects.filter(owned_by(user), domain=domain)
    ]
    identifiers = {option.identifier for option in options}
    kind = _SINGULAR[Track.Competes(track.competes)]
    rows = Submission.objects.filter(owned_by(user), domain=domain).exclude(state__in=_ENDED)[:_MOST]
    for submission in rows.prefetch_related("revisions"):
        revisions = list(submission.revisions.all())
        for plugin in revisions[-1].plugins if revisions else ():
            for entry in plugin.get("registrations", ()):
                name = entry["key"]
                if str(entry["registry"]).startswith(kind) and name not in identifiers:
                    identifiers.add(name)
                    label = f"{name} (submission of {submission.created:%Y-%m-%d})"
                    options.append(Candidate(f"{submission.pk}:{name}", label, name, None, submission))
    return options


def facts_of(candidate: Candidate, track: Track, declared: Mapping[str, Any]) -> EntryFacts:
    """Return what is known about a candidate: from the site, else as declared by the member."""
    row = candidate.row
    if isinstance(row, VisionModel):
        return EntryFacts("models", row.identifier, public=row.visibility == Visibility.PUBLIC)
    if row is None:
        facts = EntryFacts(track.competes, candidate.identifier, here=False)
    else:
        facts = _benchmark_facts(row)
    stated: dict[str, Any] = {
        name: frozenset(declared[name]) for name in ("regions", "species", "tasks") if declared.get(name)
    }
    stated |= {name: declared[name] for name in ("static_images", "time_bins") if declared.get(name) is not None}
    return replace(facts, **{name: value for name, value in stated.items() if getattr(facts, name) is None})


def _benchmark_facts(row: Benchmark) -> EntryFacts:
    details = row.details if isinstance(row.details, dict) else {}
    kind, datatype = details.get("kind"), details.get("datatype")
    task = "" if kind == "neural" else task_kind(row.task) if row.task else None
    regions = frozenset(parts_of(row.region))
    behavioural = kind == "behavioural" or bool(task)
    return EntryFacts(
        "benchmarks",
        row.identifier,
        mean=row.is_mean,
        regions=regions or (frozenset() if behavioural else None),
        species=frozenset(species_group(species) for species in parts_of(row.species)) or None,
        tasks=None if task is None else frozenset({task} - {""}),
        static_images=None if datatype is None else datatype == "image",
    )


def is_taken(competition: Competition, name: str) -> bool:
    """Whether a team or an entry of a competition has this name already, regardless of case and spaces."""
    names = Entry.objects.filter(track__competition=competition).values_list("team", flat=True)
    key = team_key(name)
    return competition.teams.filter(key=key).exists() or any(team_key(other) == key for other in names)


def create_team(user: User, competition: Competition, name: str) -> Team:
    """Create a team with its first member; the caller has locked the competition."""
    if is_taken(competition, name):
        raise UserError(f"there is already a team {name}", remedy="choose another name")
    team = Team.objects.create(competition=competition, name=name)
    Membership.objects.create(team=team, competition=competition, user=user)
    return team


def join_team(user: User, team: Team) -> None:
    """Add a user, who has the invitation of a team, to it."""
    with transaction.atomic():
        competition = lock_unsettled(team.competition, remedy="teams can no longer change")
        other = team_of(user, competition)
        if other is not None:
            raise UserError(f"you are in the team {other}", remedy="leave it first: one person is in one team")
        if team.memberships.count() >= _MOST_MEMBERS:
            raise UserError(f"the team has {_MOST_MEMBERS} members", remedy="ask its captain")
        Membership.objects.create(team=team, competition=competition, user=user)


def leave_team(membership: Membership) -> None:
    """Remove a member from a team and change its invitation. A team without entries ends with its last member."""
    with transaction.atomic():
        lock_unsettled(membership.competition, remedy="teams can no longer change")
        team = membership.team
        is_last = team.memberships.count() == 1
        if is_last and team.entries.filter(withdrawn__isnull=True).exists():
            raise UserError("you are the last member of a team with entries", remedy="withdraw the entries first")
        membership.delete()
        if is_last:
            team.delete()
        else:
            team.renew_invitation()


def is_of(user: User, entry: Entry) -> bool:
    """Whether an entry belongs to a user's team, or is the user's and of no team."""
    if entry.belongs_to_id is None:
        return entry.by_id == user.pk
    return Membership.objects.filter(team=entry.belongs_to_id, user=user).exists()


def set_terms(competition: Competition, text: str) -> None:
    """Store a new version of the terms if the text differs from the latest one."""
    text = text.replace("\r\n", "\n").strip()
    with transaction.atomic():
        row = lock_competition(competition)
        latest = row.terms_versions.last()
        if text != ("" if latest is None else latest.text):
            number = 1 if latest is None else latest.number + 1
            TermsVersion.objects.create(competition=row, number=number, text=text)


def mail_participants(announcement: Announcement) -> int:
    """Queue an e-mail of the organisers to the members of all teams who have not unsubscribed; return their number."""
    with transaction.atomic():
        competition = lock_competition(announcement.competition)
        since = timezone.now() - timedelta(days=1)
        if competition.announcements.filter(created__gt=since).count() >= _MOST_MAILS_A_DAY:
            raise UserError(
                f"{_MOST_MAILS_A_DAY} e-mails were sent to the participants within a day", remedy="send it tomorrow"
            )
        memberships = competition.memberships.filter(receives_mail=True, user__is_active=True).select_related("user")
        for membership in memberships:
            path = reverse("competitions:unsubscribe", args=[competition.slug, mail_key(membership)])
            context = {"competition": competition, "text": announcement.text, "unsubscribe": settings.ADDRESS + path}
            queue_email(
                membership.user,
                f"{competition}: {announcement.subject}",
                "competitions/email_announcement.txt",
                context,
                unsubscribe=settings.ADDRESS + path,
            )
        announcement.recipients = len(memberships)
        announcement.save()
    return announcement.recipients


_SIGNER = Signer(salt="competitions: e-mails to participants")


def mail_key(membership: Membership) -> str:
    """Return the signed key with which a membership is unsubscribed without a login."""
    return _SIGNER.sign(str(membership.pk))


def membership_of(key: str) -> Membership | None:
    """Return the membership of a signed key; None if the key is invalid or the member has left."""
    try:
        return Membership.objects.select_related("competition").filter(pk=_SIGNER.unsign(key)).first()
    except BadSignature:
        return None


def create_entry(
    user: User,
    track: Track,
    candidate: Candidate,
    *,
    team: str,
    title: str,
    declared: Mapping[str, Any],
    accepted: TermsVersion | None = None,
) -> tuple[Entry | None, tuple[Finding, ...]]:
    """Enter a candidate in a track."""
    with transaction.atomic():
        competition = lock_competition(
            track.competition
        )  # one at a time, so that team names stay unique and no entry follows freezing
        if accepted != competition.terms:
            raise UserError("the terms have changed", remedy="read and accept the present ones")
        known_team = team_of(user, competition)
        entered = track.entries.filter(withdrawn__isnull=True).values_list("identifier", flat=True)
        of_team = track.entries.filter(withdrawn__isnull=True, belongs_to=known_team) if known_team else ()
        terms = track.terms(open_now=competition.phase == Phase.OPEN, entered=entered, count=len(of_team))
        findings = [*check_entry(facts_of(candidate, track, declared), terms)]
        if known_team is None and is_taken(competition, team):
            remedy = "choose another name, or ask its captain for an invitation"
            findings.append(Finding("error", "team", f"there is already a team {team}", remedy))
        if any(finding.severity == "error" for finding in findings):
            return None, tuple(findings)
        belongs_to = known_team or create_team(user, competition, team)
        entry = Entry(
            track=track,
            team=belongs_to.name,
            belongs_to=belongs_to,
            accepted=accepted,
            title=title,
            identifier=candidate.identifier,
            submission=candidate.submission,
            by=user,
            declared=dict(declared),
            findings=[finding._asdict() for finding in findings],
        )
        if isinstance(candidate.row, VisionModel):
            entry.model = candidate.row
        else:
            entry.benchmark = candidate.row
        entry.save()
        return entry, tuple(findings)


def withdraw_entry(entry: Entry, *, because: str) -> None:
    """Withdraw an entry."""
    with transaction.atomic():
        lock_unsettled(entry.track.competition, remedy="ask the organisers")
        changed = Entry.objects.filter(pk=entry.pk, withdrawn__isnull=True)
        if not changed.update(withdrawn=timezone.now(), withdrawn_because=because):
            raise UserError("the entry is already withdrawn", remedy="see the page of the competition")


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
