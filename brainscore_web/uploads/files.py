"""Uploaded files: their receipt, the withdrawal of uploads that nothing uses, and removal of interrupted ones."""

from __future__ import annotations

import errno
import functools
import operator
import os
import re
import time
import unicodedata
import uuid
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.db import transaction
from django.db.models import Q, Sum
from django.db.models.deletion import PROTECT, RESTRICT
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import RENEWAL_SECONDS, Lease, expired_leases
from brainscore_web.leaderboard.models import Score, Visibility
from brainscore_web.uploads.models import RECEPTIONS, STALE_AFTER, Upload, UploadedFile
from brainscore_web.uploads.storage import Grant, StorageFailure, storage

_FIELD = "file"
_ENVELOPE = 16_384  # the most bytes that a form needs besides its file
_CHUNK = 1 << 18
_KEPT = (Upload.State.RECEIVING, Upload.State.CHECKING, Upload.State.ACCEPTED)
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Limits:
    """Limits on uploads; sizes in bytes."""

    # file, table: the largest size of a file, and of a table
    file: int = 5_000_000_000
    table: int = 200_000_000
    person: int = 50_000_000_000  # the largest total size of a user's uploads
    drafts: int = 20  # how many unfinished uploads a user may have
    memory: int = 8_000_000_000  # memory that the checks of an upload may use
    seconds: int = 3600  # time that the checks of an upload may take
    members: int = 200_000  # how many files an archive may have
    # unpacked, ratio: the largest unpacked size of an archive or assembly, absolute and relative to its size
    unpacked: int = 20_000_000_000
    ratio: int = 200
    pixels: int = 100_000_000  # the largest number of pixels of an image

    def of(self, kind: str) -> int:
        """The largest size of a file of this kind."""
        return min(self.file, self.table) if kind == "csv" else self.file


def limits() -> Limits:
    """Return the limits in the settings, with the defaults above."""
    names = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.UPLOADS.items() if name in names})


def bytes_used(owner: User, *, without: UploadedFile | None = None) -> int:
    """Return the total size in bytes of a user's files, including those being received."""
    files = UploadedFile.objects.filter(upload__owner=owner, upload__state__in=_KEPT)
    if without is not None:
        files = files.exclude(pk=without.pk)
    alive = Q(touched__gt=timezone.now() - STALE_AFTER) & ~Q(claim="")
    sums = files.aggregate(there=Sum("size"), coming=Sum("reserved", filter=alive))
    return (sums["there"] or 0) + (sums["coming"] or 0)


class Refused(UserError):
    """What was sent is refused; `status` is the HTTP status of the response."""

    retry_after = 60
    """Seconds after which to try again, if `status` is 429 or 503."""

    def __init__(self, message: str, remedy: str, *, status: int = 400) -> None:
        super().__init__(message, remedy)
        self.status = status


def reserve_file(upload: Upload, kind: str, announced: int, *, sent_as: str = "") -> UploadedFile:
    """Reserve space for a file and claim it for this request; an earlier file stays until this one has arrived."""
    _require_size(announced, kind)
    with transaction.atomic():
        owner = User.objects.select_for_update().get(pk=upload.owner_id)
        current = Upload.objects.select_for_update().filter(pk=upload.pk, state=Upload.State.RECEIVING).first()
        if current is None:
            raise Refused("this upload no longer accepts files", "start a new one", status=409)
        slot = UploadedFile.objects.get_or_create(upload=current, kind=kind)[0]
        if slot.streaming:
            message = f"this {kind.upper()} file is already being uploaded"
            raise Refused(message, "wait until the transfer is complete", status=409)
        _require_room(owner, slot, announced)
        dead = slot.claim  # of an interrupted request
        slot.claim, slot.reserved, slot.touched = uuid.uuid4().hex, announced, timezone.now()
        slot.sent_as = clean_name(sent_as) or slot.sent_as
        slot.save()
    drop(dead)
    return slot


def finish(slot: UploadedFile, size: int, *, sent_as: str = "", sha1: str = "") -> None:
    """Record a file that has arrived completely; from now on it belongs to its upload."""
    _require_size(size, slot.kind)
    with transaction.atomic():
        owner = User.objects.select_for_update().get(pk=slot.upload.owner_id)
        _require_room(owner, slot, size)
        previous = UploadedFile.objects.filter(pk=slot.pk).values_list("token", flat=True).first()
        open_upload = Upload.objects.select_for_update().filter(pk=slot.upload_id, state=Upload.State.RECEIVING)
        done = open_upload.exists() and _lease_of(slot).finish(
            reserved=0, token=slot.claim, size=size, expected_sha1=sha1, touched=timezone.now(),
            sent_as=clean_name(sent_as) or slot.sent_as,
        )  # fmt: skip
        if not done:
            raise Refused("the upload was interrupted for too long", "send the file again", status=409)
    drop(previous)


