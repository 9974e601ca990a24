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
    """Limits on uploads; sizes in bytes.

    Attributes
    ----------
    file, table : int
        The largest size of a file, and of a table.
    person : int
        The largest total size of a user's uploads.
    drafts : int
        How many unfinished uploads a user may have.
    memory : int
        Memory that the checks of an upload may use.
    seconds : int
        Time that the checks of an upload may take.
    inline : int
        The largest size of an upload that is checked while the user waits.
    members : int
        How many files an archive may have.
    unpacked, ratio : int
        The largest unpacked size of an archive or assembly, absolute and relative to its size.
    pixels : int
        The largest number of pixels of an image.
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
        """The largest size of a file of this kind."""
        return min(self.file, self.table) if kind == "csv" else self.file


def limits() -> Limits:
    """Return the limits in the settings, with the defaults above."""
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.UPLOADS.items() if name in known})


_KEPT = (Upload.State.RECEIVING, Upload.State.CHECKING, Upload.State.ACCEPTED)


def bytes_used(owner: User, *, without: UploadedFile | None = None) -> int:
    """Return the total size in bytes of a user's files, including those being received.

    Parameters
    ----------
    owner : User
        The owner. Lock the owner's row first if a decision depends on the result.
    without : UploadedFile, optional
        A file that is not counted.
    """
    files = UploadedFile.objects.filter(upload__owner=owner, upload__state__in=_KEPT)
    if without is not None:
        files = files.exclude(pk=without.pk)
    alive = Q(touched__gt=timezone.now() - STALE_AFTER) & ~Q(claim="")
    sums = files.aggregate(there=Sum("size"), coming=Sum("reserved", filter=alive))
    return (sums["there"] or 0) + (sums["coming"] or 0)
