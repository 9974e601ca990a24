"""Files by URL and hash: from a local mirror, the cache or the network, in this order.

For a file without a registered hash, the hash of the first copy is recorded and required from then on.
"""

import hashlib
import json
import logging
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from brainscore_core import provenance
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.paths import cache_home, mirrors
from brainscore_core.progress import Stage, stage
from brainscore_core.supported_data_standards.brainio.buckets import (
    S3Object,
    download_signed,
    object_url,
    s3_object,
)
from brainscore_core.supported_data_standards.brainio.cache import (
    Digest,
    digest_mismatch,
    files_in_mirrors,
    is_digest,
    parse_digest,
    working_in,
)
from brainscore_core.supported_data_standards.brainio.downloads import (
    MIRROR_REMEDY,
    AccessDenied,
    BatchMeter,
    FetchError,
    HashMismatch,
    Meter,
    NotFound,
    Offline,
    SeveralFailures,
    SeveralUnavailable,
    Source,
    download,
    file_meter,
    redacted_url,
)


@dataclass(frozen=True)
class FetchRequest:
    """A file to fetch: the arguments of :func:`fetch` as a value, for :func:`fetch_all`.

    - `url`: location of the file: ``https``, ``http`` or ``file``.
    - `sha256`, `sha1`: its hash in hexadecimal digits; at least one is required, except with `first_use`. If both are
      given, both are checked.
    - `version_id`: version of the object in S3; becomes ``?versionId=…``.
    - `filename`: name in the cache; by default the last part of the URL's path.
    - `first_use`: if no hash is known: accept the first copy, and require its sha256 in all later calls.
    - `sha256_prefix`: first digits of the sha256, if only these are known; for `first_use`.
    - `s3`: bucket and key of an object in S3; it is requested with credentials if access to the URL is denied.
    """

    url: str
    sha256: str | None = None
    sha1: str | None = None
    version_id: str | None = None
    filename: str | None = None
    first_use: bool = False
    sha256_prefix: str | None = None
    s3: S3Object | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not _is_fetchable(self.url):
            raise UserError(
                f"cannot fetch {self.url!r}",
                remedy="use a URL that starts with https://, http:// or file://; of a file on this machine, "
                "Path('…').absolute().as_uri()",
            )
        if not self.digests and not (self.first_use and not self.url.startswith("file:")):
            raise UserError(
                f"no hash is given for {redacted_url(self.url)}",
                remedy="pass sha256=… (or sha1=…) of the file, which `sha256sum FILE` prints",
            )
        if self.name in ("", ".", "..") or any(character in self.name for character in "/\\\0"):
            raise UserError(f"{self.name!r} is not a valid file name", remedy="pass filename=… without folders")

    @property
    def digests(self) -> tuple[Digest, ...]:
        """The hashes to check; the first is the name of the folder in the cache."""
        hashes = (("sha1", self.sha1), ("sha256", self.sha256))
        return tuple(parse_digest(algorithm, value) for algorithm, value in hashes if value is not None)

    @property
    def source(self) -> Source:
        """The file as errors name it."""
        return Source(redacted_url(self.address), str(self.digests[0]) if self.digests else "a file of unknown hash")

    @property
    def host(self) -> str:
        """Name of the server, with its port."""
        return urllib.parse.urlsplit(self.url).netloc

    @property
    def name(self) -> str:
        """Name of the file in the cache."""
        if self.filename is not None:
            return self.filename
        path = urllib.parse.urlsplit(self.url).path.rstrip("/")
        return urllib.parse.unquote(path.rpartition("/")[2]) or "download"

    @property
    def address(self) -> str:
        """The URL with the version."""
        if self.version_id is None:
            return self.url
        address = urllib.parse.urlsplit(self.url)
        version = urllib.parse.urlencode({"versionId": self.version_id})
        return address._replace(query=f"{address.query}&{version}" if address.query else version).geturl()

    @property
    def cached(self) -> Path:
        """Path of the file in the cache, whether or not it exists."""
        return cache_folder(self) / self.name


def _is_fetchable(url: str) -> bool:
    try:
        address = urllib.parse.urlsplit(url)
    except ValueError:
        return False
    return address.scheme == "file" or (address.scheme in ("http", "https") and bool(address.netloc))


def cache_folder(request: FetchRequest) -> Path:
    """Folder of a file in the cache: ``<BRAINIO_HOME>/<sha1>``, or ``<sha256>`` if only that hash is known."""
    return cache_home() / request.digests[0].value