def _lease_of(slot: UploadedFile) -> Lease[UploadedFile]:
    return Lease(RECEPTIONS, slot, slot.claim)


def drop(token: str | None) -> None:
    """Remove what arrived under a token."""
    if token:
        with suppress(StorageFailure, OSError):  # the sweep removes it
            storage().drop(token)


def release_file(slot: UploadedFile) -> None:
    """Release a request's reservation, and remove what it wrote."""
    _lease_of(slot).finish(reserved=0)
    drop(slot.claim)


def receive(request: HttpRequest, upload: Upload, kind: str) -> QueryDict:
    """Stream the file of a form into the storage; return the form's fields."""
    length = _length(request)
    if length > limits().of(kind) + _ENVELOPE:
        raise _too_large(kind)
    slot = reserve_file(upload, kind, min(length, limits().of(kind)))
    try:
        fields, writer = _parse(request, slot, length)
        # the CSRF token may be in the form instead of the header; check it before storing anything
        require_csrf_token(request, fields)
        _require_kind(writer.sent_as, kind)
        sha1 = _sha1_in(fields)
        storage().take(slot.claim)
        finish(slot, writer.count, sent_as=writer.sent_as, sha1=sha1)
    except BaseException as error:
        release_file(slot)
        refusal = _as_refusal(error)
        if refusal is error:
            raise
        raise refusal from error
    return fields


def grant_direct_upload(upload: Upload, kind: str, size: int, *, sent_as: str) -> tuple[UploadedFile, Grant] | None:
    """Let a browser send a file directly to the storage; return None if the site must receive it."""
    if storage().origin is None:
        return None
    _require_kind(sent_as, kind)
    slot = reserve_file(upload, kind, size, sent_as=sent_as)
    try:
        granted = storage().grant(slot.claim, name=slot.name, size=size)
    except StorageFailure:
        release_file(slot)
        raise
    if granted is None:
        release_file(slot)
        return None
    # the site gets no updates until the file has arrived; another grant may replace this one at any time
    until = timezone.now() + granted.lasts + STALE_AFTER
    _lease_of(slot).rows().update(touched=until)
    return slot, granted


def finish_direct_upload(upload: Upload, kind: str, fields: QueryDict) -> None:
    """Record a file that a browser sent directly to the storage; the form may give the expected SHA-1."""
    sha1 = _sha1_in(fields)
    slot = upload.files.exclude(claim="").filter(kind=kind).first()
    size = None if slot is None else storage().size(slot.claim)
    if slot is None or size is None:
        raise Refused("no file arrived", "send it again", status=409)
    try:
        finish(slot, size, sha1=sha1)
    except Refused:
        release_file(slot)
        raise


def clean_name(name: str) -> str:
    """Return a file name without folders and invisible characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    visible = "".join(c for c in unicodedata.normalize("NFC", last) if unicodedata.category(c)[0] != "C")
    return visible[:255]


def require_csrf_token(request: HttpRequest, fields: QueryDict) -> None:
    """Refuse a form without a valid CSRF token."""
    from django.middleware.csrf import CsrfViewMiddleware

    token = fields.get("csrfmiddlewaretoken")
    if token and "HTTP_X_CSRFTOKEN" not in request.META:
        request.META["HTTP_X_CSRFTOKEN"] = token

    def view(_request: HttpRequest) -> None: ...

    guard = CsrfViewMiddleware(lambda _request: None)  # type: ignore[arg-type,return-value] # only its check is used
    guard.process_request(request)
    if guard.process_view(request, view, (), {}) is not None:
        message = "the form was sent from another site or is too old"
        raise Refused(message, "reload the page and send it again", status=403)


class _Writer(FileUploadHandler):
    """Writes the file of a form to the scratch file of the storage."""

    chunk_size = _CHUNK

    def __init__(self, request: HttpRequest, slot: UploadedFile) -> None:
        super().__init__(request)
        self.slot, self.count, self.sent_as = slot, 0, ""
        self._limit = limits().of(slot.kind)
        self._stream: Any = None
        self._lease = _lease_of(slot)
        self._last_renewal = time.monotonic()

    def new_file(self, field_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, *args, **kwargs)
        if field_name != _FIELD or self._stream is not None:
            raise SkipFile
        self.sent_as = clean_name(self.file_name or "")
        self._stream = storage().scratch(self.slot.claim).open("xb")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.count += len(raw_data)
        if self.count > self._limit:
            raise StopUpload(connection_reset=True)
        self._stream.write(raw_data)
        if time.monotonic() - self._last_renewal > RENEWAL_SECONDS:
            self._last_renewal = time.monotonic()
            self._lease.renew()

    def file_complete(self, file_size: int) -> None:
        """Return nothing: the file is already in its place."""

    def sync_to_disk(self) -> None:
        """Write the file to disk, so that it survives a crash of the machine."""
        if self._stream is None or not self.count:
            raise Refused("the file is missing or empty", "choose the file from packaging")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _CountedBody:
    """A request's body that counts the bytes read."""

    def __init__(self, request: HttpRequest) -> None:
        self._request, self.count = request, 0

    def read(self, size: int = -1) -> bytes:
        piece = self._request.read(size)
        self.count += len(piece)
        return piece


