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
from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import expired_leases
from brainscore_web.leaderboard.models import Score, Visibility
from brainscore_web.uploads.models import RECEPTIONS, Upload, UploadedFile
from brainscore_web.uploads.storage import StorageFailure, storage

_MAX_USES_SHOWN = 5


def uses_of(upload: Upload) -> list[str]:
    """List what uses an upload.

    These are rows of other tables that refer to it and forbid its deletion, and scores whose receipts contain the hash
    of one of its files.
    """
    uses = []
    for relation in Upload._meta.related_objects:
        if relation.on_delete in (PROTECT, RESTRICT):
            rows = relation.related_model._default_manager.filter(**{relation.field.name: upload})
            uses += [f"{relation.related_model._meta.verbose_name} {row}" for row in rows[:_MAX_USES_SHOWN]]
    hashes = [digest for file in upload.files.all() for digest in (file.sha1, file.sha256) if digest]
    if hashes:
        named = Q()
        for digest in hashes:
            named |= Q(document__icontains=digest)
        scores = Score.objects.filter(named)
        shown = scores.visible_to(upload.owner or AnonymousUser()).select_related("model", "benchmark")
        uses += [
            f"score of {score.model.identifier} on {score.benchmark.identifier}" for score in shown[:_MAX_USES_SHOWN]
        ]
        if not uses and scores.exists():
            uses.append("private scores of other users")
    return uses


_DRAFTS = timedelta(days=14)
_LEFTOVERS = 24 * 3600.0  # seconds


def withdraw(upload: Upload, *, while_checked: bool = False) -> None:
    """Remove the files of an unused upload. Its row stays, so that its versions are not used again."""
    with transaction.atomic():
        row = Upload.objects.select_for_update(of=("self",)).get(pk=upload.pk)
        if row.state == Upload.State.WITHDRAWN:
            return
        if row.state == Upload.State.CHECKING and not while_checked:
            raise UserError("the upload is being checked", remedy="wait until the checks are complete")
        if used := uses_of(row):
            raise UserError(f"the upload is used by {', '.join(used)}", remedy="ask the administrators")
        files = list(row.files.all())
        row.state, row.changed = Upload.State.WITHDRAWN, timezone.now()
        row.save(update_fields=["state", "changed"])
        row.files.update(claim="", reserved=0, size=None, token="")
        transaction.on_commit(lambda: _remove(files))


def withdraw_private_uploads(owner: User) -> None:
    """Withdraw unpublished and private uploads of an owner whose account is deleted; uploads in use stay."""
    for upload in Upload.objects.filter(owner=owner).exclude(state=Upload.State.WITHDRAWN):
        if upload.state != Upload.State.ACCEPTED or upload.visibility == Visibility.PRIVATE:
            with suppress(UserError):
                withdraw(upload, while_checked=True)


def sweep() -> int:
    """Remove leftovers of killed requests, old drafts, and files without an upload; return their number.

    Unfinished files are never counted, whether removed or not.
    """
    now = timezone.now()
    cleared = 0
    for lease in expired_leases(RECEPTIONS):
        if lease.finish(reserved=0):
            storage().drop(lease.token)
            cleared += 1
    for draft in Upload.objects.filter(state=Upload.State.RECEIVING, changed__lt=now - _DRAFTS):
        with suppress(UserError):
            withdraw(draft)
            cleared += 1
    for token in storage().leftovers(_LEFTOVERS):
        rows = UploadedFile.objects.filter(token=token) | UploadedFile.objects.filter(claim=token)
        if not rows.exists():
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