def record_file(request: FetchRequest) -> Path:
    """File with the recorded hash for a request without a hash; one for each URL and version."""
    name = hashlib.sha256(request.address.encode()).hexdigest()
    return cache_home() / "unpinned" / name / "record.json"


def recorded_digest(request: FetchRequest) -> str | None:
    """Return the sha256 of the first copy, or that of a mirror's copy, which is not recorded."""
    try:
        record: Any = json.loads(record_file(request).read_text(encoding="utf-8"))
        digest = str(record["sha256"])
        if is_digest(digest, "sha256"):
            return digest
    except FileNotFoundError:
        pass
    except (ValueError, TypeError, KeyError):
        record_file(request).unlink(missing_ok=True)  # remove a record without a valid hash
    for path in files_in_mirrors(request.address):
        digest = file_digest(path, "sha256")
        require_digest_prefix(request, path, digest)
        return digest
    return None


def record_digest(request: FetchRequest, digest: str) -> None:
    """Require this sha256 in all later calls."""
    with replacing(record_file(request)) as stream:
        stream.write(json.dumps({"url": redacted_url(request.address), "sha256": digest}).encode())


def require_digest_prefix(request: FetchRequest, path: Path, digest: str) -> None:
    """Raise an error if the hash of a file does not begin with the published digits."""
    prefix = (request.sha256_prefix or "").lower()
    if not digest.startswith(prefix):
        message = (
            f"{request.url} is not the published {request.name!r}: the sha256 of {path} is {digest}, which does not "
            f"begin with {prefix}"
        )
        raise _mismatch(message, "Delete it and fetch it again.", request.url, f"sha256:{prefix}…", f"sha256:{digest}")


def _mismatch(message: str, remedy: str, url: str, expected: object, found: object) -> HashMismatch:
    error = HashMismatch(message, remedy)
    error.url, error.expected, error.found = url, str(expected), str(found)
    return error


_SHOWN_FAILURES = 10
_logger = logging.getLogger(__name__)


_MeterFactory = Callable[[str], AbstractContextManager[Meter]]


def fetch(
    url: str,
    *,
    sha256: str | None = None,
    sha1: str | None = None,
    version_id: str | None = None,
    filename: str | None = None,
    progress: bool = True,
) -> Path:
    r"""Return a local copy of a file whose hash is known.

    The file is searched in three places: the folders of ``BRAINSCORE_MIRROR`` (several are separated as in ``PATH``;
    each has the layout ``host/path`` of ``wget --force-directories``; files are used in place), the cache
    ``$BRAINIO_HOME/<sha1>/<file>`` (default ``~/.brainio``; the folder is named by the sha256 if no sha1 is given),
    and the network. Every copy is hashed before use; one with another hash is ignored, and never replaces a good one.

    Parameters
    ----------
    url : str
        Location of the file: ``https``, ``http``, or ``file`` (used in place).
    sha256, sha1 : str
        Hash of the file; at least one is required. If both are given, both are checked.
    version_id : str, optional
        Version of the object in S3.
    filename : str, optional
        Name in the cache; by default the last part of the URL's path.
    progress : bool, default True
        Whether to show the progress of a download: as a bar in a terminal, as a line of text elsewhere.

    Returns
    -------
    pathlib.Path
        The file. Treat it as read-only: it may belong to a shared mirror.

    Raises
    ------
    FetchError
        `HashMismatch`, `IncompleteDownload`, `NotFound`, `AccessDenied`, `Offline` or `StorageError`, with the URL, the
        hashes and a remedy.

    Notes
    -----
    Several processes and threads may fetch the same file at the same time. A download is written to a temporary file,
    hashed, and then moved into place in one step; an interrupted download leaves no file with the final name.

    Examples
    --------
    >>> import hashlib, pathlib, tempfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import fetch
    >>> source = pathlib.Path(tempfile.mkdtemp()) / "rates.csv"
    >>> _ = source.write_text("stimulus_id,rate\nimg_1,12.5\n")
    >>> path = fetch(source.as_uri(), sha256=hashlib.sha256(source.read_bytes()).hexdigest())
    >>> path.read_text().splitlines()[1]
    'img_1,12.5'
    """
    request = FetchRequest(url, sha256=sha256, sha1=sha1, version_id=version_id, filename=filename)
    path = _obtain(request, partial(file_meter, progress=progress), set())
    _note_provenance(request, path)
    return path


