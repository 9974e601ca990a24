"""Objects in S3: addresses, signed requests and uploads."""

import base64
import functools
import os
import sys
import urllib.parse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.downloads import (
    MIRROR_REMEDY,
    TIMEOUT,
    AccessDenied,
    FetchError,
    Meter,
    Offline,
    Source,
    incomplete,
    status_error,
)

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

INSTALL = "pip install 'brainscore[s3]'"
CREDENTIALS_REMEDY = "run `aws configure`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
# error codes of S3 for wrong credentials, as opposed to missing permissions
_BAD_CREDENTIALS = frozenset(
    {"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}
)


class S3Object(NamedTuple):
    """Bucket and key of an object."""

    bucket: str
    key: str


class NoCredentials(UserError):
    """Requests cannot be signed on this machine."""


def s3_object(bucket: str, key: str) -> S3Object:
    """Split ``bucket/folder/…`` and put its folder before the key.

    Examples
    --------
    >>> s3_object("store/one/", "a.nc")
    S3Object(bucket='store', key='one/a.nc')
    """
    name, _, folder = bucket.strip("/").partition("/")
    return S3Object(name, "/".join(segment for segment in (folder.strip("/"), key.lstrip("/")) if segment))


def s3_endpoint() -> str | None:
    """Address of an S3 server other than Amazon's; None if none is configured."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None


def object_url(place: S3Object) -> str:
    """URL of an object (of the bucket, if the key is empty); it works without credentials for public objects."""
    path = urllib.parse.quote(place.key)
    server = s3_endpoint()
    if server:
        return f"{server.rstrip('/')}/{place.bucket}/{path}"
    if "." in place.bucket:  # Amazon's certificate does not cover dots before .s3.amazonaws.com
        return f"https://s3.amazonaws.com/{place.bucket}/{path}"
    return f"https://{place.bucket}.s3.amazonaws.com/{path}"


def signed_client() -> Any:
    """Return a boto3 client for S3 that signs requests, and retries them a few times.

    Raises NoCredentials if boto3 is not installed or finds no credentials.
    """
    try:
        import boto3  # noqa: F401 - to fail now if it is not installed
    except ImportError as error:
        raise NoCredentials("requests to S3 cannot be signed without boto3", remedy=f"install it: {INSTALL}") from error
    settings = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    return _client(settings, downloads.ATTEMPTS)


@functools.lru_cache(maxsize=4)
def _client(settings: frozenset[tuple[str, str]], attempts: int) -> Any:
    """Create a client for these `settings` of the environment; cached, as this is slow, and shared by threads."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    server = s3_endpoint()
    config = Config(
        connect_timeout=TIMEOUT[0],
        read_timeout=TIMEOUT[1],
        retries={"total_max_attempts": attempts},
        s3={"addressing_style": "path" if server else "auto"},
    )
    try:
        session = boto3.Session()
        if session.get_credentials() is None:
            raise NoCredentials("no AWS credentials were found", remedy=f"if you have any, {CREDENTIALS_REMEDY}")
        return session.client("s3", endpoint_url=server, config=config)
    except (BotoCoreError, ValueError) as error:
        raise NoCredentials(f"the AWS credentials cannot be used: {error}", remedy=CREDENTIALS_REMEDY) from error


if hasattr(os, "register_at_fork"):  # two processes cannot share connections
    os.register_at_fork(after_in_child=_client.cache_clear)


def _signed_request_error(error: "ClientError | BotoCoreError", source: Source) -> FetchError:
    from botocore import exceptions

    renew = f"Renew them: {CREDENTIALS_REMEDY}; `aws sso login` if you use SSO."
    if isinstance(error, exceptions.ClientError):
        code, status = _code_and_status(error)
        reason = "" if code == str(status) else code
        failure = status_error(status, reason, source)
        if code in _BAD_CREDENTIALS:
            problem = f"the data are private, and the server does not accept the AWS credentials: {status} {code}"
            remedy = "Check the clock of this machine." if code == "RequestTimeTooSkewed" else renew
            failure = AccessDenied.of(source, problem, remedy)
        elif isinstance(failure, AccessDenied):
            failure = AccessDenied.of(
                source,
                "the data are private, and the AWS credentials of this machine have no access: the server responded "
                f"{status} {reason}",
                "Ask the owner of the data for access or for a copy; put a copy into a folder named in "
                "BRAINSCORE_MIRROR (host/path).",
            )
        failure.attempts = 1  # the client has repeated the request
        return failure
    broken = (
        exceptions.IncompleteReadError,
        exceptions.ResponseStreamingError,
        exceptions.ConnectionClosedError,
        exceptions.FlexibleChecksumError,
    )
    if isinstance(error, broken):
        return incomplete(source, f"({error})")
    if isinstance(error, exceptions.HTTPClientError):
        remedy = f"Check the connection and the proxy (HTTPS_PROXY). {MIRROR_REMEDY}"
        return Offline.of(source, str(error), remedy)
    return AccessDenied.of(source, f"the data are private, and the AWS credentials cannot be used: {error}", renew)


def _code_and_status(error: "ClientError") -> tuple[str, int]:
    code = error.response.get("Error", {}).get("Code", "")
    return str(code), int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


_PIECE = 1 << 20  # bytes


def download_signed(
    place: S3Object, version_id: str | None, stream: IO[bytes], *, meter: Meter, denied: AccessDenied
) -> None:
    """Download an object with a signed request into `stream`, after the anonymous request was `denied`.

    Errors are those of ``download``.
    """
    try:
        client = signed_client()
    except NoCredentials as error:
        failure = AccessDenied(
            f"{denied.message}\nThe data are private or do not exist (S3 does not say which); {error.message}.",
            remedy=f"They may be available with credentials: {error.remedy}. Otherwise ask the owner of the data for a "
            "copy, and put it into a folder named in BRAINSCORE_MIRROR (host/path).",
        )
        failure.url, failure.expected = denied.url, denied.expected
        raise failure from denied

    from botocore.exceptions import BotoCoreError, ClientError

    def attempt() -> None:
        try:
            answer = client.get_object(Bucket=place.bucket, Key=place.key, **_version(version_id))
            meter.total = int(answer["ContentLength"])
            for piece in answer["Body"].iter_chunks(_PIECE):
                stream.write(piece)
                meter.update(len(piece))
        except (BotoCoreError, ClientError) as error:
            raise _signed_request_error(error, Source(str(denied.url), str(denied.expected))) from error

    downloads.repeat(attempt, stream, meter)


def _version(version_id: str | None) -> dict[str, str]:
    return {} if version_id is None else {"VersionId": version_id}


_ONE_PART = 64 * 1024**2  # bytes; larger files are uploaded in parts that are retried separately


class UploadError(UserError):
    """A file could not be uploaded."""


class AlreadyThere(UploadError):
    """Another object, with different content, already has that key."""


class PublicAccessWarning(UserWarning):
    """An object is public although it should be private, or the reverse."""


def upload_to_s3(
    source_file_path: str | os.PathLike[str],
    bucket_name: str,
    target_s3_key: str,
    *,
    overwrite: bool = False,
    public: bool = False,
) -> dict[str, Any]:
    """Upload a file.

    If the object already has the same content, it is left unchanged and its version is returned. S3 verifies each
    upload against a checksum, so incomplete objects never appear.

    Parameters
    ----------
    source_file_path : path
        The file.
    bucket_name : str
        Bucket, or ``bucket/folder/…``. For a server other than Amazon's, set ``AWS_ENDPOINT_URL``.
    target_s3_key : str
        Key of the object below `bucket_name`.
    overwrite : bool, default False
        Whether an object with different content may be replaced. A bucket with versioning keeps its earlier version.
    public : bool, default False
        Request the ACL ``public-read``, which not every bucket accepts. Otherwise no ACL is sent: the object is private
        unless the policy of the bucket makes it public, which is checked after the upload.

    Returns
    -------
    dict
        S3's description of the object: ``VersionId`` (None in a bucket without versioning), ``ContentLength``,
        ``ETag`` …; and ``public``: whether it can be read without credentials.

    Raises
    ------
    AlreadyThere
        If another object, with different content, has that key, and `overwrite` is False.
    NoCredentials
        If boto3 is not installed or finds no credentials.
    UploadError
        If the server refuses the upload or does not respond.

    Warns
    -----
    PublicAccessWarning
        If the object is public although `public` is False, or private although it is True.
    UserWarning
        If the bucket has no versioning.
    """
    path = Path(source_file_path)
    if not path.is_file():
        raise UserError(f"the file {path} does not exist", remedy="check the path")
    client = signed_client()
    target = _target_object(bucket_name, target_s3_key)
    description = check_overwrite(path, bucket_name, target_s3_key, overwrite=overwrite, client=client)
    if description is None:
        uploaded_version = _put(client, path, target, new=not overwrite, public=public)
        description = _head(client, target, uploaded_version)
        if description is None or not _is_same(path, description):
            raise UploadError(
                f"{_s3_uri(target)} has different content right after its upload",
                remedy="another process may be uploading to the same key: compare the contents, and try again",
            )
    version = description.get("VersionId")
    if version is None or version == "null":
        warnings.warn(
            f"the bucket {target.bucket} has no versioning: another upload of {target.key} will replace this one",
            stacklevel=2,
        )
    readable = is_public(target, version)
    if readable is not None and readable != public:
        problem = (
            "is public because of the policy of the bucket. If this is not intended, delete the object now, and upload "
            "it elsewhere"
            if readable
            else "cannot be read without credentials: ask the owner of the bucket to make it public"
        )
        warnings.warn(f"{_s3_uri(target)} {problem}", PublicAccessWarning, stacklevel=2)
    properties = {key: value for key, value in description.items() if key != "ResponseMetadata"}
    return properties | {"VersionId": version, "public": readable}


def check_overwrite(
    path: Path, bucket_name: str, key: str, *, overwrite: bool, client: Any = None
) -> dict[str, Any] | None:
    """Return S3's description of the object if it has the content of `path`; None if it does not exist."""
    client = signed_client() if client is None else client
    target = _target_object(bucket_name, key)
    description = _head(client, target)
    if description is None:
        return None
    if _is_same(path, description):
        return description
    if overwrite:
        return None
    raise AlreadyThere(
        f"{_s3_uri(target)} already holds a different file, of {description.get('ContentLength')} bytes, changed "
        f"{description.get('LastModified')}",
        remedy="choose another identifier, bucket or folder; or pass overwrite=True (--overwrite) to replace it",
    )


def _target_object(bucket_name: str, key: str) -> S3Object:
    if not bucket_name or not key.strip("/"):
        raise UserError(f"bucket {bucket_name!r} and key {key!r} do not name a target", remedy="pass both")
    return s3_object(bucket_name, key)


def _s3_uri(target: S3Object) -> str:
    return f"s3://{target.bucket}/{target.key}"


def _head(client: Any, target: S3Object, version: str | None = None) -> dict[str, Any] | None:
    from botocore.exceptions import ClientError

    with _upload_errors(target, "inspect"):
        try:
            description: dict[str, Any] = client.head_object(Bucket=target.bucket, Key=target.key, **_version(version))
            return description
        except ClientError as error:
            if _code_and_status(error)[1] != 404:
                raise
        client.head_bucket(Bucket=target.bucket)  # raises an error if the bucket, not the object, is missing
        return None


def _put(client: Any, path: Path, target: S3Object, *, new: bool, public: bool) -> str | None:
    """Upload a file, and return its version if the response has one."""
    extra: dict[str, Any] = {"Metadata": {"sha1": file_digest(path, "sha1")}}
    if public:
        extra["ACL"] = "public-read"
    sys.stderr.write(f"Uploading {_s3_uri(target)}\n")
    with _upload_errors(target, "upload"):
        if path.stat().st_size > _ONE_PART:
            client.upload_file(str(path), target.bucket, target.key, ExtraArgs=extra)
            return None
        if new:
            extra["IfNoneMatch"] = "*"  # another process may have uploaded it since the check
        extra["ContentMD5"] = base64.b64encode(bytes.fromhex(file_digest(path, "md5"))).decode()
        with path.open("rb") as stream:
            answer = client.put_object(Bucket=target.bucket, Key=target.key, Body=stream, **extra)
        return str(answer["VersionId"]) if answer.get("VersionId") else None


@contextmanager
def _upload_errors(target: S3Object, doing: str) -> Iterator[None]:
    """Explain the errors of the client."""
    from boto3.exceptions import S3UploadFailedError
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise _upload_error(error, target, doing) from error
    except S3UploadFailedError as error:
        cause = error.__context__  # the original error
        raise _upload_error(cause if isinstance(cause, ClientError) else error, target, doing) from error


def _is_same(path: Path, description: dict[str, Any]) -> bool:
    """Whether an object has the content of a file, compared by size and by the hash that S3 has."""
    if description.get("ContentLength") != path.stat().st_size:
        return False
    sha1 = description.get("Metadata", {}).get("sha1")
    if sha1 is not None:
        return bool(sha1 == file_digest(path, "sha1"))
    return bool(str(description.get("ETag", "")).strip('"') == file_digest(path, "md5"))


def _upload_error(error: Exception, target: S3Object, doing: str) -> UserError:
    from botocore.exceptions import ClientError, NoCredentialsError

    if isinstance(error, NoCredentialsError):
        return NoCredentials("no AWS credentials were found", remedy=CREDENTIALS_REMEDY)
    if not isinstance(error, ClientError):
        return UploadError(f"cannot {doing} {_s3_uri(target)}: {error}", remedy="check the connection, and try again")
    code, status = _code_and_status(error)
    if doing == "upload" and status in (409, 412):
        return AlreadyThere(
            f"another process has just uploaded {_s3_uri(target)}", remedy="compare it with your file, and try again"
        )
    if code == "AccessControlListNotSupported":
        remedy = "the bucket accepts no ACLs: omit public, and ask its owner to make the object public by a policy"
    elif status in (401, 403):
        remedy = "ask the owner of the bucket for the permissions s3:PutObject, s3:GetObject and s3:ListBucket"
    elif status == 404:
        remedy = f"check whether the bucket {target.bucket!r} exists; ask for its name, or create it"
    else:
        remedy = "try again later, or ask the owner of the bucket"
    return UploadError(
        f"cannot {doing} {_s3_uri(target)}: the server responded {status} {code}".rstrip(), remedy=remedy
    )


def is_public(place: S3Object, version: str | None) -> bool | None:
    """Whether the object can be read without credentials; None if this cannot be determined."""
    import requests

    query = {} if version is None else {"versionId": version}
    try:
        with requests.get(object_url(place), params=query, stream=True, timeout=TIMEOUT) as answer:
            return {200: True, 401: False, 403: False, 404: False}.get(answer.status_code)
    except requests.RequestException:
        return None
