"""What is said of a data set before its files come."""

from __future__ import annotations

from typing import Any

from django import forms

from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import CLASSES, Upload

__all__ = ["StartForm"]

_WHO = {
    "public": "everybody can load the data",
    "private": "only you and the administrators; scores on its benchmarks are public all the same",
}


class StartForm(forms.ModelForm):
    """Name, class and visibility of a data set."""

    identifier = forms.CharField(
        max_length=200, help_text="As packaged: AuthorYear, or AuthorYear.subset.", label="Stimulus set"
    )
    assembly_identifier = forms.CharField(
        max_length=200, required=False, label="Assembly", help_text="Empty: called like the stimulus set."
    )
    assembly_class = forms.ChoiceField(
        label="Class of the assembly", choices=[(name, name) for name in CLASSES], required=False
    )
    visibility = forms.ChoiceField(
        label="Who may load it",
        choices=[(one, f"{one}: {words}") for one, words in _WHO.items()],
        widget=forms.RadioSelect,
        initial=Visibility.PUBLIC,
    )

    class Meta:
        """Of an upload."""

        model = Upload
        fields = ("identifier", "assembly_identifier", "assembly_class", "visibility")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["label_suffix"] = ""
        super().__init__(*args, **kwargs)

    def clean_identifier(self) -> str:
        """Refuse what names no file."""
        return _usable(self.cleaned_data["identifier"])

    def clean_assembly_identifier(self) -> str:
        """Fill it in where it is the same."""
        return _usable(self.cleaned_data["assembly_identifier"] or self.cleaned_data.get("identifier") or "X")

    def clean_assembly_class(self) -> str:
        """Take the usual one where there is no assembly."""
        return self.cleaned_data["assembly_class"] or CLASSES[0]


def _usable(identifier: str) -> str:
    from brainscore_core.supported_data_standards.brainio.validation import check_identifier

    for finding in check_identifier(identifier):
        if finding.severity == "error":
            raise forms.ValidationError(f"{finding.culprit}: {finding.remedy}.")
    return identifier
