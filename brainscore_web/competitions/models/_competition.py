"""Competitions, and the lists that belong to them."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone

from brainscore_web.competitions._lists import check_days, day_of, lines_of, shown_day
from brainscore_web.competitions.rules import Phase, deadline_end, phase_of
from brainscore_web.leaderboard.models import Visitor

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

    from brainscore_web.competitions.models._results import Snapshot
    from brainscore_web.competitions.models._track import Track

__all__ = [
    "MARKDOWN",
    "Competition",
    "Milestone",
    "Ordered",
    "Person",
    "ProgrammeItem",
    "Question",
    "manages_competitions",
]

_SLUG = RegexValidator(r"^[a-z0-9][a-z0-9-]*\Z", "Small letters, digits and hyphens.")
_TAKEN = ("new",)
MARKDOWN = "Markdown."


def manages_competitions(visitor: Visitor) -> bool:
    """Whether the visitor organises competitions."""
    return bool(visitor.is_active and visitor.has_perm("competitions.manage"))


class CompetitionQuerySet(models.QuerySet["Competition"]):
    """Queries of competitions."""

    def visible_to(self, visitor: Visitor) -> CompetitionQuerySet:
        """Those that are published; organisers see drafts."""
        return self if manages_competitions(visitor) else self.filter(published=True)


class Competition(models.Model):
    """A competition: its texts, and how far it is."""

    slug = models.CharField("name in its address", max_length=50, unique=True, validators=[_SLUG])
    year = models.IntegerField()
    title = models.CharField(max_length=200)
    summary = models.TextField(help_text="One or two sentences.")
    about = models.TextField("what it is about", blank=True, help_text=MARKDOWN)
    place = models.CharField("where it is", max_length=300, blank=True)
    critiques_answered = models.TextField("answer to the critiques", blank=True, help_text=MARKDOWN)
    contact = models.TextField(blank=True, help_text=MARKDOWN)
    unknown = models.TextField("what is not known", blank=True, help_text="Markdown; shown as a notice.")
    currency = models.CharField(max_length=5, blank=True, default="$")
    pool = models.DecimalField("prize pool", max_digits=12, decimal_places=2, null=True, blank=True)
    published = models.BooleanField(default=False, editable=False)
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

    class Meta:
        """The newest first."""

        ordering = ("-year", "-created")
        permissions = (("manage", "Can organise competitions"),)

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse names that are addresses of something else."""
        if self.slug in _TAKEN:
            raise ValidationError({"slug": "This name is the site's own."})

    def get_absolute_url(self) -> str:
        """Its page; one that is called like a year has it where everybody looks for it."""
        if self.slug.isdecimal() and len(self.slug) == 4:
            return reverse("competition-of-year", args=[int(self.slug)])
        return reverse("competitions:show", args=[self.slug])

    def _day(self, kind: str) -> date | None:
        days = [one.day for one in self.milestones.all() if one.kind == kind and one.day is not None]
        return days[0] if days else None

    @property
    def opens(self) -> date | None:
        """The first day of entries, if there is one."""
        return self._day("opens")

    @property
    def deadline(self) -> date | None:
        """The last day of entries, as announced last."""
        return self._day("deadline")

    @property
    def deadline_end(self) -> datetime | None:
        """When it is over everywhere."""
        return deadline_end(self.deadline)

    @property
    def frozen(self) -> Snapshot | None:
        """The standings that count, once they are frozen."""
        return max(self.snapshots.all(), key=lambda one: (one.created, one.pk), default=None)

    @property
    def phase(self) -> Phase:
        """How far it is now."""
        return phase_of(
            timezone.now(),
            published=self.published,
            opens=self.opens,
            deadline=self.deadline,
            frozen=self.frozen is not None,
            awarded=self.awarded is not None,
        )

    @property
    def is_settled(self) -> bool:
        """Whether tracks and entries change no more."""
        return self.frozen is not None or self.awarded is not None


class Ordered(models.Model):
    """Something in a list."""

    order = models.IntegerField("place in the list", default=0)

    class Meta:
        """In the list's order."""

        abstract = True
        ordering = ("order", "pk")


class Milestone(Ordered):
    """A date, with all that was ever announced for it."""

    class Kind(models.TextChoices):
        """What depends on it."""

        OPENS = "opens", "entries from"
        DEADLINE = "deadline", "entries until"
        OTHER = "other", "something else"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="milestones")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.OTHER)
    title = models.CharField(max_length=200)
    announced = models.TextField(
        "announced dates",
        validators=[check_days],
        help_text="One a line, the first announced first: 2024-06-30, or words. The last one counts.",
    )

    def __str__(self) -> str:
        return f"{self.title}: {self.values[-1]}" if self.values else self.title

    def clean(self) -> None:
        """What entries depend on is a day."""
        if self.kind != self.Kind.OTHER and self.announced and self.day is None:
            raise ValidationError(
                {"announced": "Entries depend on it: the last line must be a day such as 2024-06-30."}
            )
        if self.pk is None or not self.competition.published:
            return
        before = lines_of(Milestone.objects.values_list("announced", flat=True).get(pk=self.pk))
        if lines_of(self.announced)[: len(before)] != before:
            raise ValidationError(
                {"announced": f"This was announced: {', '.join(before)}. Keep it, and write the new date below it."}
            )

    @property
    def day(self) -> date | None:
        """The day that counts; None where it was announced in words only."""
        lines = lines_of(self.announced)
        return day_of(lines[-1]) if lines else None

    @property
    def values(self) -> list[str]:
        """All announced values, as shown."""
        return [shown_day(line) for line in lines_of(self.announced)]


class Person(Ordered):
    """An organiser, or a sponsor."""

    class Role(models.TextChoices):
        """What they do."""

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
    """A talk, a panel, a presentation of winners."""

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="programme")
    time = models.CharField("when", max_length=100)
    title = models.CharField(max_length=300)
    people = models.CharField("who", max_length=500, blank=True)

    def __str__(self) -> str:
        return self.title


class Question(Ordered):
    """A question that is often asked, or a critique; and its answer."""

    class Kind(models.TextChoices):
        """Where it stands."""

        FAQ = "faq", "question"
        CRITIQUE = "critique", "critique"

    competition = models.ForeignKey(Competition, on_delete=models.CASCADE, related_name="questions")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.FAQ)
    question = models.CharField(max_length=500)
    answer = models.TextField(blank=True, help_text=MARKDOWN)

    def __str__(self) -> str:
        return self.question
