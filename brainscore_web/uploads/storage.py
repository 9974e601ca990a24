"""Storage of uploaded files: a folder that the site serves, or an S3 bucket."""

from __future__ import annotations

import functools
import os
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, sync_to_disk
from brainscore_core.supported_data_standards.brainio.buckets import S3Object, is_public, object_url, signed_client
from brainscore_web.jobs.leases import Unavailable


class StorageFailure(UserError, Unavailable):
    """The storage is unreachable, refuses, or is full; no partial file remains."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message, remedy)
        self.why = "storage failed"


@dataclass(frozen=True)
class Grant:
    """Permission for a browser to send a file: address, form fields to send before the file, and duration."""

    url: str
    fields: dict[str, str] = field(default_factory=dict)
    lasts: timedelta = timedelta(0)


@dataclass(frozen=True)
class Place:
    """The final place of a file below the storage's prefix, with a version from `new_version`."""

    folder: str
    name: str
    version_id: str
    private: bool


@dataclass(frozen=True)
class Published:
    """A file in its final place."""

    bucket: str
    key: str
    version_id: str
    everybody: bool


@dataclass(frozen=True)
class LocalFile:
    """A file on this machine; `seal` changes if another file is sent with its token."""

    path: Path
    seal: str = ""


_BUCKET = "brainscore-storage"
_PREFIX = "brainscore-vision/data"