def _parse(request: HttpRequest, slot: UploadedFile, length: int) -> tuple[QueryDict, _Writer]:
    writer, body = _Writer(request, slot), _CountedBody(request)
    try:
        fields, _files = MultiPartParser(request.META, body, [writer], request.encoding).parse()
        if writer.count > limits().of(slot.kind):
            raise _too_large(slot.kind)
        if body.count != length:
            raise Refused(f"the connection was interrupted after {body.count} of {length} bytes", "send the file again")
        writer.sync_to_disk()
    finally:
        writer.close()
    return fields, writer


def _as_refusal(error: BaseException) -> BaseException:
    """Convert errors that the uploader should know about; return others unchanged."""
    if isinstance(error, MultiPartParserError):
        return Refused("the form cannot be read", "send the form of the page with a browser")
    if isinstance(error, OSError):
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return Refused("the storage is full", "try again later, or contact the administrators", status=507)
        return Refused("the connection was interrupted, or the storage failed", "send the file again", status=400)
    if isinstance(error, StorageFailure):
        return Refused(error.message, error.remedy or "try again later", status=503)
    return error


def _sha1_in(fields: QueryDict) -> str:
    sha1 = fields.get("sha1", "").strip().lower()
    if sha1 and not _SHA1.fullmatch(sha1):
        remedy = "paste the 40 digits that `brainscore package` printed, or leave it empty"
        raise Refused("the SHA-1 is not valid", remedy)
    return sha1


def _length(request: HttpRequest) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not text.isdecimal() or not int(text):
        raise Refused("the size of the file is not known", "send it with a browser", status=411)
    if not (request.content_type or "").startswith("multipart/form-data"):
        raise Refused("this is not a form with a file", "send it as multipart/form-data, field file", status=415)
    return int(text)


def _require_size(size: int, kind: str) -> None:
    if size > limits().of(kind):
        raise _too_large(kind)
    if size < 1:
        raise Refused("the file is empty", "package it again")


def _too_large(kind: str) -> Refused:
    limit = size_text(limits().of(kind))
    return Refused(f"a {kind.upper()} file may not exceed {limit}", "ask the administrators for more", status=413)


def _require_room(owner: User, slot: UploadedFile, size: int) -> None:
    free = limits().person - bytes_used(owner, without=slot)
    if size > free:
        raise Refused(
            f"you have {size_text(max(free, 0))} left, and this needs {size_text(size)}",
            "withdraw uploads that you do not need, or ask the administrators for more space",
            status=413,
        )


def _require_kind(sent_as: str, kind: str) -> None:
    if not sent_as.lower().endswith(f".{kind}"):
        raise Refused(f"{sent_as or 'the file'} does not end in .{kind}", f"choose the .{kind} file from packaging")


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
        scores = Score.objects.filter(functools.reduce(operator.or_, (Q(document__icontains=each) for each in hashes)))
        shown = scores.visible_to(upload.owner or AnonymousUser()).select_related("model", "benchmark")
        pairs = ((score.model.identifier, score.benchmark.identifier) for score in shown[:_MAX_USES_SHOWN])
        uses += [f"score of {model} on {benchmark}" for model, benchmark in pairs]
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
        drop(file.claim)
        drop(file.token)
        if file.version_id:
            storage().delete(file.key, file.version_id)
