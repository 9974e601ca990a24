"""Forms for submitting plugins."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.examining import Refused, Source, Zip, source_at

_WHO = {
    "public": "everyone sees their scores",
    "private": "only you and the administrators see them and their scores; you can publish them later",
}


class RevisionForm(forms.Form):
    """A new revision: a ZIP file or an address, and a note."""

    archive = forms.FileField(
        label="ZIP file",
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        help_text="A plugin's folder, a folder with models/, benchmarks/, data/ or metrics/, or a whole repository.",
    )
    address = forms.CharField(
        label="Or a Git repository, or a pull request",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "autocomplete": "off"}),
        help_text="https://github.com/you/vision.git, or https://github.com/brain-score/vision/pull/123.",
    )
    commit = forms.CharField(
        label="Commit",
        required=False,
        max_length=250,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        help_text="A commit hash, branch or tag; the newest commit if empty. Not needed for a pull request.",
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="For the reviewer: what the plugins do, their paper, the scores that you expect.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)

    def clean(self) -> dict[str, Any]:
        """Determine the source of the plugins."""
        data = super().clean() or self.cleaned_data
        archive, address = data.get("archive"), data.get("address")
        if archive and address and not self.errors:
            raise forms.ValidationError("Choose a ZIP file or give an address, not both.")
        if not archive and not address and not self.errors:
            raise forms.ValidationError("Choose a ZIP file, or give the address of a repository or a pull request.")
        if not self.errors:
            try:
                data["source"] = _source(archive, address or "", data.get("commit") or "")
            except Refused as error:
                self.add_error("address", f"{error.message}: {error.remedy}.")
        return data

    @property
    def source(self) -> Source:
        """The source of the plugins; available once the form is valid."""
        source: Source = self.cleaned_data["source"]
        return source


class SubmissionForm(RevisionForm):
    """A new submission: its first revision, and who may see its models."""

    visibility = forms.ChoiceField(
        label="Your models",
        choices=[(value, f"{value}: {text}") for value, text in _WHO.items()],
        widget=forms.RadioSelect,
        initial=Visibility.PUBLIC,
        help_text="Scores of benchmarks are always public.",
    )
    field_order = ("archive", "address", "commit", "visibility", "note")


def _source(archive: UploadedFile | None, address: str, commit: str) -> Source:
    if archive is not None and archive.file is not None:
        return Zip(archive.file, archive.name or "")
    return source_at(address, commit)
