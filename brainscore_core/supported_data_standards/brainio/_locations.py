"""Files at the places that catalogs name."""

import urllib.parse
from pathlib import Path

from brainscore_core.errors import UserError

from ._fetching import FetchRequest, fetch_all
from .s3 import object_request

__all__ = ["fetch_file", "located"]


def fetch_file(location_type: str, location: str, sha1: str, version_id: str | None = None) -> str:
    """Return a local copy of a file that a catalog lists.

    Parameters
    ----------
    location_type : str
        ``'S3'`` or ``'local'``.
    location : str
        Its address: ``https://<bucket>.s3.amazonaws.com/<key>``, the older ``https://s3.amazonaws.com/<bucket>/<key>``
        or ``s3://<bucket>/<key>``; or a path.
    sha1 : str
        Its hash.
    version_id : str, optional
        Version of the S3 object; by default the latest.

    Returns
    -------
    str
        Path of the file. Treat it as read-only.

    Raises
    ------
    FetchError
        The file cannot be fetched, or has another hash.
    UserError
        There is no such location type.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> rates = Path(tempfile.mkdtemp()) / "rates.csv"
    >>> _ = rates.write_text("stimulus_id,rate")
    >>> Path(fetch_file("local", str(rates), hashlib.sha1(rates.read_bytes()).hexdigest())).name
    'rates.csv'
    """
    request = located(location_type, location, sha1=sha1, version_id=version_id, folder=Path.cwd())
    return str(fetch_all([request])[0])


def located(
    location_type: str, location: str, *, sha1: str | None, version_id: str | None, folder: Path
) -> FetchRequest:
    """What to fetch for a location; paths are relative to `folder`."""
    if location_type == "S3":
        found = _bucket_and_key(location)
        if found is None:  # another server's
            return FetchRequest(location, sha1=sha1, version_id=version_id)
        return object_request(*found, sha1=sha1, version_id=version_id)
    if location_type == "local":
        if not location.startswith("file:"):
            location = (folder / Path(location).expanduser()).absolute().as_uri()
        return FetchRequest(location, sha1=sha1)
    raise UserError(f"there is no location type {location_type!r} (of {location})", remedy="use 'S3' or 'local'")


def _bucket_and_key(location: str) -> tuple[str, str] | None:
    """Bucket and key of an S3 address of any style; None where it is no S3 address."""
    parts = urllib.parse.urlsplit(location)
    path = urllib.parse.unquote(parts.path).lstrip("/")
    if parts.scheme == "s3":
        return parts.netloc, path
    bucket = _bucket_of((parts.hostname or "").lower())
    if bucket is None:
        return None
    if not bucket:
        bucket, _, path = path.partition("/")
    return bucket, path


def _bucket_of(host: str) -> str | None:
    """Bucket that a host's name begins with; empty where the path has it; None for another server's."""
    labels = host.removesuffix(".cn").removesuffix(".amazonaws.com").split(".")
    if len(labels) == len(host.split(".")):
        return None
    for place, label in enumerate(labels):
        if label == "s3" or label.startswith("s3-"):
            return ".".join(labels[:place])
    return None
