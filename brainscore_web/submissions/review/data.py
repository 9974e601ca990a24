"""Uploaded data that a revision's code names by hash or version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.models import Revision
from brainscore_web.submissions.review._code import hashes_of
from brainscore_web.submissions.texts import FileText
from brainscore_web.uploads.models import Upload, UploadedFile

__all__ = ["DataSet", "data_of"]

_SHOWN = 50


@dataclass(frozen=True)
class DataSet:
    """An upload that is named, as the reviewer may see it.

    Attributes
    ----------
    upload : Upload
        Which.
    files : tuple of UploadedFile
        Those that are named.
    hidden : bool
        Whether it is a private one of somebody else than the submitter: nothing but that is shown.
    opens : bool
        Whether the reviewer may open its page.
    facts : mapping
        What is in it.
    findings : tuple of mapping
        What its checks remarked.
    """

    upload: Upload
    files: tuple[UploadedFile, ...]
    hidden: bool
    opens: bool
    facts: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...]

    @property
    def accepted(self) -> bool:
        """Whether it is in storage, checked."""
        return self.upload.state == Upload.State.ACCEPTED

    @property
    def private(self) -> bool:
        """Whether not everybody can load it."""
        return self.upload.visibility == Visibility.PRIVATE


def data_of(revision: Revision, texts: Mapping[str, FileText], reader: User) -> list[DataSet]:
    """Find uploads by the hashes and versions that stand in the code.

    Parameters
    ----------
    revision : Revision
        Whose code.
    texts : mapping of str to FileText
        Its files.
    reader : User
        Who looks.
    """
    hashes, versions = hashes_of(texts)
    if not hashes and not versions:
        return []
    files = UploadedFile.objects.filter(Q(sha1__in=hashes) | Q(sha256__in=hashes) | Q(version_id__in=versions))
    files = files.select_related("upload__owner").order_by("upload__created", "upload", "kind")
    named: dict[Any, list[UploadedFile]] = {}
    for file in files[: _SHOWN * 3]:
        named.setdefault(file.upload_id, []).append(file)
    opens = set(Upload.objects.visible_to(reader).filter(pk__in=named).values_list("pk", flat=True))
    return [_shown(rows, revision, rows[0].upload_id in opens) for rows in list(named.values())[:_SHOWN]]


def _shown(files: list[UploadedFile], revision: Revision, opens: bool) -> DataSet:
    upload = files[0].upload
    theirs = upload.owner_id is not None and upload.owner_id == revision.submission.owner_id
    hidden = upload.visibility == Visibility.PRIVATE and not theirs and not opens
    facts = {} if hidden else upload.facts
    return DataSet(upload, tuple(files), hidden, opens, facts, () if hidden else tuple(upload.findings))