class FolderStorage:
    """Files below a folder: ``incoming/<token>`` until they are checked, then ``<bucket>/<key>/<version>``.

    The folder is created when the first file arrives. `BucketStorage` has the same methods.
    """

    origin: str | None = None  # the origin to which browsers send files directly; None: they send them to this site

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bucket = _BUCKET
        self._incoming = root / "incoming"

    def scratch(self, token: str) -> Path:
        """A file on this machine for the body of a request; `take` moves it."""
        self._incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._incoming / f"{token}{PART_SUFFIX}"

    def take(self, token: str) -> None:
        """Store the complete file that was written to `scratch`."""
        os.replace(self.scratch(token), self._incoming / token)
        sync_to_disk(self._incoming)

    def grant(self, token: str, *, name: str, size: int) -> Grant | None:
        """Let a browser send exactly `size` bytes directly to the storage; None if that is not possible."""
        return None

    def size(self, token: str) -> int | None:
        """The size of the file that arrived under a token; None if none did."""
        try:
            return (self._incoming / token).stat().st_size
        except FileNotFoundError:
            return None

    @contextmanager
    def at_hand(self, token: str, key: str, version_id: str) -> Iterator[LocalFile]:
        """Provide the file of a token on this machine, even if it is already published."""
        path = self._incoming / token
        if version_id and not (token and path.exists()):
            path = self._place(key, version_id)
        yield LocalFile(_required(path))

    def new_version(self) -> str:
        """A version id for publishing; empty if the storage creates version ids itself."""
        return secrets.token_urlsafe(24)

    def key_of(self, place: Place) -> str:
        # private files need no separate place: the site checks permissions for each download
        """The key of a place."""
        return f"{_PREFIX}/{place.folder}/{place.name}"

    def publish(self, token: str, place: Place, *, seal: str) -> Published:
        """Move a file to its place if it still has this seal; repeating this changes nothing."""
        key = self.key_of(place)
        path = self._place(key, place.version_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # it was moved earlier
            os.replace(self._incoming / token, path)
        _required(path).chmod(0o400)
        sync_to_disk(path.parent)
        return Published(self.bucket, key, place.version_id, everybody=False)

    def drop(self, token: str) -> None:
        """Remove all files of a token."""
        for path in (self.scratch(token), self._incoming / token):
            path.unlink(missing_ok=True)

    def delete(self, key: str, version_id: str) -> None:
        """Remove a published file."""
        path = self._place(key, version_id)
        path.unlink(missing_ok=True)
        with suppress(OSError):  # other versions exist
            path.parent.rmdir()

    def path(self, key: str, version_id: str) -> Path | None:
        """The path of a published file; None if it is not on this machine."""
        return self._place(key, version_id)

    def signed(self, key: str, version_id: str) -> str:
        """A signed address of a published file, valid for some minutes."""
        raise NotImplementedError("the site serves these files itself")

    def leftovers(self, older_than: float) -> Iterator[str]:
        """Tokens of unpublished files that arrived at least this many seconds ago."""
        limit = time.time() - older_than
        for path in self._incoming.glob("*"):
            with suppress(FileNotFoundError):
                if path.lstat().st_mtime < limit:
                    yield path.name.removesuffix(PART_SUFFIX)

    def _place(self, key: str, version_id: str) -> Path:
        return self.root / self.bucket / key / version_id


def _required(path: Path) -> Path:
    if not path.exists():
        raise StorageFailure("an uploaded file is no longer in the storage", remedy="upload it again")
    return path


_FOR_SENDING = 3600  # seconds for which a grant is valid
_FOR_READING = 600
_LARGEST_POST = 5 * 1024**3  # bytes, by S3's rules
_PARALLEL = 8  # requests at a time
_ACL = "public-read"


class BucketStorage:
    """Objects below a prefix: ``incoming/<token>`` until they are checked, then ``user_…/``, or ``private/user_…/``.

    The bucket keeps versions, and its policy makes only ``<prefix>/user_*`` public. In a bucket
    with ACLs, ``?acl=public-read`` makes each public object readable instead.
    """

    def __init__(self, address: str) -> None:
        url = urlsplit(address)
        options = dict(parse_qsl(url.query, keep_blank_values=True))
        acl = options.pop("acl", None)
        if not url.netloc or options or acl not in (None, _ACL):
            raise UserError(
                f"BRAINSCORE_SITE_UPLOADS is {address!r}", remedy=f"set it to s3://bucket/prefix, or …?acl={_ACL}"
            )
        self.bucket = url.netloc
        self._prefix = url.path.strip("/")
        self._acl = acl

    @property
    def origin(self) -> str | None:
        there = urlsplit(object_url(S3Object(self.bucket, "")))
        return f"{there.scheme}://{there.netloc}"

    def scratch(self, token: str) -> Path:
        return Path(tempfile.gettempdir()) / f"brainscore-{token}.part"

    def take(self, token: str) -> None:
        path = self.scratch(token)
        with _storage_errors("store a file in"):
            self._client.upload_file(str(path), self.bucket, self._arriving(token))
        path.unlink(missing_ok=True)

    def grant(self, token: str, *, name: str, size: int) -> Grant | None:
        if size > _LARGEST_POST:
            return None
        with _storage_errors("sign for"):
            limits = {"Conditions": [["content-length-range", size, size]], "ExpiresIn": _FOR_SENDING}
            grant = self._client.generate_presigned_post(self.bucket, self._arriving(token), **limits)
        return Grant(grant["url"], grant["fields"], timedelta(seconds=_FOR_SENDING))

    def size(self, token: str) -> int | None:
        head = self._head(self._arriving(token))
        return None if head is None else int(head["ContentLength"])

    @contextmanager
    def at_hand(self, token: str, key: str, version_id: str) -> Iterator[LocalFile]:
        source = self._arriving(token)
        head = self._head(source) if token else None
        if head is None and not version_id:
            raise StorageFailure("an uploaded file is no longer in the storage", remedy="upload it again")
        source, version = (key, version_id) if head is None else (source, self._version_of(head))
        with tempfile.TemporaryDirectory(prefix="brainscore-upload-") as folder:
            path = Path(folder) / "file"
            with _storage_errors("read"):
                self._client.download_file(self.bucket, source, str(path), {"VersionId": version})
            yield LocalFile(path, seal=version)

    def new_version(self) -> str:
        return ""

    def key_of(self, place: Place) -> str:
        return self._key(f"{'private/' if place.private else ''}{place.folder}/{place.name}")

    def publish(self, token: str, place: Place, *, seal: str) -> Published:
        key = self.key_of(place)
        head = self._head(key)
        if head is None or head["Metadata"].get("upload") != token:
            extra: dict[str, Any] = {} if place.private or self._acl is None else {"ACL": self._acl}
            with _storage_errors("publish in"):
                # copies the version that was checked: the grant may still be valid for sending another one
                source = {"Bucket": self.bucket, "Key": self._arriving(token), "VersionId": seal}
                extra |= {"Metadata": {"upload": token}, "MetadataDirective": "REPLACE"}
                self._client.copy_object(Bucket=self.bucket, Key=key, CopySource=source, **extra)
            head = self._head(key)
        if head is None or head["Metadata"].get("upload") != token:
            raise StorageFailure("another upload of the same data is in progress", remedy="upload it again")
        version = self._version_of(head)
        everybody = not place.private and bool(is_public(S3Object(self.bucket, key), version))
        return Published(self.bucket, key, version, everybody)

    def drop(self, token: str) -> None:
        self.scratch(token).unlink(missing_ok=True)
        self._remove(self._arriving(token), None)

    def delete(self, key: str, version_id: str) -> None:
        self._remove(key, version_id)

    def path(self, key: str, version_id: str) -> Path | None:
        return None

    def signed(self, key: str, version_id: str) -> str:
        parameters = {"Bucket": self.bucket, "Key": key, "VersionId": version_id}
        with _storage_errors("sign for"):
            return str(self._client.generate_presigned_url("get_object", Params=parameters, ExpiresIn=_FOR_READING))

    def leftovers(self, older_than: float) -> Iterator[str]:
        limit = time.time() - older_than
        prefix = self._arriving("")
        with _storage_errors("list"):
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix):
                for item in page.get("Contents", ()):
                    if item["LastModified"].timestamp() < limit:
                        yield item["Key"].removeprefix(prefix)

    def missing(self, objects: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the keys of published objects of which a version does not exist, or has another size."""

        def is_there(wanted: Mapping[str, Any]) -> bool:
            head = self._head(wanted["key"], bucket=wanted["bucket"], version_id=wanted["version_id"])
            return head is not None and (wanted["size"] is None or head["ContentLength"] == wanted["size"])

        with ThreadPoolExecutor(_PARALLEL) as pool:
            exists = list(pool.map(is_there, objects))
        return [wanted["key"] for wanted, there in zip(objects, exists, strict=True) if not there]

    @property
    def _client(self) -> Any:
        return signed_client()

    def _key(self, below: str) -> str:
        return f"{self._prefix}/{below}" if self._prefix else below

    def _arriving(self, token: str) -> str:
        return self._key(f"incoming/{token}")

    def _head(self, key: str, *, bucket: str = "", version_id: str = "") -> dict[str, Any] | None:
        from botocore.exceptions import ClientError

        version = {"VersionId": version_id} if version_id else {}
        with _storage_errors("read metadata from"):
            try:
                head: dict[str, Any] = self._client.head_object(Bucket=bucket or self.bucket, Key=key, **version)
            except ClientError as error:
                status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
                if status == 404 or (status == 400 and version_id):  # 400: not the name of a version
                    return None
                raise
            return head

    def _version_of(self, head: dict[str, Any]) -> str:
        version = str(head.get("VersionId") or "")
        if version in ("", "null"):
            raise StorageFailure(
                f"the bucket {self.bucket} keeps no versions", remedy="ask its owner to enable versioning"
            )
        return version

    def _remove(self, key: str, version_id: str | None) -> None:
        """Remove one version, or all versions if none is given."""
        with _storage_errors("delete from"):
            versions = [version_id] if version_id is not None else self._versions(key)
            for version in versions:
                self._client.delete_object(Bucket=self.bucket, Key=key, VersionId=version)

    def _versions(self, key: str) -> list[str]:
        pages = self._client.get_paginator("list_object_versions").paginate(Bucket=self.bucket, Prefix=key)
        return [
            item["VersionId"]
            for page in pages
            for group in ("Versions", "DeleteMarkers")
            for item in page.get(group, ())
            if item["Key"] == key
        ]


@contextmanager
def _storage_errors(doing: str) -> Iterator[None]:
    """Convert errors of S3 into a StorageFailure without secrets."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        raise StorageFailure(f"cannot {doing} the bucket: it responded with {code}", "try again later") from error
    except (BotoCoreError, Boto3Error) as error:
        raise StorageFailure(f"cannot {doing} the bucket: {type(error).__name__}", "try again later") from error


Storage = FolderStorage | BucketStorage


def storage() -> Storage:
    """Return the storage of the settings."""
    return _made(str(settings.UPLOADS["address"]))


@functools.lru_cache(maxsize=8)
def _made(address: str) -> Storage:
    if address.startswith("s3://"):
        return BucketStorage(address)
    if "://" in address:
        raise UserError(
            f"BRAINSCORE_SITE_UPLOADS is {address!r}", remedy="set it to a folder, or to s3://bucket/prefix"
        )
    return FolderStorage(Path(address).expanduser().absolute())
