"""Receipts and claims in a bucket of S3, or of a compatible server."""

import io
import json
import os
import re
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

from brainscore_core.errors import UserError
from brainscore_core.files import STALE, file_digest
from brainscore_core.results.backend import FolderSurvey, StoreError, archive_of, from_archive, temporary_folder
from brainscore_core.results.claims import CLAIM_SECONDS, Held, parsed
from brainscore_core.supported_data_standards.brainio.buckets import CREDENTIALS_REMEDY, NoCredentials, signed_client

ANYTHING = object()
"""A write that replaces any object."""

_LARGEST_REQUEST = 100_000_000  # bytes of a file that is sent in one request
_BAD_CREDENTIALS = frozenset({"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"})
_CONFLICT = (409, 412)
_PERMISSIONS = "s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject"


class Occupied(StoreError):
    """An object exists that violates the condition of a write."""


class StoredObject(NamedTuple):
    """An object: its content, its hash for conditions, and its age in seconds by the server's clock."""

    data: bytes
    etag: str
    age: float


class Entry(NamedTuple):
    """An entry of a listing: name below the prefix, and age in seconds by the server's clock."""

    name: str
    age: float


class Bucket:
    """A prefix of a bucket.

    The address is ``s3://bucket`` or ``s3://bucket/prefix``. Raises UserError if it does not name a bucket.

    Examples
    --------
    >>> Bucket("s3://lab/results/").address_of("Some2026-pls/pixels/a.json")
    's3://lab/results/Some2026-pls/pixels/a.json'
    """

    def __init__(self, address: str) -> None:
        self.name, _, prefix = address.removeprefix("s3://").strip("/").partition("/")
        if not self.name:
            raise UserError(f"{address!r} does not name a bucket", remedy="write it as s3://bucket/folder")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @property
    def address(self) -> str:
        """Bucket and prefix."""
        return f"s3://{self.name}/{self._prefix}".rstrip("/")

    def address_of(self, name: str) -> str:
        """Return the address of an object."""
        return f"s3://{self.name}/{self._prefix}{name}"

    def listed(self, below: str, *, at_most: int = 1000) -> Iterator[Entry]:
        """List objects whose names start with `below`, with at most `at_most` objects per request."""
        client = self._client()
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=self.name, Prefix=self._prefix + below, PaginationConfig={"PageSize": at_most}
        )
        with self._store_errors(f"list {self.address}"):
            for page in pages:
                for item in page.get("Contents", ()):
                    yield Entry(item["Key"].removeprefix(self._prefix), _age(page, item["LastModified"]))

    def get(self, name: str) -> StoredObject | None:
        """Read an object; None if it does not exist."""
        with self._store_errors(f"read {self.address_of(name)}"):
            try:
                answer = self._client().get_object(Bucket=self.name, Key=self._prefix + name)
                return StoredObject(answer["Body"].read(), answer["ETag"], _age(answer, answer["LastModified"]))
            except self._client().exceptions.NoSuchKey:
                return None

    def head(self, name: str) -> str | None:
        """Return the hash of an object; None if it does not exist."""
        from botocore.exceptions import ClientError

        with self._store_errors(f"read {self.address_of(name)}"):
            try:
                return str(self._client().head_object(Bucket=self.name, Key=self._prefix + name)["ETag"])
            except ClientError as error:
                if _status(error) == 404:
                    return None
                raise

    def put(self, name: str, data: bytes, *, over: Any = ANYTHING) -> str:
        """Write an object.

        The name is below the prefix. `over` is what may be replaced: the object with this hash; nothing (None); any
        object (ANYTHING). Returns the hash of the new object. Raises Occupied if another object exists.
        """
        condition = {} if over is ANYTHING else {"IfNoneMatch": "*"} if over is None else {"IfMatch": over}
        with self._store_errors(f"write {self.address_of(name)}", conditional=bool(condition)):
            answer = self._client().put_object(Bucket=self.name, Key=self._prefix + name, Body=data, **condition)
        return str(answer["ETag"])

    def upload(self, path: Path, name: str) -> None:
        """Upload a file, a large one in parts."""
        with self._store_errors(f"upload {self.address_of(name)}"):
            if path.stat().st_size > _LARGEST_REQUEST:
                self._client().upload_file(str(path), self.name, self._prefix + name)
                return
            with path.open("rb") as file:
                self._client().put_object(Bucket=self.name, Key=self._prefix + name, Body=file)

    def download(self, name: str, path: Path) -> bool:
        """Download an object; False if it does not exist."""
        from botocore.exceptions import ClientError

        with self._store_errors(f"download {self.address_of(name)}"):
            try:
                self._client().download_file(self.name, self._prefix + name, str(path))
            except ClientError as error:
                if _status(error) == 404:
                    return False
                raise
        return True

    def delete(self, name: str, *, only: str | None = None) -> None:
        """Remove an object; with `only`, if it has this hash."""
        condition = {} if only is None else {"IfMatch": only}
        with self._store_errors(f"remove {self.address_of(name)}", conditional=only is not None):
            self._client().delete_object(Bucket=self.name, Key=self._prefix + name, **condition)

    def _client(self) -> Any:
        return signed_client()

    @contextmanager
    def _store_errors(self, doing: str, *, conditional: bool = False) -> Iterator[None]:
        """Convert errors of boto3 into a StoreError with a remedy."""
        self._client()  # raises an error with instructions if boto3 is missing
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

        try:
            yield
        except NoCredentialsError as error:
            raise NoCredentials("no AWS credentials were found", remedy=CREDENTIALS_REMEDY) from error
        except ParamValidationError as error:
            raise StoreError(f"cannot {doing}: {error}", remedy="write s3://bucket/folder") from error
        except ClientError as error:
            raise self._failure(error, doing, conditional=conditional) from error
        except Boto3Error as error:
            cause = error.__context__  # the error of an upload
            if isinstance(cause, ClientError):
                raise self._failure(cause, doing, conditional=False) from error
            raise StoreError(f"cannot {doing}: {error}", remedy=_CONNECTION) from error
        except BotoCoreError as error:
            raise StoreError(f"cannot {doing}: {error}", remedy=_CONNECTION) from error

    def _failure(self, error: Any, doing: str, *, conditional: bool) -> StoreError:
        status, code = _status(error), str(error.response.get("Error", {}).get("Code", ""))
        if conditional and (status in _CONFLICT or code == "NoSuchKey"):
            return Occupied(f"cannot {doing}: another process was faster", remedy="try again")
        if code in _BAD_CREDENTIALS:
            remedy = f"renew the credentials: {CREDENTIALS_REMEDY}"
        elif code == "RequestTimeTooSkewed":
            remedy = "set the clock of this machine"
        elif status in (401, 403):
            remedy = f"ask the owner of the bucket {self.name} for the permissions {_PERMISSIONS}"
        elif status == 404:
            remedy = f"check the name of the bucket {self.name}, or create it"
        elif status in (400, 501) and conditional:
            remedy = "use a server that supports conditional writes (If-None-Match, If-Match), or a folder"
        else:
            remedy = f"try again later, or ask the owner of the bucket {self.name}"
        return StoreError(f"cannot {doing}: the server answered {status} {code}".rstrip(), remedy=remedy)


