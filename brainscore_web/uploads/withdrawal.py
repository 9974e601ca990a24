"""Withdrawal of uploads that nothing uses, and removal of interrupted and abandoned uploads."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Q
from django.db.models.deletion import PROTECT, RESTRICT
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Score
from brainscore_web.uploads.models import STALE_AFTER, Upload, UploadedFile
from brainscore_web.uploads.storage import StorageFailure, storage

__all__ = ["sweep", "uses_of", "withdraw"]

_MAX_USES_SHOWN = 5


def uses_of(upload: Upload) -> list[str]:
    """Say what uses an upload.

    Rows of other tables that point at it and forbid its deletion, and scores whose receipts name one of its files by
    hash.

    Parameters
    ----------
    upload : Upload
        Which.

    Returns
    -------
    list of str
        A few of them; empty if nothing does. Models that the upload's owner does not see are not named.
    """
    found = []
    for relation in Upload._meta.related_objects:
        if relation.on_delete in (PROTECT, RESTRICT):
            rows = relation.related_model._default_manager.filter(**{relation.field.name: upload})
            found += [f"{relation.related_model._meta.verbose_name} {row}" for row in rows[:_MAX_USES_SHOWN]]
    hashes = [one for file in upload.files.all() for one in (file.sha1, file.sha256) if one]
    if hashes:
        named = Q()
        for one in hashes:
            named |= Q(document__icontains=one)
        scores = Score.objects.filter(named)
        shown = scores.visible_to(upload.owner or AnonymousUser()).select_related("model", "benchmark")
        found += [
            f"score of {score.model.identifier} on {score.benchmark.identifier}" for score in shown[:_MAX_USES_SHOWN]
        ]
        if not found and scores.exists():
            found.append("scores that others keep private")
    return found


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


def sweep() -> int:
    """Clear what requests left that were killed, old drafts, and files of nobody; return how many.

    What was not finished is never counted, swept or not.
    """
    now = timezone.now()
    cleared = 0
    for slot in UploadedFile.objects.exclude(claim="").filter(touched__lt=now - STALE_AFTER):
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
