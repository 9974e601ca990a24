"""The form that starts an upload."""

from __future__ import annotations

from typing import Any

from django import forms

from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import CLASSES, Upload

_WHO = {
    "public": "everyone can load the data",
    "private": "only you and the administrators can load the data; scores on its benchmarks are still public",
}


class StartForm(forms.ModelForm):
    """Name, class and visibility of a data set."""

    identifier = forms.CharField(
        max_length=200, help_text="The name used for packaging: AuthorYear, or AuthorYear.subset.", label="Stimulus set"
    )
    assembly_identifier = forms.CharField(
        max_length=200, required=False, label="Assembly", help_text="Empty if it has the name of the stimulus set."
    )
    assembly_class = forms.ChoiceField(
        label="Class of the assembly", choices=[(name, name) for name in CLASSES], required=False
    )
    visibility = forms.ChoiceField(
        label="Who may load it",
        choices=[(value, f"{value}: {text}") for value, text in _WHO.items()],
        widget=forms.RadioSelect,
        initial=Visibility.PUBLIC,
    )

    class Meta:
        """The fields of an upload."""

        model = Upload
        fields = ("identifier", "assembly_identifier", "assembly_class", "visibility")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["label_suffix"] = ""
        super().__init__(*args, **kwargs)

    def clean_identifier(self) -> str:
        """Refuse identifiers that cannot be file names."""
        return _usable(self.cleaned_data["identifier"])

    def clean_assembly_identifier(self) -> str:
        """By default, use the name of the stimulus set."""
        return _usable(self.cleaned_data["assembly_identifier"] or self.cleaned_data.get("identifier") or "X")

    def clean_assembly_class(self) -> str:
        """By default, use the first class."""
        return self.cleaned_data["assembly_class"] or CLASSES[0]


def _usable(identifier: str) -> str:
    from brainscore_core.supported_data_standards.brainio.validation import check_identifier

    for finding in check_identifier(identifier):
        if finding.severity == "error":
            raise forms.ValidationError(f"{finding.culprit}: {finding.remedy}.")
    return identifier
