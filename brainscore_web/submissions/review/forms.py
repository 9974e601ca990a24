"""Forms for reviewers."""

from __future__ import annotations

from typing import Any

from django import forms

from brainscore_web.submissions.models import ASPECTS, PluginKind, Review
from brainscore_web.submissions.review.comments import MAX_COMMENT_LENGTH

_FINE = {"fine": True, "not": False, "none": None}
_NOTE = 2_000


class FilterForm(forms.Form):
    """Filters of the queue."""

    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=(
            ("review", "waits for review"),
            ("changes", "waits for changes"),
            ("queued", "being tested"),
            ("all", "all"),
        ),
    )
    kind = forms.ChoiceField(label="Plugins", required=False, choices=(("", "any"), *PluginKind.choices[1:]))
    who = forms.ChoiceField(
        label="Reviewer", required=False, choices=(("", "any"), ("mine", "me"), ("nobody", "not assigned"))
    )
    text = forms.CharField(label="Name", required=False, max_length=100)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)

    @property
    def asked(self) -> dict[str, str]:
        """The requested filters; invalid ones are ignored."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


class VerdictForm(forms.Form):
    """A decision with its explanation and a judgement of each aspect."""

    verdict = forms.ChoiceField(choices=Review.Verdict.choices)
    text = forms.CharField(
        label="Explanation",
        required=False,
        max_length=MAX_COMMENT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Sent to the submitter, with all open comments.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        for name, label in ASPECTS.items():
            self.fields[f"aspect-{name}"] = forms.ChoiceField(
                label=label,
                required=False,
                widget=forms.RadioSelect,
                choices=(("fine", "fine"), ("not", "not fine"), ("none", "does not apply")),
            )
            self.fields[f"note-{name}"] = forms.CharField(
                label=f"Note on {label[0].lower()}{label[1:]}", required=False, max_length=_NOTE
            )

    @property
    def rows(self) -> list[Any]:
        """The fields of each aspect."""
        return [(label, self[f"aspect-{name}"], self[f"note-{name}"]) for name, label in ASPECTS.items()]

    @property
    def aspects(self) -> dict[str, dict[str, Any]]:
        """The judged aspects."""
        data = self.cleaned_data
        return {
            name: {"fine": _FINE[data[f"aspect-{name}"]], "note": data[f"note-{name}"].strip()}
            for name in ASPECTS
            if data.get(f"aspect-{name}") in _FINE
        }
