"""Forms of competitions: for organisers, and for members who enter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import URLField
from django.forms.models import BaseInlineFormSet, inlineformset_factory

from brainscore_core.domains import domain
from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.models import User
from brainscore_web.competitions.actions import Candidate, candidates, is_taken, set_terms
from brainscore_web.competitions.models import (
    Announcement,
    Award,
    Competition,
    Entry,
    Milestone,
    Person,
    ProgrammeItem,
    Question,
    Team,
    Track,
    parts_of,
    team_of,
)
from brainscore_web.competitions.rules import REGIONS, TASKS

_MOST = 200
_ROWS = {"rows": 6}


class _Plain:
    """A form with labels without colons, and larger fields for long texts."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["label_suffix"] = ""
        super().__init__(*args, **kwargs)
        for field in self.fields.values():  # type: ignore[attr-defined] # of the form class that it is combined with
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs |= _ROWS


class CompetitionForm(_Plain, forms.ModelForm):
    """Name and texts of a competition."""

    class Meta:
        """The editable fields."""

        model = Competition
        fields = (
            *(
                "slug",
                "domain",
                "year",
                "title",
                "summary",
                "about",
                "critiques_answered",
                "place",
                "contact",
                "unknown",
            ),
            *("currency", "pool"),
        )
        help_texts: ClassVar[dict[str, str]] = {
            "slug": "The end of its URL: small letters, digits and hyphens, such as cosyne-2027."
        }

    terms = forms.CharField(
        widget=forms.Textarea(),
        required=False,
        help_text="To be accepted with each entry. Markdown. A changed text is a new version; entries keep theirs.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["domain"].required = False  # if omitted, it stays
        if self.instance.pk is not None and (terms := self.instance.terms) is not None:
            self.fields["terms"].initial = terms.text
        if self.instance.pk is not None and self.instance.tracks.exists():
            self.fields["domain"].disabled = True  # entries and lists of tracks are of this domain

    def clean_year(self) -> int:
        """Refuse implausible years."""
        year = int(self.cleaned_data["year"])
        if not 1990 <= year <= 2200:
            raise ValidationError("The year must be between 1990 and 2200.")
        return year

    def save(self, commit: bool = True) -> Competition:
        """Save the competition, and a new version of its terms if they have changed."""
        competition: Competition = super().save(commit)
        set_terms(competition, self.cleaned_data["terms"])
        return competition


class TrackForm(_Plain, forms.ModelForm):
    """A track with its rules."""

    class Meta:
        """The editable fields."""

        model = Track
        fields = (
            *("title", "text", "competes", "wins", "listed", "inapplicable", "floor", "most_entries"),
            *("one_a_team", "prizes"),
            *("split_ties", "regions", "species", "tasks", "static_images", "single_time_bin", "notes", "order"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._visual = _is_visual(self.instance)
        if not self._visual:
            del self.fields["static_images"], self.fields["single_time_bin"]
            self.fields["regions"].help_text = self.fields["tasks"].help_text = "Separated by commas. Empty: any."

    def clean_regions(self) -> str:
        """Refuse regions that models do not record from."""
        return _choice(self.cleaned_data["regions"], REGIONS if self._visual else None)

    def clean_tasks(self) -> str:
        """Refuse tasks that models do not engage on."""
        return _choice(self.cleaned_data["tasks"], TASKS if self._visual else None)

    def clean_species(self) -> str:
        """Normalise the species."""
        return _choice(self.cleaned_data["species"].lower(), None)


def _is_visual(track: Track) -> bool:
    """Whether the terms of the rules on images, and their regions and tasks, apply to a track."""
    return domain(track.competition.domain).wording.stimulus == "image"


def _choice(text: str, allowed: Any) -> str:
    chosen = parts_of(text)
    invalid = [name for name in chosen if allowed is not None and name not in allowed]
    if invalid:
        raise ValidationError(f"{', '.join(invalid)}: must be one of {', '.join(allowed)}.")
    return ", ".join(chosen)


SECTIONS: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "dates": ("Dates", Milestone, ("kind", "title", "announced", "order")),
    "people": ("Organisers and sponsors", Person, ("role", "name", "affiliation", "url", "order")),
    "programme": ("Programme", ProgrammeItem, ("time", "title", "people", "order")),
    "questions": ("Questions and critiques", Question, ("kind", "question", "answer", "order")),
}
"""Lists of a competition: title, table, fields."""


class _Rows(BaseInlineFormSet):
    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "label_suffix": ""}

    def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
        super().add_fields(form, index)
        for field in form.fields.values():
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs["rows"] = 3
        if "DELETE" in form.fields:
            form.fields["DELETE"].label = "Remove"


class _Milestones(_Rows):
    def clean(self) -> None:
        """Refuse several deadlines, and the removal of an announced one."""
        super().clean()
        removed = [
            form.instance
            for form in self.forms
            if form.cleaned_data and form.cleaned_data.get("DELETE") and form.instance.kind == Milestone.Kind.DEADLINE
        ]
        if removed and self.instance.published:
            raise ValidationError(
                "The deadline has been announced and cannot be removed. Add a new date below the old one."
            )
        remaining = [
            form.cleaned_data.get("kind")
            for form in self.forms
            if form.cleaned_data and not form.cleaned_data.get("DELETE")
        ]
        for kind, label in Milestone.Kind.choices:
            if kind != Milestone.Kind.OTHER and remaining.count(kind) > 1:
                raise ValidationError(f"There are two entries “{label}”. List all its announced dates in one.")


def section_formset(section: str) -> Any:
    """The formset of a list of a competition."""
    _, table, fields = SECTIONS[section]
    rows = _Milestones if table is Milestone else _Rows
    return inlineformset_factory(
        Competition,
        table,
        formset=rows,
        fields=fields,
        extra=2,
        max_num=_MOST,
        formfield_callback=_field,
        can_delete_extra=False,
    )


def _field(column: Any, **options: Any) -> Any:
    """Return the form field of a column; URLs without a scheme are HTTPS."""
    return column.formfield(**options, **({"assume_scheme": "https"} if isinstance(column, URLField) else {}))


def awards_formset() -> Any:
    """The formset of the winners of a track."""

    class Awards(_Rows):
        def add_fields(self, form: forms.ModelForm, index: int | None) -> None:
            super().add_fields(form, index)
            form.fields["entries"].queryset = self.instance.entries.all()  # type: ignore[attr-defined] # the form field has choices

    fields = ("place", "title", "people", "prize", "entries", "order")
    widgets = {"entries": forms.CheckboxSelectMultiple}
    return inlineformset_factory(
        Track, Award, formset=Awards, fields=fields, widgets=widgets, extra=2, max_num=_MOST, can_delete_extra=False
    )


class EnterForm(_Plain, forms.Form):
    """Enter a model or benchmark of the user."""

    what = forms.ChoiceField(label="Your entry")
    team = forms.CharField(max_length=200, help_text="Public. The same for all your entries.")
    title = forms.CharField(max_length=300, required=False, help_text="Shown with your entry.")

    def __init__(self, *args: Any, user: User, track: Track, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = {option.key: option for option in candidates(user, track)}
        choice = self.fields["what"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(option.key, option.label) for option in self.offered.values()]
        team = team_of(user, track.competition)
        self.fields["team"].initial = user.display_name if team is None else team.name
        self.fields["team"].disabled = team is not None
        self.terms = track.competition.terms
        if track.competes == Track.Competes.BENCHMARKS:
            self._add_declarations(track)
        if self.terms is not None:
            self.fields["accept"] = forms.BooleanField(label=f"We accept the terms, {self.terms}")

    def clean_team(self) -> str:
        """Normalise the name of a new team."""
        name: str = self.cleaned_data["team"]
        return name if self.fields["team"].disabled else clean_name(name)

    def _add_declarations(self, track: Track) -> None:
        help_text = "Used if the benchmark's metadata do not say."
        regions: Iterable[str] = REGIONS
        tasks: Iterable[tuple[str, str]] = TASKS.items()
        if not _is_visual(track):
            regions, tasks = parts_of(track.regions), [(task, task) for task in parts_of(track.tasks)]
        for name, choices in (("regions", [(region, region) for region in regions]), ("tasks", list(tasks))):
            if getattr(track, name):
                self.fields[name] = forms.MultipleChoiceField(
                    choices=choices,
                    required=False,
                    widget=forms.CheckboxSelectMultiple,
                    help_text=help_text,
                    label=name.title(),
                )
        if track.species:
            known = parts_of(track.species)
            self.fields["species"] = forms.MultipleChoiceField(
                choices=[(species, species) for species in [*known, "another one"]],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=help_text,
            )
        if track.static_images:
            self.fields["static_images"] = forms.NullBooleanField(
                label="Stimuli are static images",
                required=False,
                widget=forms.Select(choices=[("", "not stated"), ("true", "yes"), ("false", "no")]),
                help_text=help_text,
            )
        if track.single_time_bin:
            self.fields["time_bins"] = forms.IntegerField(
                label="Time bins", required=False, min_value=1, max_value=10_000, help_text=help_text
            )

    @property
    def candidate(self) -> Candidate:
        """The chosen candidate."""
        return self.offered[self.cleaned_data["what"]]

    @property
    def declared(self) -> dict[str, Any]:
        """The member's declarations about it."""
        names = ("regions", "species", "tasks", "static_images", "time_bins")
        return {name: self.cleaned_data[name] for name in names if self.cleaned_data.get(name) not in (None, "", [])}


class AddEntryForm(_Plain, forms.ModelForm):
    """An entry that organisers received by other means."""

    class Meta:
        """The editable fields."""

        model = Entry
        fields = ("team", "title", "identifier", "entered")
        help_texts: ClassVar[dict[str, str]] = {
            "identifier": "Public, even if the site does not have it. Empty if not known.",
            "entered": "UTC.",
        }

    def clean(self) -> dict[str, Any]:
        """Refuse an entry without a name."""
        data = super().clean() or {}
        if not data.get("identifier") and not data.get("title"):
            raise ValidationError("Give a title or an identifier.")
        return data


class WithdrawForm(_Plain, forms.Form):
    """Withdraw an entry; organisers must give a reason."""

    because = forms.CharField(label="Reason", max_length=300, help_text="Public.")

    def __init__(self, *args: Any, own: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["because"].required = not own


class TeamForm(_Plain, forms.ModelForm):
    """A new team."""

    class Meta:
        """The editable fields."""

        model = Team
        fields = ("name",)

    def clean_name(self) -> str:
        """Refuse a name that is taken."""
        name = clean_name(self.cleaned_data["name"])
        if is_taken(self.instance.competition, name):
            raise ValidationError("There is already a team of this name.")
        return name


class AnnouncementForm(_Plain, forms.ModelForm):
    """An e-mail to participants."""

    class Meta:
        """The editable fields."""

        model = Announcement
        fields = ("subject", "text")
