"""Tables of competitions: competitions with their texts, tracks, entries, frozen standings and awards.

Some text fields contain lists: one item per line, or short items separated by commas.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import dateformat, timezone

from brainscore_core.errors import UserError
from brainscore_core.formatting import time_text
from brainscore_web.accounts.models import User
from brainscore_web.competitions.rules import (
    Direction,
    NotApplicable,
    Phase,
    Rule,
    Terms,
    deadline_end,
    phase_of,
    team_key,
)
from brainscore_web.leaderboard.models import Visitor, domain_field

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

_SLUG = RegexValidator(r"^[a-z0-9][a-z0-9-]*\Z", "Small letters, digits and hyphens.")
_TAKEN = ("new",)
MARKDOWN = "Markdown."
_LONGEST = 200
_LIKE_A_DAY = re.compile(r"\d{2,4}[-./]\d")
_COMPONENT = re.compile(r"(#+)\s*([^#\s].*)")


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines that are not empty."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def parts_of(text: str) -> tuple[str, ...]:
    """Return the items between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def day_of(line: str) -> date | None:
    """Return the date on a line; None if it is not a date."""
    try:
        return date.fromisoformat(line)
    except ValueError:
        return None


def listing(text: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    r"""Return the components and the names on each line of a list.

    A line such as ``# V1`` starts a component, ``## Size`` one within it.

    Examples
    --------
    >>> listing("# V1\n## Size\na\n# IT\nb | other name of b")
    [(('V1', 'Size'), ('a',)), (('IT',), ('b', 'other name of b'))]
    """
    path: tuple[str, ...] = ()
    rows = []
    for line in lines_of(text):
        heading = _COMPONENT.match(line)
        if heading:
            path = (*path[: len(heading[1]) - 1], heading[2])
        else:
            names = tuple(name.strip() for name in line.split("|") if name.strip())
            rows.append((path, names))
    return rows


def check_listing(text: str) -> None:
    """Refuse components without a name, or within one that does not exist."""
    depth = 0
    for line in lines_of(text):
        if not line.startswith("#"):
            continue
        heading = _COMPONENT.match(line)
        if heading is None:
            raise ValidationError(f"{line!r} has no name. Write a component such as # V1.")
        if len(heading[1]) > depth + 1:
            raise ValidationError(
                f"{line!r} is not within another component. Write {'#' * (depth + 1)} {heading[2]} instead."
            )
        depth = len(heading[1])


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


def manages_competitions(visitor: Visitor) -> bool:
    """Whether the visitor organises competitions."""
    return bool(visitor.is_active and visitor.has_perm("competitions.manage"))


class CompetitionQuerySet(models.QuerySet["Competition"]):
    """Queries of competitions."""

    def visible_to(self, visitor: Visitor) -> CompetitionQuerySet:
        """Return published competitions; for organisers also drafts."""
        return self if manages_competitions(visitor) else self.filter(published=True)


class Competition(models.Model):
    """A competition with its texts."""

    slug = models.CharField("name in its address", max_length=50, unique=True, validators=[_SLUG])
    domain = domain_field()
    year = models.IntegerField()
    title = models.CharField(max_length=200)
    summary = models.TextField(help_text="One or two sentences.")
    about = models.TextField("what it is about", blank=True, help_text=MARKDOWN)
    place = models.CharField("where it is", max_length=300, blank=True)
    critiques_answered = models.TextField("answer to the critiques", blank=True, help_text=MARKDOWN)
    contact = models.TextField(blank=True, help_text=MARKDOWN)
    unknown = models.TextField("what is not available", blank=True, help_text="Markdown; shown at the end of the page.")
    currency = models.CharField(max_length=5, blank=True, default="$")
    pool = models.DecimalField("prize pool", max_digits=12, decimal_places=2, null=True, blank=True)
    published = models.BooleanField(default=False, editable=False)
    closed = models.DateTimeField(null=True, blank=True, editable=False, help_text="When the organisers closed it.")
    awarded = models.DateTimeField(null=True, blank=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = CompetitionQuerySet.as_manager()

    if TYPE_CHECKING:
        tracks: RelatedManager[Track]
        milestones: RelatedManager[Milestone]
        people: RelatedManager[Person]
        programme: RelatedManager[ProgrammeItem]
        questions: RelatedManager[Question]
        snapshots: RelatedManager[Snapshot]
        teams: RelatedManager[Team]
        terms_versions: RelatedManager[TermsVersion]

    class Meta:
        """Newest first."""

        ordering = ("-year", "-created")
        permissions = (("manage", "Can organise competitions"),)

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse names that the site uses for other addresses."""
        if self.slug in _TAKEN:
            raise ValidationError({"slug": "This name is reserved by the site."})

    def get_absolute_url(self) -> str:
        """Return its page; competitions named after a year have a short address."""
        if self.slug.isdecimal() and len(self.slug) == 4:
            return reverse("competition-of-year", args=[int(self.slug)])
        return reverse("competitions:show", args=[self.slug])

    def _day(self, kind: str) -> date | None:
        days = [row.day for row in self.milestones.all() if row.kind == kind and row.day is not None]
        return days[0] if days else None

    @property
    def opens(self) -> date | None:
        """The first day of entries, if set."""
        return self._day("opens")

    @property
    def deadline(self) -> date | None:
        """The last day of entries, as last announced."""
        return self._day("deadline")

    @property
    def deadline_end(self) -> datetime | None:
        """The time at which the deadline has passed everywhere."""
        return deadline_end(self.deadline)

    @property
    def frozen(self) -> Snapshot | None:
        """The latest frozen standings, if any."""
        return max(self.snapshots.all(), key=lambda snapshot: (snapshot.created, snapshot.pk), default=None)

    @property
    def phase(self) -> Phase:
        """The current phase."""
        return phase_of(
            timezone.now(),
            published=self.published,
            opens=self.opens,
            deadline=self.deadline,
            frozen=self.frozen is not None,
            awarded=self.awarded is not None,
            closed=self.closed is not None,
        )

    @property
    def terms(self) -> TermsVersion | None:
        """The terms to accept before entering, if any: the latest version."""
        latest = max(self.terms_versions.all(), key=lambda version: version.number, default=None)
        return latest if latest is not None and latest.text else None

    @property
    def is_settled(self) -> bool:
        """Whether tracks and entries can no longer change."""
        return self.frozen is not None or self.awarded is not None


class TermsVersion(models.Model):
    """A version of the terms of a competition. Never changed."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="terms_versions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Empty: there are no terms.")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        """Oldest first."""

        ordering = ("number",)
        constraints = (models.UniqueConstraint(fields=["competition", "number"], name="terms_have_numbers"),)

    def __str__(self) -> str:
        return f"version {self.number} of {self.created:%Y-%m-%d}"


def _new_invitation() -> str:
    return secrets.token_urlsafe(24)


class Team(models.Model):
    """A team in a competition. Its captain is the member who joined first."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=200, help_text="Public.")
    key = models.CharField(max_length=200, editable=False)  # the name without differences of case and spaces
    invitation = models.CharField(max_length=40, default=_new_invitation, unique=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    if TYPE_CHECKING:
        memberships: RelatedManager[Membership]

    class Meta:
        """Names are unique in a competition."""

        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=["competition", "key"], name="one_team_a_name"),)

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the team with the key of its name."""
        self.name = " ".join(self.name.split())
        self.key = team_key(self.name)
        super().save(*args, **kwargs)

    def renew_invitation(self) -> None:
        """Make the present address of invitation invalid."""
        self.invitation = _new_invitation()
        self.save(update_fields=["invitation", "name", "key"])


class Membership(models.Model):
    """A member of a team. A user is in one team of a competition."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="competition_memberships")
    joined = models.DateTimeField(default=timezone.now, editable=False)
    receives_mail = models.BooleanField("receives e-mails of the organisers", default=True)

    class Meta:
        """The captain first."""

        ordering = ("joined", "pk")
        constraints = (models.UniqueConstraint(fields=["competition", "user"], name="one_team_a_person"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


def team_of(user: User, competition: Competition) -> Team | None:
    """Return a user's team in a competition, if any."""
    return Team.objects.filter(competition=competition, memberships__user=user).first()


class Announcement(models.Model):
    """An e-mail of the organisers to the members of all teams."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="announcements")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    recipients = models.PositiveIntegerField(editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        """Newest first."""

        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return self.subject


class Ordered(models.Model):
    """A row in an ordered list."""

    order = models.IntegerField("place in the list", default=0)

    class Meta:
        """In the list's order."""

        abstract = True
        ordering = ("order", "pk")


class Milestone(Ordered):
    """A date, with all its announced values."""

    class Kind(models.TextChoices):
        """The role of the date."""

        OPENS = "opens", "entries from"
        DEADLINE = "deadline", "entries until"
        OTHER = "other", "something else"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="milestones")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.OTHER)
    title = models.CharField(max_length=200)
    announced = models.TextField(
        "announced dates",
        validators=[check_days],
        help_text="One per line, in the order in which they were announced: a date such as 2024-06-30, or text. "
        "The last one counts.",
    )

    def __str__(self) -> str:
        return f"{self.title}: {self.values[-1]}" if self.values else self.title

    def clean(self) -> None:
        """Require a date for opening and deadline, and keep announced dates."""
        if self.kind != self.Kind.OTHER and self.announced and self.day is None:
            raise ValidationError(
                {"announced": "The last line must be a date such as 2024-06-30, since entries depend on it."}
            )
        if self.pk is None or not self.competition.published:
            return
        announced = lines_of(Milestone.objects.values_list("announced", flat=True).get(pk=self.pk))
        if lines_of(self.announced)[: len(announced)] != announced:
            raise ValidationError(
                {"announced": f"Already announced: {', '.join(announced)}. Keep this, and add the new date below it."}
            )

    @property
    def day(self) -> date | None:
        """The current date; None if it was announced only in words."""
        lines = lines_of(self.announced)
        return day_of(lines[-1]) if lines else None

    @property
    def values(self) -> list[str]:
        """All announced values, formatted for display."""
        return [shown_day(line) for line in lines_of(self.announced)]


class Person(Ordered):
    """An organiser, or a sponsor."""

    class Role(models.TextChoices):
        """The role of the person or organisation."""

        ORGANISER = "organiser"
        SPONSOR = "sponsor"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="people")
    role = models.CharField(max_length=10, choices=Role, default=Role.ORGANISER)
    name = models.CharField(max_length=200)
    affiliation = models.CharField(max_length=200, blank=True)
    url = models.URLField("address", blank=True)

    def __str__(self) -> str:
        return self.name