_CONNECTION = "check the connection, the proxy (HTTPS_PROXY) and AWS_ENDPOINT_URL, and try again"


def _status(error: Any) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _age(answer: dict[str, Any], modified: datetime) -> float:
    """Seconds since `modified`, by the clock of the server."""
    date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    now = parsedate_to_datetime(date).timestamp() if date else time.time()
    return max(0.0, now - modified.timestamp())


_NAME = ".claim.json"


class BucketClaims:
    """Claims below a prefix of a bucket."""

    keeps_finished = True

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def get(self, pair: str) -> Held | None:
        """Read the claim of a pair, valid or expired; one for one receipt has expired when that exists."""
        held = self._held(f"{pair}/{_NAME}")
        if held is not None and not held.is_free and held.content.get("one_receipt"):
            # both times are of the machine that scores
            since = re.sub("[-:Z]", "", held.content["since"])
            files = (entry.name.rpartition("/")[2] for entry in self._bucket.listed(f"{pair}/"))
            if any(file.endswith(".json") and file[:1].isdigit() and file > since for file in files):
                return Held(held.content, CLAIM_SECONDS, held.mark)
        return held

    def take(self, pair: str, content: dict[str, Any], over: Held | None) -> str | None:
        """Replace `over` by a claim; None if another process was faster."""
        return self._write(pair, content, None if over is None else over.mark)

    def renew(self, pair: str, content: dict[str, Any], mark: str) -> str | None:
        """Renew a claim; None if another process has taken it over."""
        return self._write(pair, content, mark)

    def release(self, pair: str, content: dict[str, Any], mark: str) -> None:
        """Remove a claim, unless another process has taken it over."""
        name = f"{pair}/{_NAME}"
        try:
            self._bucket.delete(name, only=mark)
        except Occupied:
            return
        except StoreError:
            # a server without conditional removal; no process takes over a valid claim
            if self._bucket.head(name) == mark:
                self._bucket.delete(name)

    def all(self) -> Iterator[Held]:
        """Iterate over all claims."""
        for entry in self._bucket.listed(""):
            if entry.name.endswith(f"/{_NAME}") and entry.name.count("/") == 2 and entry.age < CLAIM_SECONDS:
                held = self.get(entry.name.removesuffix(f"/{_NAME}"))
                if held is not None:
                    yield held

    def _held(self, name: str) -> Held | None:
        stored = self._bucket.get(name)
        return None if stored is None else Held(parsed(stored.data), stored.age, stored.etag)

    def _write(self, pair: str, content: dict[str, Any], over: str | None) -> str | None:
        name = f"{pair}/{_NAME}"
        try:
            return self._bucket.put(name, json.dumps(content).encode(), over=over)
        except Occupied:
            # the answer to a successful write may have been lost, and the write sent again
            held = self._held(name)
            return held.mark if held is not None and held.content == content else None


