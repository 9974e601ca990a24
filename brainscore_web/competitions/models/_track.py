"""Tracks with their rules."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import models

from brainscore_web.competitions._lists import check_prizes, lines_of, parts_of, prizes_in
from brainscore_web.competitions.models._competition import MARKDOWN, Competition, Ordered
from brainscore_web.competitions.rules import Direction, NotApplicable, Rule, Terms

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

    from brainscore_web.competitions.models._results import Award, Entry

__all__ = ["Track"]


class Track(Ordered):
    """What competes, and by which rules."""

    class Competes(models.TextChoices):
        """What is entered."""

        MODELS = "models"
        BENCHMARKS = "benchmarks"

    class Wins(models.TextChoices):
        """Which mean is the best."""

        LOWEST = Direction.LOWEST.value, "the lowest mean"
        HIGHEST = Direction.HIGHEST.value, "the highest mean"

    class Inapplicable(models.TextChoices):
        """What a pair counts that cannot be run."""

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
        help_text="Models where benchmarks compete, benchmarks where models do: one a line; other names that it has go "
        "behind it, after |.",
    )
    inapplicable = models.CharField(
        "a pair that cannot be run counts", max_length=10, choices=Inapplicable, default=Inapplicable.LEAVE_OUT
    )
    floor = models.FloatField(
        "lowest score that counts",
        null=True,
        blank=True,
        help_text="Scores below it count as this. Empty: as they are.",
    )
    one_a_team = models.BooleanField("only the best entry of a team has a place", default=True)
    prizes = models.TextField(blank=True, validators=[check_prizes], help_text="One a line: of the first place, …")
    split_ties = models.BooleanField(
        "who shares a place shares its prizes evenly", default=True, help_text="Else the organisers decide."
    )
    regions = models.CharField(max_length=200, blank=True, help_text="Such as V1, V2, V4, IT. Empty: any.")
    species = models.CharField(max_length=200, blank=True, help_text="Such as human, non-human primate. Empty: any.")
    tasks = models.CharField(
        max_length=200, blank=True, help_text="Of label, probabilities, odd_one_out. Empty: any, or none."
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
            raise ValidationError([f"{one[0].upper()}{one[1:]}." for one in problems])

    @property
    def listed_names(self) -> tuple[tuple[str, ...], ...]:
        """What entries are scored on: each with all its names, the first one shown."""
        return tuple(tuple(name.strip() for name in line.split("|") if name.strip()) for line in lines_of(self.listed))

    @property
    def amounts(self) -> tuple[Decimal, ...]:
        """The prizes."""
        return prizes_in(self.prizes)

    def rule(self, deadline: datetime | None = None) -> Rule:
        """What counts."""
        return Rule(
            direction=Direction(self.wins),
            listed=tuple(names[0] for names in self.listed_names),
            deadline=deadline,
            not_applicable=NotApplicable(self.inapplicable),
            floor=self.floor,
            one_a_team=self.one_a_team,
            prizes=self.amounts,
            split=self.split_ties,
        )

    def terms(self, *, open_now: bool, entered: Iterable[str] = ()) -> Terms:
        """What may enter."""
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
        )