def fetch_all(
    requests: Iterable[FetchRequest | Mapping[str, Any]], *, workers: int = 8, progress: bool = True
) -> list[Path]:
    """Fetch several files at once.

    - `requests`: dictionaries hold the arguments of :class:`FetchRequest`.
    - `workers`: number of files that are fetched at the same time.
    - `progress`: whether to show the progress of all files: as a bar in a terminal, as a line of text elsewhere.

    Returns: in the order of `requests`. Raises FetchError: the failure, if one file failed; `SeveralFailures` if
    several failed. All files are tried first.

    Examples
    --------
    >>> import hashlib, pathlib, tempfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import fetch_all
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> wanted = []
    >>> for name in ("a.txt", "b.txt"):
    ...     _ = (folder / name).write_text(name)
    ...     wanted.append({"url": (folder / name).as_uri(), "sha256": hashlib.sha256(name.encode()).hexdigest()})
    >>> [path.name for path in fetch_all(wanted)]
    ['a.txt', 'b.txt']
    """
    if workers < 1:
        raise UserError(f"workers={workers} is not valid", remedy="use at least one worker")
    requested = [item if isinstance(item, FetchRequest) else FetchRequest(**item) for item in requests]
    distinct = list(dict.fromkeys(requested))
    outcomes: dict[FetchRequest, Path | FetchError] = {}
    unreachable: set[str] = set()
    meters = BatchMeter(len(distinct), progress=progress)
    shown = stage("fetching", len(distinct), unit="files") if progress else nullcontext(Stage("fetching"))
    with shown as batch, ThreadPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(_obtain, item, meters.file_meter, unreachable): item for item in distinct}
        try:
            for future in as_completed(futures):
                try:
                    outcomes[futures[future]] = future.result()
                except FetchError as error:
                    outcomes[futures[future]] = error
                batch.advance()
        except BaseException:
            meters.cancelled.set()  # otherwise the pool would wait for running downloads
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    paths = {item: path for item, path in outcomes.items() if isinstance(path, Path)}
    if len(paths) < len(distinct):
        failures = [failure for item in distinct if isinstance(failure := outcomes[item], FetchError)]
        raise _combined_error(failures, total=len(distinct))
    for item in distinct:
        _note_provenance(item, paths[item])
    return [paths[item] for item in requested]


def _combined_error(failures: list[FetchError], *, total: int) -> FetchError:
    if len(failures) == 1:
        return failures[0]
    lines = [f"{len(failures)} of {total} files could not be fetched:"]
    lines += [f"- {failure.message}" for failure in failures[:_SHOWN_FAILURES]]
    if len(failures) > _SHOWN_FAILURES:
        lines.append(f"- and {len(failures) - _SHOWN_FAILURES} more")
    remedies = dict.fromkeys(failure.remedy for failure in failures if failure.remedy)
    kind = SeveralUnavailable if all(isinstance(failure, DataUnavailable) for failure in failures) else SeveralFailures
    return kind("\n".join(lines), remedy="\n".join(remedies), errors=failures)


def _note_provenance(request: FetchRequest, path: Path) -> None:
    digests = request.digests or (Digest("sha256", file_digest(path, "sha256")),)
    hashes = {digest.algorithm: digest.value for digest in digests}
    provenance.note("file", url=redacted_url(request.address), path=str(path), **hashes)


def _obtain(request: FetchRequest, meter_of: _MeterFactory, unreachable: set[str]) -> Path:
    """Return a verified file; `unreachable` collects hosts that do not respond, to which no more requests are sent."""
    try:
        if not request.digests:
            return _obtain_without_hash(request, meter_of, unreachable)
        if request.url.startswith("file:"):
            return _local_file(request)
        return _obtain_with_hash(request, meter_of, unreachable)
    except Offline:
        unreachable.add(request.host)
        raise


def _obtain_with_hash(request: FetchRequest, meter_of: _MeterFactory, unreachable: set[str]) -> Path:
    rejected: list[tuple[Path, Digest]] = []
    for path in [*files_in_mirrors(request.address), request.cached]:
        if _is_expected_file(path, request, rejected):
            return path
    for path, actual in rejected:
        _logger.warning("%s is not used: expected %s, found %s", path, request.digests[0], actual)

    def check(unfinished: Path) -> None:
        if difference := digest_mismatch(unfinished, request.digests):
            raise _hash_mismatch_error(request, unfinished, *difference)

    target, address = request.cached, request.source.address
    try:
        _require_reachable(request, unreachable)
        with working_in(target.parent, f"store {address} in {target.parent}", url=address):
            # another process may have fetched it while this one waited for the lock
            if not _is_expected_file(target, request, []):
                _download(request, target, meter_of, check)
    except FetchError as error:
        notes = [f"{path} was ignored: it has {actual}" for path, actual in rejected]
        notes += [
            f"BRAINSCORE_MIRROR names {folder}, which is not a folder" for folder in mirrors() if not folder.is_dir()
        ]
        error.message = "\n".join([error.message, *notes])
        raise
    return target