_MAX_REQUESTS = 10  # at a time; as many as boto3 keeps connections
_PROBE = ".brain-score-results"


class BucketBackend(Bucket):
    """Files of receipts below a prefix of a bucket."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._is_writable = False
        self.claims = BucketClaims(self)

    def require_writable(self) -> None:
        """Check that the bucket can be written and listed, with a small object, ``.brain-score-results``."""
        if not self._is_writable:
            self.put(_PROBE, b"Brain-Score keeps receipts here.\n")
            next(iter(self.listed("", at_most=1)), None)
            self._is_writable = True

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted."""
        prefix = "" if benchmark is None else f"{benchmark}/" if model is None else f"{benchmark}/{model}/"
        entries = ((entry.name, entry.name.split("/")) for entry in self.listed(prefix))
        return sorted(
            name
            for name, path in entries
            if len(path) == 3 and model in {None, path[1]} and not any(name.startswith(".") for name in path)
        )

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read objects concurrently, in the order of `names`."""

        def read_one(name: str) -> bytes | OSError:
            stored = self.get(name)
            return FileNotFoundError(name) if stored is None else stored.data

        if len(names) == 1:
            yield names[0], read_one(names[0])
            return
        with ThreadPoolExecutor(_MAX_REQUESTS) as pool:
            yield from zip(names, pool.map(read_one, names), strict=True)

    def survey(self) -> Iterator[FolderSurvey]:
        """List the names of all receipts; a bucket has no times of folders."""
        below: dict[str, dict[str, list[str]]] = {}
        for name in self.names(None, None):
            if name.endswith(".json"):
                upper, lower, file = name.split("/")
                below.setdefault(upper, {}).setdefault(lower, []).append(file)
        for upper, folders in below.items():
            yield FolderSurvey(upper, list(folders), [0] * len(folders), folders.__getitem__)

    def now(self) -> int:
        """Time of this machine; times of folders are not known."""
        return time.time_ns()

    def open_index(self, name: str) -> IO[bytes] | None:
        """Read an object below the prefix."""
        stored = self.get(name)
        return None if stored is None else io.BytesIO(stored.data)

    def write_index(self, name: str, data: memoryview) -> None:
        """Replace an object below the prefix."""
        self.put(name, bytes(data))

    @contextmanager
    def scratch(self, pair: str) -> Iterator[Path]:
        """Make a folder on this machine."""
        with tempfile.TemporaryDirectory(prefix="brainscore-") as folder:
            yield Path(folder)

    def store(self, pair: str, files: Mapping[str, Path], name: str, text: str) -> None:
        """Upload the files, several as one ZIP archive, then the receipt, which must not exist yet."""
        key, uploads = f"{pair}/{name}", {f"{pair}/{final}": path for final, path in files.items()}
        uploaded: list[str] = []
        try:
            if len(files) > 1:
                archive = next(iter(files.values())).with_name(uuid4().hex)
                with zipfile.ZipFile(archive, "w") as packed:  # not compressed: netCDF files are
                    for final, path in files.items():
                        packed.write(path, final)
                uploads = {archive_of(key): archive}
            for upload, path in uploads.items():
                uploaded.append(upload)
                self.upload(path, upload)
            self._put_receipt(key, text.encode())
        except BaseException:
            with suppress(StoreError):  # the error that interrupted the writing is raised
                if uploaded and self.get(key) is None:
                    for upload in uploaded:
                        self.delete(upload)
            raise

    def _put_receipt(self, key: str, data: bytes) -> None:
        try:
            self.put(key, data, over=None)
        except Occupied as error:
            stored = self.get(key)  # an answer may be lost, and the request sent again
            if stored is None or stored.data != data:
                address = self.address_of(key)
                raise StoreError(f"{address} exists with other content", remedy="score again") from error

    def local_file(self, name: str, digest: str) -> Path:
        """Download a file once, by itself or in its archive; the copy is removed when this process ends."""
        path = temporary_folder(os.getpid()) / f"{digest}{Path(name).suffix}"
        if path.is_file() and file_digest(path, "sha256") == digest:
            return path
        partial = path.with_name(f".{uuid4().hex}")
        try:
            if self.download(name, partial):
                os.replace(partial, path)
                return path
            if not self.download(archive_of(name), partial):
                raise FileNotFoundError(name)
            return from_archive(partial, name, digest)
        finally:
            partial.unlink(missing_ok=True)

    def remove(self, name: str) -> bool:
        """Remove an object; False if it does not exist."""
        if self.head(name) is None:
            return False
        self.delete(name)
        return True

    def sweep(self, pair: str) -> None:
        """Remove day-old attachments without a receipt, which killed writers left."""
        try:
            entries = [(entry.name.rpartition("/")[2], entry) for entry in self.listed(f"{pair}/")]
            receipts = {file.partition(".")[0] for file, _ in entries if file.endswith(".json")}
            for file, entry in entries:
                if not file.startswith(".") and file.partition(".")[0] not in receipts and entry.age > STALE:
                    self.delete(entry.name)
        except StoreError:
            return  # a user who may write need not be allowed to delete
