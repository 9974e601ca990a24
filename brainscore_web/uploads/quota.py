"""Limits on uploads, and how much storage a user has used."""

from __future__ import annotations

from dataclasses import dataclass, fields

from django.conf import settings
from django.db.models import Q, Sum
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import STALE_AFTER, Upload, UploadedFile

__all__ = ["Limits", "bytes_used", "limits"]


@dataclass(frozen=True)
class Limits:
    """What is taken; sizes in bytes.

    Attributes
    ----------
    file, table : int
        Size of a file, and of a table.
    person : int
        What all uploads of a person may take up together.
    drafts : int
        How many unfinished uploads a person may have.
    memory : int
        What checking one upload may use.
    seconds : int
        How long checking one upload may take.
    inline : int
        Up to which size an upload is checked while its sender waits.
    members : int
        How many files an archive may hold.
    unpacked, ratio : int
        How large an archive or assembly may become when it is unpacked, and how many times its size.
    pixels : int
        Of one image.
    """

    file: int = 5_000_000_000
    table: int = 200_000_000
    person: int = 50_000_000_000
    drafts: int = 20
    memory: int = 8_000_000_000
    seconds: int = 3600
    inline: int = 10_000_000
    members: int = 200_000
    unpacked: int = 20_000_000_000
    ratio: int = 200
    pixels: int = 100_000_000

    def of(self, kind: str) -> int:
        """How large a file of this kind may be."""
        return min(self.file, self.table) if kind == "csv" else self.file


def limits() -> Limits:
    """What the settings say; what they leave out is as above."""
    known = {one.name for one in fields(Limits)}
    return Limits(**{name: value for name, value in settings.UPLOADS.items() if name in known})


_KEPT = (Upload.State.RECEIVING, Upload.State.CHECKING, Upload.State.ACCEPTED)


def bytes_used(owner: User, *, without: UploadedFile | None = None) -> int:
    """Bytes of a person's files, and of those that are being received.

    Parameters
    ----------
    owner : User
        Whose. Lock the row before, where something is decided by the answer.
    without : UploadedFile, optional
        A file that is not counted.
    """
    files = UploadedFile.objects.filter(upload__owner=owner, upload__state__in=_KEPT)
    if without is not None:
        files = files.exclude(pk=without.pk)
    alive = Q(touched__gt=timezone.now() - STALE_AFTER) & ~Q(claim="")
    sums = files.aggregate(there=Sum("size"), coming=Sum("reserved", filter=alive))
    return (sums["there"] or 0) + (sums["coming"] or 0)