def _obtain_without_hash(request: FetchRequest, meter_of: _MeterFactory, unreachable: set[str]) -> Path:
    """Return the file with the recorded hash, or the first copy if no hash is recorded yet."""
    folder, address = record_file(request).parent, request.source.address
    first = folder / request.name
    if recorded_digest(request) is None:
        _require_reachable(request, unreachable)
        with working_in(folder, f"store {address} in {folder}", url=address):
            if recorded_digest(request) is None:  # another process may have recorded it in the meantime
                _download(
                    request,
                    first,
                    meter_of,
                    lambda path: require_digest_prefix(request, path, file_digest(path, "sha256")),
                )
                digest = file_digest(first, "sha256")
                target = replace(request, sha256=digest).cached
                target.parent.mkdir(parents=True, exist_ok=True)
                first.replace(target)
                record_digest(request, digest)
                return target
    try:
        return _obtain(replace(request, sha256=recorded_digest(request)), meter_of, unreachable)
    except HashMismatch as error:
        error.remedy = (
            f"It is registered without a hash, so the hash of the first copy is required. If its owner replaced the "
            f"file on purpose, delete {folder}; or better, register the hash."
        )
        raise


def _download(request: FetchRequest, target: Path, meter_of: _MeterFactory, check: Callable[[Path], None]) -> None:
    """Download and check a file; without credentials, or with them if S3 denies this."""
    with replacing(target) as stream, meter_of(request.name) as meter:
        try:
            download(request.address, stream, meter=meter, expected=request.source.expected)
        except AccessDenied as denied:
            if request.s3 is None:
                raise
            download_signed(request.s3, request.version_id, stream, meter=meter, denied=denied)
        stream.flush()
        check(Path(stream.name))


def _is_expected_file(path: Path, request: FetchRequest, rejected: list[tuple[Path, Digest]]) -> bool:
    try:
        difference = digest_mismatch(path, request.digests)
    except FileNotFoundError:
        return False
    except OSError as error:
        _logger.warning("%s is not used: %s", path, error)
        return False
    if difference is not None:
        rejected.append((path, difference[1]))
    return difference is None


def _local_file(request: FetchRequest) -> Path:
    path = Path(urllib.request.url2pathname(urllib.parse.urlsplit(request.url).path))
    try:
        difference = digest_mismatch(path, request.digests)
    except OSError as error:
        problem = f"it cannot be read, {error.strerror}"
        raise NotFound.of(request.source, problem, "Check the path, or ask the owner of the data.") from error
    if difference is not None:
        raise _hash_mismatch_error(request, path, *difference)
    return path


def _require_reachable(request: FetchRequest, unreachable: set[str]) -> None:
    if request.host in unreachable:
        raise Offline.of(request.source, "its server did not respond to an earlier request", MIRROR_REMEDY)


def _hash_mismatch_error(request: FetchRequest, path: Path, expected: Digest, actual: Digest) -> HashMismatch:
    with path.open("rb") as stream:
        start = stream.read(512).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        hint = "The server returned a web page, perhaps a login page or one of a proxy: open the URL in a browser."
    elif request.url.startswith("file:"):
        hint = "If you changed the file, register its new hash, which `sha256sum FILE` prints, or package it again."
    else:
        hint = "If the owner of the data replaced the file, ask for the new hash or the old version."
    address, size = request.source.address, path.stat().st_size
    return _mismatch(
        f"{address} is not the registered file: expected {expected}, found {actual} ({size} bytes)",
        hint if request.url.startswith("file:") else f"{hint} The download was discarded.",
        address,
        expected,
        actual,
    )


def object_request(
    bucket: str, key: str, *, sha1: str | None, version_id: str | None, sha256: str | None = None
) -> FetchRequest:
    """Return the request for an object in S3; all loaders of this package use this function."""
    s3 = s3_object(bucket, key)
    unknown = sha1 is None and sha256 is None
    return FetchRequest(object_url(s3), sha1=sha1, sha256=sha256, version_id=version_id, first_use=unknown, s3=s3)
