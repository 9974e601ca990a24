"""What a person takes up, counted in the database and nowhere else."""

from __future__ import annotations

from django.db.models import Q, Sum
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import STALE, Upload, UploadedFile

__all__ = ["taken_by"]

_KEPT = (Upload.State.RECEIVING, Upload.State.CHECKING, Upload.State.ACCEPTED)


def taken_by(owner: User, *, without: UploadedFile | None = None) -> int:
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
    alive = Q(touched__gt=timezone.now() - STALE) & ~Q(claim="")
    sums = files.aggregate(there=Sum("size"), coming=Sum("reserved", filter=alive))
    return (sums["there"] or 0) + (sums["coming"] or 0)
