"""Receive files: claimed by one request each, counted before and after, kept whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import time
import unicodedata
import uuid
from contextlib import suppress
from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import STALE_AFTER, Upload, UploadedFile
from brainscore_web.uploads.quota import bytes_used, limits
from brainscore_web.uploads.storage import Grant, StorageFailure, storage

__all__ = ["Refused", "finish_direct_upload", "grant_direct_upload", "receive", "release_file", "reserve_file"]

_FIELD = "file"
_ENVELOPE = 16_384  # bytes that a form needs around its file, at most
_CHUNK = 1 << 18
_HEARTBEAT = 10.0  # seconds
_SHA1 = re.compile(r"[0-9a-f]{40}")


class Refused(UserError):
    """A file is not taken; `status` is that of the answer."""

    def __init__(self, message: str, remedy: str, *, status: int = 400) -> None:
        super().__init__(message, remedy)
        self.status = status


def reserve_file(upload: Upload, kind: str, announced: int, *, sent_as: str = "") -> UploadedFile:
    """Reserve room for a file, and the right to send it; what was sent before stays until this one is there.

    Parameters
    ----------
    upload : Upload
        Of whom.
    kind : str
        ``'csv'``, ``'zip'`` or ``'nc'``.
    announced : int
        How many bytes will come, at most.
    sent_as : str
        Its name at the sender's.

    Raises
    ------
    Refused
        It is too large, there is no room, or another request sends it already.
    """
    _require_size(announced, kind)
    with transaction.atomic():
        owner = User.objects.select_for_update().get(pk=upload.owner_id)
        current = Upload.objects.select_for_update().filter(pk=upload.pk, state=Upload.State.RECEIVING).first()
        if current is None:
            raise Refused("this upload takes no files any more", "begin a new one", status=409)
        slot = UploadedFile.objects.get_or_create(upload=current, kind=kind)[0]
        if slot.streaming:
            raise Refused(f"this {kind.upper()} is being uploaded already", "wait until it is there", status=409)
        _require_room(owner, slot, announced)
        dead = slot.claim  # of a request that ended without a word
        slot.claim, slot.reserved, slot.touched = uuid.uuid4().hex, announced, timezone.now()
        slot.sent_as = clean_name(sent_as) or slot.sent_as
        slot.save()
    _drop(dead)
    return slot


def finish(slot: UploadedFile, size: int, *, sent_as: str = "", sha1: str = "") -> None:
    """Count a file that arrived whole; from here on it belongs to its upload.

    Raises
    ------
    Refused
        There is no room after all, or the request was taken for dead meanwhile.
    """
    _require_size(size, slot.kind)
    with transaction.atomic():
        owner = User.objects.select_for_update().get(pk=slot.upload.owner_id)
        _require_room(owner, slot, size)
        before = UploadedFile.objects.filter(pk=slot.pk).values_list("token", flat=True).first()
        done = UploadedFile.objects.filter(
            pk=slot.pk, claim=slot.claim, upload__state=Upload.State.RECEIVING
        ).update(
            claim="", reserved=0, token=slot.claim, size=size, expected_sha1=sha1, touched=timezone.now(),
            sent_as=clean_name(sent_as) or slot.sent_as,
        )  # fmt: skip
        if not done:
            raise Refused("the upload was interrupted for too long", "send the file again", status=409)
    _drop(before)


def _drop(token: str | None) -> None:
    if token:
        with suppress(StorageFailure, OSError):  # the sweep removes it
            storage().drop(token)


def release_file(slot: UploadedFile) -> None:
    """Free what a request reserved, and remove what it wrote."""
    UploadedFile.objects.filter(pk=slot.pk, claim=slot.claim).update(claim="", reserved=0)
    _drop(slot.claim)


def receive(request: HttpRequest, upload: Upload, kind: str) -> QueryDict:
    """Take the file of a form, as it comes, into the storage; return the form's fields.

    Raises
    ------
    Refused
        Nothing was kept.
    """
    length = _length(request)
    if length > limits().of(kind) + _ENVELOPE:
        raise _too_large(kind)
    slot = reserve_file(upload, kind, min(length, limits().of(kind)))
    try:
        fields, taken = _parse(request, slot, length)
        # a token may stand in the form instead of the header: it is looked at before anything is kept
        require_csrf_token(request, fields)
        _require_kind(taken.sent_as, kind)
        sha1 = _sha1_in(fields)
        storage().take(slot.claim)
        finish(slot, taken.count, sent_as=taken.sent_as, sha1=sha1)
    except BaseException as error:
        release_file(slot)
        told = _as_refusal(error)
        if told is error:
            raise
        raise told from error
    return fields


def grant_direct_upload(upload: Upload, kind: str, size: int, *, sent_as: str) -> tuple[UploadedFile, Grant] | None:
    """Let a browser send a file to the storage itself; None where the site takes it."""
    if storage().origin is None:
        return None
    _require_kind(sent_as, kind)
    slot = reserve_file(upload, kind, size, sent_as=sent_as)
    try:
        made = storage().grant(slot.claim, name=slot.name, size=size)
    except StorageFailure:
        release_file(slot)
        raise
    if made is None:
        release_file(slot)
        return None
    # nothing is heard of it until it is there; another grant may take its place any time
    until = timezone.now() + made.lasts + STALE_AFTER
    UploadedFile.objects.filter(pk=slot.pk, claim=slot.claim).update(touched=until)
    return slot, made


def finish_direct_upload(upload: Upload, kind: str, fields: QueryDict) -> None:
    """Count what a browser sent to the storage itself; the form may say which SHA-1 is expected.

    Raises
    ------
    Refused
        Nothing is there, or more than was allowed.
    """
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
    """A sender's file name, as it may be shown: no folders, nothing invisible."""
    last = name.replace("\\", "/").rpartition("/")[2]
    seen = "".join(one for one in unicodedata.normalize("NFC", last) if unicodedata.category(one)[0] != "C")
    return seen[:255]


