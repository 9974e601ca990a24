"""Objects below a prefix of a bucket: what a store of receipts does with them, and what its errors mean."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.scoring._errors import StoreError
from brainscore_core.supported_data_standards.brainio.buckets import CREDENTIALS_REMEDY, NoCredentials, signed_client

__all__ = ["ANYTHING", "Bucket", "Entry", "Found", "Occupied"]

ANYTHING = object()
"""A write that replaces whatever is there."""

_ATTEMPTS = 4
_BAD_CREDENTIALS = frozenset({"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"})
_CONFLICT = (409, 412)
_RIGHTS = "s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject"


class Occupied(StoreError):
    """There is an object that the condition of a write excludes."""


class Found(NamedTuple):
    """An object: its content, the hash that conditions name, and its age in seconds by the server's clock."""

    data: bytes
    etag: str
    age: float


class Entry(NamedTuple):
    """A line of a listing: name below the prefix, and age in seconds by the server's clock."""

    name: str
    age: float


class Bucket:
    """A prefix of a bucket.

    Parameters
    ----------
    address : str
        ``s3://bucket`` or ``s3://bucket/prefix``.

    Raises
    ------
    UserError
        If it names no bucket.

    Examples
    --------
    >>> Bucket("s3://lab/results/").address_of("Some2026-pls/pixels/a.json")
    's3://lab/results/Some2026-pls/pixels/a.json'
    """

    def __init__(self, address: str) -> None:
        self.name, _, prefix = address.removeprefix("s3://").strip("/").partition("/")
        if not self.name:
            raise UserError(f"{address!r} names no bucket", remedy="write s3://bucket/folder")
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @property
    def address(self) -> str:
        """Bucket and prefix."""
        return f"s3://{self.name}/{self._prefix}".rstrip("/")

    def address_of(self, name: str) -> str:
        """Give the address of an object."""
        return f"s3://{self.name}/{self._prefix}{name}"

    def listed(self, below: str, *, at_most: int = 1000) -> Iterator[Entry]:
        """List objects whose names start so, asking for at most so many at once."""
        client = self._client()
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=self.name, Prefix=self._prefix + below, PaginationConfig={"PageSize": at_most}
        )
        with self._told(f"list {self.address}"):
            for page in pages:
                for item in page.get("Contents", ()):
                    yield Entry(item["Key"].removeprefix(self._prefix), _age(page, item["LastModified"]))

    def get(self, name: str) -> Found | None:
        """Read an object; None if there is none."""
        with self._told(f"read {self.address_of(name)}"):
            try:
                answer = self._client().get_object(Bucket=self.name, Key=self._prefix + name)
                return Found(answer["Body"].read(), answer["ETag"], _age(answer, answer["LastModified"]))
            except self._client().exceptions.NoSuchKey:
                return None

    def head(self, name: str) -> str | None:
        """Give the hash that conditions name; None if there is no object."""
        from botocore.exceptions import ClientError

        with self._told(f"look at {self.address_of(name)}"):
            try:
                return str(self._client().head_object(Bucket=self.name, Key=self._prefix + name)["ETag"])
            except ClientError as error:
                if _status(error) == 404:
                    return None
                raise

    def put(self, name: str, data: bytes, *, over: Any = ANYTHING) -> str:
        """Write an object.

        Parameters
        ----------
        name : str
            Below the prefix.
        data : bytes
            Its content.
        over : str, None or ANYTHING
            What may be replaced: the object of this hash; nothing (None); anything.

        Returns
        -------
        str
            The hash that conditions name.

        Raises
        ------
        Occupied
            If something else is there.
        """
        condition = {} if over is ANYTHING else {"IfNoneMatch": "*"} if over is None else {"IfMatch": over}
        with self._told(f"write {self.address_of(name)}", conditional=bool(condition)):
            answer = self._client().put_object(Bucket=self.name, Key=self._prefix + name, Body=data, **condition)
        return str(answer["ETag"])

    def upload(self, path: Path, name: str) -> None:
        """Upload a file, a large one in parts."""
        with self._told(f"upload {self.address_of(name)}"):
            self._client().upload_file(str(path), self.name, self._prefix + name)

    def download(self, name: str, path: Path) -> bool:
        """Download an object; False if there is none."""
        from botocore.exceptions import ClientError

        with self._told(f"download {self.address_of(name)}"):
            try:
                self._client().download_file(self.name, self._prefix + name, str(path))
            except ClientError as error:
                if _status(error) == 404:
                    return False
                raise
        return True

    def delete(self, name: str, *, only: str | None = None) -> None:
        """Remove an object, `only` the one of this hash where it is given."""
        condition = {} if only is None else {"IfMatch": only}
        with self._told(f"remove {self.address_of(name)}", conditional=only is not None):
            self._client().delete_object(Bucket=self.name, Key=self._prefix + name, **condition)

    def _client(self) -> Any:
        return signed_client(attempts=_ATTEMPTS)

    @contextmanager
    def _told(self, doing: str, *, conditional: bool = False) -> Iterator[None]:
        """Tell what went wrong with what, and what can be done."""
        self._client()  # says how to install boto3, where it is missing
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
            cause = error.__context__  # what happened in an upload of a file
            if isinstance(cause, ClientError):
                raise self._failure(cause, doing, conditional=False) from error
            raise StoreError(f"cannot {doing}: {error}", remedy=_CONNECTION) from error
        except BotoCoreError as error:
            raise StoreError(f"cannot {doing}: {error}", remedy=_CONNECTION) from error

    def _failure(self, error: Any, doing: str, *, conditional: bool) -> StoreError:
        status, code = _status(error), str(error.response.get("Error", {}).get("Code", ""))
        if conditional and (status in _CONFLICT or code == "NoSuchKey"):
            return Occupied(f"cannot {doing}: somebody else was faster", remedy="try again")
        if code in _BAD_CREDENTIALS:
            remedy = f"renew the credentials: {CREDENTIALS_REMEDY}"
        elif code == "RequestTimeTooSkewed":
            remedy = "set the clock of this machine"
        elif status in (401, 403):
            remedy = f"ask the owner of the bucket {self.name} for the rights {_RIGHTS}"
        elif status == 404:
            remedy = f"is there a bucket {self.name}? Ask for the right name, or make it"
        elif status in (400, 501) and conditional:
            remedy = "the server must take conditional writes (If-None-Match, If-Match): use another, or a folder"
        else:
            remedy = f"try again later, or ask the owner of the bucket {self.name}"
        return StoreError(f"cannot {doing}: the server answered {status} {code}".rstrip(), remedy=remedy)


_CONNECTION = "check the connection, the proxy (HTTPS_PROXY) and AWS_ENDPOINT_URL, and try again"


def _status(error: Any) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _age(answer: dict[str, Any], modified: datetime) -> float:
    """Seconds since `modified`, by the clock of the server that said so."""
    date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    now = parsedate_to_datetime(date).timestamp() if date else time.time()
    return max(0.0, now - modified.timestamp())
