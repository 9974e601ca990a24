"""Take uploads back, and clear what nobody needs any more."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import STALE, Upload, UploadedFile
from brainscore_web.uploads.storage import StorageFailure, storage
from brainscore_web.uploads.uses import uses_of

__all__ = ["sweep", "withdraw", "withdraw_what_is_private"]

_DRAFTS = timedelta(days=14)
_LEFTOVERS = 24 * 3600.0  # seconds


def withdraw(upload: Upload, *, while_checked: bool = False) -> None:
    """Remove the files of an upload that nothing uses; the row stays, so that nobody takes its versions for others.

    Parameters
    ----------
    upload : Upload
        Which.
    while_checked : bool
        Whether its checks may be broken off.

    Raises
    ------
    UserError
        If something uses it, or it is being checked.
    """
    with transaction.atomic():
        row = Upload.objects.select_for_update(of=("self",)).get(pk=upload.pk)
        if row.state == Upload.State.WITHDRAWN:
            return
        if row.state == Upload.State.CHECKING and not while_checked:
            raise UserError("it is being checked", remedy="wait until that is done")
        if used := uses_of(row):
            raise UserError(f"it is used by {', '.join(used)}", remedy="ask the administrators")
        files = list(row.files.all())
        row.state, row.changed = Upload.State.WITHDRAWN, timezone.now()
        row.save(update_fields=["state", "changed"])
        row.files.update(claim="", reserved=0, size=None, token="")
        transaction.on_commit(lambda: _remove(files))


def withdraw_what_is_private(owner: User) -> None:
    """Withdraw what nobody could see once its owner has left; what is used stays."""
    rest = Upload.objects.filter(owner=owner).exclude(state=Upload.State.WITHDRAWN)
    for upload in rest:
        if upload.state != Upload.State.ACCEPTED or upload.visibility == Visibility.PRIVATE:
            with suppress(UserError):
                withdraw(upload, while_checked=True)


def sweep() -> int:
    """Clear what requests left that were killed, old drafts, and files of nobody; return how many.

    What was not finished is never counted, swept or not.
    """
    now = timezone.now()
    cleared = 0
    for slot in UploadedFile.objects.exclude(claim="").filter(touched__lt=now - STALE):
        with transaction.atomic():
            done = UploadedFile.objects.filter(pk=slot.pk, claim=slot.claim).update(claim="", reserved=0)
        if done:
            storage().drop(slot.claim)
            cleared += 1
    for draft in Upload.objects.filter(state=Upload.State.RECEIVING, changed__lt=now - _DRAFTS):
        with suppress(UserError):
            withdraw(draft)
            cleared += 1
    for token in storage().leftovers(_LEFTOVERS):
        known = UploadedFile.objects.filter(token=token) | UploadedFile.objects.filter(claim=token)
        if not known.exists():
            storage().drop(token)
            cleared += 1
    return cleared


def _remove(files: list[UploadedFile]) -> None:
    for file in files:
        for token in (file.claim, file.token):
            if token:
                with suppress(StorageFailure):  # the sweep removes it
                    storage().drop(token)
        if file.version_id:
            storage().delete(file.key, file.version_id)