def require_csrf_token(request: HttpRequest, fields: QueryDict) -> None:
    """Refuse a form that another site made the browser send."""
    from django.middleware.csrf import CsrfViewMiddleware

    token = fields.get("csrfmiddlewaretoken")
    if token and "HTTP_X_CSRFTOKEN" not in request.META:
        request.META["HTTP_X_CSRFTOKEN"] = token

    def view(_request: HttpRequest) -> None: ...

    guard = CsrfViewMiddleware(lambda _request: None)  # type: ignore[arg-type,return-value] # it is asked, and calls nothing
    guard.process_request(request)
    if guard.process_view(request, view, (), {}) is not None:
        raise Refused("the form came from elsewhere, or is too old", "reload the page and send it again", status=403)


class _Writer(FileUploadHandler):
    """Writes the one file of a form where the storage says."""

    chunk_size = _CHUNK

    def __init__(self, request: HttpRequest, slot: UploadedFile) -> None:
        super().__init__(request)
        self.slot, self.count, self.sent_as = slot, 0, ""
        self._limit = limits().of(slot.kind)
        self._stream: Any = None
        self._beat = time.monotonic()

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
        if time.monotonic() - self._beat > _HEARTBEAT:
            self._beat = time.monotonic()
            UploadedFile.objects.filter(pk=self.slot.pk, claim=self.slot.claim).update(touched=timezone.now())

    def file_complete(self, file_size: int) -> None:
        """Hand nothing on: the file is where it belongs."""

    def settle(self) -> None:
        """Let it survive a crash of the machine."""
        if self._stream is None or not self.count:
            raise Refused("no file came, or an empty one", "choose the file that packaging made")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _CountedBody:
    """A request's body that says how much of it was read."""

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
            raise Refused(f"the connection broke off after {body.count} of {length} bytes", "send the file again")
        writer.settle()
    finally:
        writer.close()
    return fields, writer


def _as_refusal(error: BaseException) -> BaseException:
    """What went wrong, in words for the sender where it is theirs to know."""
    if isinstance(error, MultiPartParserError):
        return Refused("the form cannot be read", "send it with a browser, as the page has it")
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        if full:
            return Refused("the storage is full", "try again later, or tell the administrators", status=507)
        return Refused("the connection broke off, or the storage failed", "send the file again", status=400)
    if isinstance(error, StorageFailure):
        return Refused(error.message, error.remedy or "try again later", status=503)
    return error


def _sha1_in(fields: QueryDict) -> str:
    sha1 = fields.get("sha1", "").strip().lower()
    if sha1 and not _SHA1.fullmatch(sha1):
        raise Refused("the sha1 is not one", "paste the 40 digits that packaging printed, or leave it empty")
    return sha1


def _length(request: HttpRequest) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not text.isdecimal() or not int(text):
        raise Refused("the size of the file is not known", "send it with a browser", status=411)
    if not (request.content_type or "").startswith("multipart/form-data"):
        raise Refused("this is no form with a file", "send it as multipart/form-data, field file", status=415)
    return int(text)


def _require_size(size: int, kind: str) -> None:
    if size > limits().of(kind):
        raise _too_large(kind)
    if size < 1:
        raise Refused("the file is empty", "package it again")


def _too_large(kind: str) -> Refused:
    most = limits().of(kind) / 1e6
    return Refused(f"a {kind.upper()} may have {most:,.0f} MB here", "ask the administrators for more", status=413)


def _require_room(owner: User, slot: UploadedFile, size: int) -> None:
    free = limits().person - bytes_used(owner, without=slot)
    if size > free:
        raise Refused(
            f"you have {max(free, 0) / 1e6:,.1f} MB left, and this needs {size / 1e6:,.1f} MB",
            "withdraw uploads that you do not need, or ask the administrators for more room",
            status=413,
        )


def _require_kind(sent_as: str, kind: str) -> None:
    if not sent_as.lower().endswith(f".{kind}"):
        raise Refused(f"{sent_as or 'the file'} does not end in .{kind}", f"choose the .{kind} that packaging made")
