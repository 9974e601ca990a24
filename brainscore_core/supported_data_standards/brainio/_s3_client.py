"""Objects in S3: their addresses, a signed client, and what its errors mean."""

import functools
import os
import urllib.parse
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError

from ._download import MIRROR_REMEDY, TIMEOUT, TRANSIENT, explain_status, shown
from ._fetch_errors import AccessDenied, FetchError, IncompleteDownload, Offline

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

__all__ = ["NoCredentials", "S3Object", "endpoint", "explain", "object_of", "object_url", "signed_client"]

INSTALL = "pip install 'brainscore[s3]'"
CREDENTIALS_REMEDY = "run `aws configure`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
# what S3 answers where it is the credentials that are wrong, not what they may do
_BAD_CREDENTIALS = frozenset(
    {"ExpiredToken", "InvalidAccessKeyId", "InvalidToken", "RequestTimeTooSkewed", "SignatureDoesNotMatch"}
)


class S3Object(NamedTuple):
    """Bucket and key of an object."""

    bucket: str
    key: str


class NoCredentials(UserError):
    """Requests cannot be signed on this machine."""


def object_of(bucket: str, key: str) -> S3Object:
    """Split ``bucket/folder/…`` and put its folder before the key.

    Examples
    --------
    >>> object_of("store/one/", "a.nc")
    S3Object(bucket='store', key='one/a.nc')
    """
    name, _, folder = bucket.strip("/").partition("/")
    return S3Object(name, "/".join(part for part in (folder.strip("/"), key.lstrip("/")) if part))


def endpoint() -> str | None:
    """Address of another S3 server than Amazon's."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None


def object_url(place: S3Object) -> str:
    """Where an object can be had without credentials, if it is public; a bucket, where the key is empty."""
    path = urllib.parse.quote(place.key)
    server = endpoint()
    if server:
        return f"{server.rstrip('/')}/{place.bucket}/{path}"
    if "." in place.bucket:  # Amazon's certificate is for one name before s3.amazonaws.com
        return f"https://s3.amazonaws.com/{place.bucket}/{path}"
    return f"https://{place.bucket}.s3.amazonaws.com/{path}"


def signed_client(*, attempts: int = 1) -> Any:
    """Make a boto3 client for S3 that signs, and tries each request so many times.

    Raises
    ------
    NoCredentials
        boto3 is not installed, or finds no credentials.
    """
    try:
        import boto3  # noqa: F401 - says now whether it is there
    except ImportError as error:
        raise NoCredentials("requests to S3 cannot be signed without boto3", remedy=f"install it: {INSTALL}") from error
    settings = frozenset((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    return _client(settings, attempts)


@functools.lru_cache(maxsize=4)
def _client(settings: frozenset[tuple[str, str]], attempts: int) -> Any:
    """Make a client for these `settings` of the environment; making one takes long, and threads may share it."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    server = endpoint()
    config = Config(
        connect_timeout=TIMEOUT[0],
        read_timeout=TIMEOUT[1],
        retries={"total_max_attempts": attempts},
        s3={"addressing_style": "path" if server else "auto"},
    )
    try:
        session = boto3.Session()
        if session.get_credentials() is None:
            raise NoCredentials("no AWS credentials were found", remedy=f"if you have some, {CREDENTIALS_REMEDY}")
        return session.client("s3", endpoint_url=server, config=config)
    except (BotoCoreError, ValueError) as error:
        raise NoCredentials(f"the AWS credentials cannot be used: {error}", remedy=CREDENTIALS_REMEDY) from error


if hasattr(os, "register_at_fork"):  # two processes cannot share connections
    os.register_at_fork(after_in_child=_client.cache_clear)


def explain(error: "ClientError | BotoCoreError", url: str, expected: str) -> tuple[FetchError, bool]:
    """What went wrong in a signed request, and whether it is worth another attempt."""
    from botocore import exceptions

    address = shown(url)
    if isinstance(error, exceptions.ClientError):
        return _explain_answer(error, address, expected)
    broken = (
        exceptions.IncompleteReadError,
        exceptions.ResponseStreamingError,
        exceptions.ConnectionClosedError,
        exceptions.FlexibleChecksumError,
    )
    if isinstance(error, broken):
        failure: FetchError = IncompleteDownload(
            f"{address} broke off: {error} (expected {expected})",
            remedy="Try again; if it breaks off again, check the connection and the proxy, or ask the owner of the "
            "data.",
            url=address,
            expected=expected,
        )
        return failure, True
    if isinstance(error, exceptions.HTTPClientError):
        failure = Offline(
            f"cannot fetch {address}: {error} (expected {expected})",
            remedy=f"Check the connection and the proxy (HTTPS_PROXY). {MIRROR_REMEDY}",
            url=address,
            expected=expected,
        )
        return failure, not isinstance(error, exceptions.SSLError)
    failure = AccessDenied(
        f"cannot fetch {address}: the data are private, and the AWS credentials cannot be used: {error} "
        f"(expected {expected})",
        remedy=f"Renew them: {CREDENTIALS_REMEDY}; `aws sso login` where you sign in by SSO.",
        url=address,
        expected=expected,
    )
    return failure, False


def _explain_answer(error: "ClientError", address: str, expected: str) -> tuple[FetchError, bool]:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    reason = "" if code == str(status) else code
    failure = explain_status(status, reason, address, expected)
    if code in _BAD_CREDENTIALS:
        failure = AccessDenied(
            f"cannot fetch {address}: the data are private, and the server does not accept the AWS credentials: "
            f"{status} {code} (expected {expected})",
            remedy="Check the clock of this machine."
            if code == "RequestTimeTooSkewed"
            else f"Renew them: {CREDENTIALS_REMEDY}; `aws sso login` where you sign in by SSO.",
            url=address,
            expected=expected,
        )
    elif isinstance(failure, AccessDenied):
        failure.message = (
            f"cannot fetch {address}: the data are private, and the AWS credentials of this machine do not open them: "
            f"the server answered {status} {reason} (expected {expected})"
        )
        failure.remedy = (
            "Ask the owner of the data for access or for a copy; put a copy into a folder named in BRAINSCORE_MIRROR "
            "(host/path)."
        )
    return failure, status in TRANSIENT