class ProgrammeItem(Ordered):
    """An item of the programme, such as a talk or a panel."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="programme")
    time = models.CharField("when", max_length=100)
    title = models.CharField(max_length=300)
    people = models.CharField("who", max_length=500, blank=True)

    def __str__(self) -> str:
        return self.title


class Question(Ordered):
    """A frequently asked question or a critique, with its answer."""

    class Kind(models.TextChoices):
        """The section that shows it."""

        FAQ = "faq", "question"
        CRITIQUE = "critique", "critique"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="questions")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.FAQ)
    question = models.CharField(max_length=500)
    answer = models.TextField(blank=True, help_text=MARKDOWN)

    def __str__(self) -> str:
        return self.question


class Track(Ordered):
    """A track: what competes, and its rules."""

    class Competes(models.TextChoices):
        """What can be entered."""

        MODELS = "models"
        BENCHMARKS = "benchmarks"

    class Wins(models.TextChoices):
        """Which mean wins."""

        LOWEST = Direction.LOWEST.value, "the lowest mean"
        HIGHEST = Direction.HIGHEST.value, "the highest mean"

    class Inapplicable(models.TextChoices):
        """How a pair counts that cannot be run."""

        LEAVE_OUT = NotApplicable.LEAVE_OUT.value, "left out of the mean, if at least half can be run"
        ZERO = NotApplicable.ZERO.value, "0 (only where the highest mean wins)"
        EXCLUDE = NotApplicable.EXCLUDE.value, "the entry does not count"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="tracks")
    title = models.CharField(max_length=200)
    text = models.TextField("what it is about", blank=True, help_text=MARKDOWN)
    competes = models.CharField(max_length=10, choices=Competes, default=Competes.BENCHMARKS)
    wins = models.CharField(max_length=10, choices=Wins, default=Wins.LOWEST)
    listed = models.TextField(
        "scored on",
        blank=True,
        validators=[check_listing],
        help_text="The models that benchmarks are scored on, or the benchmarks that models are scored on, one per "
        "line. Further names of the same item follow it, after |. A line such as # V1 starts a component of the mean, "
        "and ## Size a component of V1.",
    )
    inapplicable = models.CharField(
        "how a pair counts that cannot be run", max_length=10, choices=Inapplicable, default=Inapplicable.LEAVE_OUT
    )
    floor = models.FloatField(
        "lowest score that counts",
        null=True,
        blank=True,
        help_text="Scores below it count as this. Empty: as they are.",
    )
    most_entries = models.PositiveSmallIntegerField(
        "entries of a team", null=True, blank=True, help_text="How many a team may have. Empty: any number."
    )
    one_a_team = models.BooleanField("only the best entry of a team has a place", default=True)
    prizes = models.TextField(
        blank=True,
        validators=[check_prizes],
        help_text="One amount per line: the prize of the first place, of the second, …",
    )
    split_ties = models.BooleanField(
        "entries that share a place share its prizes evenly", default=True, help_text="Otherwise the organisers decide."
    )
    regions = models.CharField(
        max_length=200, blank=True, help_text="Separated by commas, such as V1, V2, V4, IT. Empty: every region."
    )
    species = models.CharField(
        max_length=200,
        blank=True,
        help_text="Separated by commas, such as human, non-human primate. Empty: every species.",
    )
    tasks = models.CharField(
        max_length=200,
        blank=True,
        help_text="Any of label, probabilities, odd_one_out, separated by commas. Empty: every task, and no task.",
    )
    static_images = models.BooleanField("stimuli are static images", default=False)
    single_time_bin = models.BooleanField("recorded in a single time bin", default=False)
    notes = models.TextField("what is not known", blank=True, help_text="Markdown; shown as a notice.")

    if TYPE_CHECKING:
        entries: RelatedManager[Entry]
        awards: RelatedManager[Award]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse rules that contradict themselves."""
        problems = self.rule().problems
        if problems:
            raise ValidationError([f"{problem[0].upper()}{problem[1:]}." for problem in problems])

    @property
    def listed_names(self) -> tuple[tuple[str, ...], ...]:
        """What entries are scored on: each with all its names; the first is shown."""
        return tuple(names for _, names in listing(self.listed) if names)

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The components of what entries are scored on, in the order of `listed_names`; empty for a plain mean."""
        paths = tuple(path for path, names in listing(self.listed) if names)
        return paths if any(paths) else ()

    @property
    def amounts(self) -> tuple[Decimal, ...]:
        """The prizes."""
        return prizes_in(self.prizes)

    def rule(self, deadline: datetime | None = None) -> Rule:
        """Return the rule for the standings."""
        return Rule(
            direction=Direction(self.wins),
            listed=tuple(names[0] for names in self.listed_names),
            deadline=deadline,
            not_applicable=NotApplicable(self.inapplicable),
            floor=self.floor,
            one_a_team=self.one_a_team,
            prizes=self.amounts,
            split=self.split_ties,
            components=self.components,
        )

    def terms(self, *, open_now: bool, entered: Iterable[str] = (), count: int = 0) -> Terms:
        """Return the conditions for entries."""
        return Terms(
            competes=self.competes,
            regions=frozenset(parts_of(self.regions)),
            species=frozenset(parts_of(self.species)),
            tasks=frozenset(parts_of(self.tasks)),
            static_images=self.static_images,
            single_time_bin=self.single_time_bin,
            open=open_now,
            entered=frozenset(entered),
            listed=frozenset(name for names in self.listed_names for name in names),
            most=self.most_entries,
            count=count,
        )


def benchmarks_of_competitions(domain: str) -> list[tuple[str, list[str]]]:
    """Return the title of the newest published competition of models, with the benchmarks that these are scored on."""
    tracks = Track.objects.filter(
        competes=Track.Competes.MODELS, competition__published=True, competition__domain=domain
    ).select_related("competition")
    ordered = sorted(tracks, key=lambda track: (track.competition.year, track.competition.created), reverse=True)
    listed = [track for track in ordered if track.competition_id == ordered[0].competition_id]
    names = [name for track in listed for names in track.listed_names for name in names]
    return [(listed[0].competition.title, names)] if names else []


class Entry(models.Model):
    """An entry in a track."""

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="entries")
    team = models.CharField(max_length=200, blank=True, help_text="Public.")
    belongs_to = models.ForeignKey(
        Team, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="entries"
    )
    accepted = models.ForeignKey(
        TermsVersion,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.RESTRICT,
        related_name="entries",
        help_text="The terms that were accepted with it.",
    )
    title = models.CharField(max_length=300, blank=True)
    identifier = models.CharField(max_length=200, blank=True, help_text="Empty: not known.")
    model = models.ForeignKey(
        "leaderboard.VisionModel", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    benchmark = models.ForeignKey(
        "leaderboard.Benchmark", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    submission = models.ForeignKey(
        "submissions.Submission", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="competition_entries"
    )
    known = models.BooleanField(default=False, editable=False, help_text="Published by the organisers, by name.")
    entered = models.DateTimeField("entered at", null=True, blank=True, default=timezone.now)
    declared: models.JSONField[Any, Any] = models.JSONField(default=dict, editable=False)
    findings: models.JSONField[Any, Any] = models.JSONField(default=list, editable=False)
    withdrawn = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_because = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        """In order of entry; an identifier can enter a track only once."""

        ordering = ("entered", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["track", "identifier"],
                condition=Q(withdrawn__isnull=True) & ~Q(identifier=""),
                name="enters_a_track_once",
            ),
        )

    def __str__(self) -> str:
        return self.identifier or self.title


class Snapshot(models.Model):
    """Frozen standings with the scores that they were computed from. Never changed."""

    competition = models.ForeignKey(Competition, on_delete=models.PROTECT, related_name="snapshots")
    document: models.JSONField[Any, Any] = models.JSONField(editable=False)
    digest = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the document.")
    created = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        """Newest first."""

        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return f"{self.competition}, {time_text(self.created)}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the snapshot; it cannot be changed afterwards."""
        if not self._state.adding:
            raise UserError("frozen standings cannot be changed", remedy="freeze the current standings again")
        self.digest = _digest_of(self.document)
        super().save(*args, **kwargs)

    @property
    def is_intact(self) -> bool:
        """Whether the document matches its hash."""
        return self.digest == _digest_of(self.document)


class Award(Ordered):
    """A winner, as announced by the organisers."""

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="awards")
    place = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: not known.")
    title = models.CharField("what won", max_length=300)
    people = models.CharField("who", max_length=500, blank=True)
    prize = models.CharField(max_length=100, blank=True)
    entries = models.ManyToManyField(Entry, blank=True, related_name="awards")

    def __str__(self) -> str:
        return self.title


def _digest_of(document: Any) -> str:
    """Return the SHA-256 of a document, regardless of its formatting."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
