"""Load stimulus sets, assemblies and files from S3, with credentials if they are private.

Every object is addressed by its version and checked by its sha1. It is searched in the mirrors, the cache and the
network, like all files of :func:`~brainscore_core.supported_data_standards.brainio.fetch.fetch`.
"""

import contextlib
import logging
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, file_digest, replacing
from brainscore_core.paths import cache_home, weights_home
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.buckets import object_url, s3_object
from brainscore_core.supported_data_standards.brainio.cache import digest_mismatch, parse_digest
from brainscore_core.supported_data_standards.brainio.downloads import (
    UnverifiedFileWarning,
    redacted_url,
    storage_error,
)
from brainscore_core.supported_data_standards.brainio.fetch import load_assembly, load_from_requests
from brainscore_core.supported_data_standards.brainio.remote_files import (
    FetchRequest,
    fetch_all,
    object_request,
    recorded_digest,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_SHOWN = 5  # maximum number of names in a message
_logger = logging.getLogger(__name__)


def is_in_place(request: FetchRequest, target: Path) -> bool:
    """Whether `target` is already the requested file."""
    digests = request.digests
    if not digests:
        held = recorded_digest(request)
        digests = () if held is None else (parse_digest("sha256", held),)
    return bool(digests) and target.is_file() and digest_mismatch(target, digests) is None


def copy_files(wanted: Sequence[tuple[FetchRequest, Path]]) -> None:
    """Fetch all files, then copy each to its place; files that are already in place are not copied."""
    missing = [(request, target) for request, target in wanted if not is_in_place(request, target)]
    for (request, target), source in zip(missing, fetch_all(request for request, _ in missing), strict=True):
        _copy(source, target, request)


def _copy(source: Path, target: Path, request: FetchRequest) -> None:
    try:
        with source.open("rb") as original, replacing(target) as copy:
            shutil.copyfileobj(original, copy)
    except OSError as error:
        address = redacted_url(request.url)
        raise storage_error(error, f"store {address} in {target.parent}", url=address) from error


def link_or_copy(source: Path, target: Path, request: FetchRequest) -> None:
    """Create a link in one step, so that large files are stored once; copy if links are not possible."""
    link = target.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
        link.replace(target)
    except OSError as error:
        _logger.debug("cannot link %s: %s", target, error)
        with contextlib.suppress(OSError):
            link.unlink(missing_ok=True)
        _copy(source, target, request)


def warn_about_unverified(loaded: Sequence[tuple[FetchRequest, Path]]) -> None:
    """Warn about files that are registered without a hash, and report their hashes."""
    unverified = [(request, path) for request, path in loaded if not request.digests]
    if not unverified:
        return
    lines = [
        f"{redacted_url(request.address)} has sha1 {file_digest(path, 'sha1')}" for request, path in unverified[:_SHOWN]
    ]
    more = f"; … ({len(unverified)} in all)" if len(unverified) > _SHOWN else ""
    warnings.warn(
        f"no sha1 is registered, so the first copy was assumed to be correct: {'; '.join(lines)}{more}. If you trust "
        "it, pass this value as sha1.",
        UnverifiedFileWarning,
        stacklevel=3,
    )


def sha1_hash(path: str | os.PathLike[str]) -> str:
    """Return the sha1 of a file, in 40 hexadecimal digits.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "empty"
    >>> path.touch()
    >>> sha1_hash(path)
    'da39a3ee5e6b4b0d3255bfef95601890afd80709'
    """
    return file_digest(Path(path), "sha1")


def load_stimulus_set_from_s3(
    identifier: str,
    bucket: str,
    csv_sha1: str | None = None,
    zip_sha1: str | None = None,
    csv_version_id: str | None = None,
    zip_version_id: str | None = None,
    filename_prefix: str | None = "stimulus_",
    *,
    csv_sha256: str | None = None,
    zip_sha256: str | None = None,
) -> StimulusSet:
    """Load a stimulus set: ``<prefix><identifier>.csv`` and ``.zip`` in a bucket, dots in the identifier as ``_``.

    Parameters
    ----------
    identifier : str
        Identifier of the stimulus set.
    bucket : str
        Bucket, or ``bucket/folder/…``.
    csv_sha1, csv_sha256 : str
        Hash of the table, of one kind or both.
    zip_sha1, zip_sha256 : str
        Hash of the archive, of one kind or both; None for stimuli without files.
    csv_version_id, zip_version_id : str, optional
        Their versions; by default the latest.
    filename_prefix : str, default 'stimulus_'
        Prefix of the file names; None selects the default.

    Raises
    ------
    FetchError
        If a file cannot be fetched, or has another hash.
    UserError
        If the files of the archive are not exactly those that the table lists, the archive is missing, or arguments
        are wrong.
    """
    name = ("stimulus_" if filename_prefix is None else filename_prefix) + identifier.replace(".", "_")
    table = _hashed_request(bucket, f"{name}.csv", csv_sha1, csv_sha256, csv_version_id, prefix="csv_")
    archive = None
    if zip_sha1 is not None or zip_sha256 is not None:
        archive = _hashed_request(bucket, f"{name}.zip", zip_sha1, zip_sha256, zip_version_id, prefix="zip_")
    stimulus_set = load_from_requests(identifier, table, archive)
    if archive is None and "filename" in stimulus_set.columns:
        raise UserError(
            f"the table of {identifier!r} lists files, but zip_sha1 is None",
            remedy="pass the hash of the archive, as zip_sha1 or zip_sha256",
        )
    return stimulus_set


def load_assembly_from_s3(
    identifier: str,
    version_id: str | None = None,
    sha1: str | None = None,
    bucket: str | None = None,
    cls: type[DataAssembly] | str | None = None,
    stimulus_set_loader: Callable[[], StimulusSet] | None = None,
    merge_stimulus_set_meta: bool = True,
    filename_prefix: str | None = "assy_",
    *,
    sha256: str | None = None,
) -> DataAssembly:
    """Load an assembly: ``<prefix><identifier>.nc`` in a bucket, dots in the identifier as ``_``.

    Parameters
    ----------
    identifier : str
        Identifier of the assembly.
    version_id : str, optional
        Version of the object; by default the latest.
    sha1, sha256 : str
        Its hash, of one kind or both.
    bucket : str
        Bucket, or ``bucket/folder/…``; required.
    cls : type or str
        Class of the assembly, or its name; required.
    stimulus_set_loader : callable, optional
        Returns the stimulus set; called once.
    merge_stimulus_set_meta : bool, default True
        Whether the stimulus set's columns become levels of `presentation`; see
        :class:`~brainscore_core.supported_data_standards.brainio.assemblies.AssemblyLoader`.
    filename_prefix : str, default 'assy_'
        Prefix of the file name; None selects the default.

    Returns
    -------
    DataAssembly
        Of class `cls`; ``attrs`` have `identifier`, and `stimulus_set` and `stimulus_set_identifier` if a loader is
        given.

    Raises
    ------
    FetchError
        The file cannot be fetched, or has another hash.
    UserError
        If arguments are missing or wrong.
    """
    if bucket is None or cls is None:
        missing = "bucket" if bucket is None else "cls"
        raise UserError(
            f"load_assembly_from_s3 of {identifier!r} lacks {missing}",
            remedy="pass bucket='bucket/folder' and cls=NeuroidAssembly, or another class",
        )
    name = ("assy_" if filename_prefix is None else filename_prefix) + identifier.replace(".", "_")
    request = _hashed_request(bucket, f"{name}.nc", sha1, sha256, version_id)
    (path,) = fetch_all([request])
    return load_assembly(identifier, path, cls, stimulus_set_loader, merge_stimulus_set_meta=merge_stimulus_set_meta)


def load_file_from_s3(
    bucket: str,
    path: str,
    local_filepath: str | os.PathLike[str] | None = None,
    sha1: str | None = None,
    version_id: str | None = None,
    *,
    sha256: str | None = None,
) -> Path:
    """Load one file.

    Parameters
    ----------
    bucket : str
        Bucket, or ``bucket/folder/…``.
    path : str
        Key of the object below `bucket`.
    local_filepath : path, optional
        Path of a copy; an existing file is replaced unless it has the expected hash. By default the file is used where
        it is: in a mirror or the cache.
    sha1, sha256 : str, optional
        Its hash. Without it, the first copy is accepted, later calls require the same content, and a warning reports
        the hash.
    version_id : str, optional
        Its version; by default the latest.

    Returns
    -------
    pathlib.Path
        The file, or its copy.

    Raises
    ------
    FetchError
        If the file cannot be fetched or written, or has another hash.

    Warns
    -----
    UnverifiedFileWarning
        Without `sha1`.
    """
    request = object_request(bucket, path, sha1=sha1, sha256=sha256, version_id=version_id)
    if local_filepath is None:
        source = fetch_all([request])[0]
        warn_about_unverified([(request, source)])
        return source
    target = Path(local_filepath).expanduser().absolute()
    copy_files([(request, target)])
    warn_about_unverified([(request, target)])
    return target


def download_file_if_not_exists(
    local_path: str | os.PathLike[str],
    bucket: str,
    remote_filepath: str,
    *,
    sha1: str | None = None,
    sha256: str | None = None,
) -> Path:
    """Load one file, unless `local_path` exists; an existing file is left unchanged.

    Parameters
    ----------
    local_path : path
        Path at which to store the file.
    bucket : str
        Bucket, or ``bucket/folder/…``.
    remote_filepath : str
        Key of the object below `bucket`.
    sha1, sha256 : str, optional
        Its hash, which is checked when the file is loaded; see :func:`load_file_from_s3`.

    Returns
    -------
    pathlib.Path
        `local_path`.

    Raises
    ------
    FetchError
        If the file cannot be fetched or written, or has another hash.

    Warns
    -----
    UnverifiedFileWarning
        If a file was loaded without `sha1`.
    """
    target = Path(local_path)
    return target if target.is_file() else load_file_from_s3(bucket, remote_filepath, target, sha1=sha1, sha256=sha256)


def load_folder_from_s3(
    bucket: str,
    folder_path: str,
    filename_version_sha: Iterable[tuple[str, str | None, str | None]],
    save_directory: str | os.PathLike[str],
) -> Path:
    """Load files of a folder.

    Parameters
    ----------
    bucket : str
        Bucket, or ``bucket/folder/…``.
    folder_path : str
        Folder below `bucket`.
    filename_version_sha : sequence of (str, str or None, str or None)
        Name, version (None: the latest) and sha1 of each file; names may contain folders. For a file without sha1, see
        :func:`load_file_from_s3`.
    save_directory : path
        Folder for the files, created if it does not exist. Existing files with the expected hash are left unchanged.

    Returns
    -------
    pathlib.Path
        `save_directory`.

    Raises
    ------
    FetchError
        If a file cannot be fetched or written, or has another hash. All files are tried first, and none is stored
        unless all were fetched.

    Warns
    -----
    UnverifiedFileWarning
        If a sha1 is missing.
    """
    root = Path(save_directory).expanduser().absolute()
    files = [
        (object_request(bucket, f"{folder_path.strip('/')}/{name}", sha1=sha1, version_id=version_id), root / name)
        for name, version_id, sha1 in filename_version_sha
        if _require_relative(name)
    ]
    copy_files(files)
    warn_about_unverified(files)
    return root


def load_file(
    bucket: str,
    relative_path: str,
    version_id: str | None = None,
    folder_name: str | None = None,
    sha1: str | None = None,
    *,
    sha256: str | None = None,
) -> Path:
    """Load a file into the folder of weights, ``$BRAINSCORE_HOME/<folder_name>/<relative_path>``.

    Parameters
    ----------
    bucket : str
        Bucket, or ``bucket/folder/…``.
    relative_path : str
        Key of the object below ``<folder_name>/``.
    version_id : str, optional
        Its version; by default the latest.
    folder_name : str, optional
        Folder of the bucket; by default ``$BRAINSCORE_S3_WEIGHT_FOLDER``, else ``models``.
    sha1, sha256 : str, optional
        Its hash. Without it, the first copy is accepted, later calls require the same content, and a warning reports
        the hash.

    Returns
    -------
    pathlib.Path
        The file: in a mirror if it exists there; else below ``$BRAINSCORE_HOME`` (default ``~/.brain-score``), as a
        link to the cache (a copy on systems without links).

    Raises
    ------
    FetchError
        If the file cannot be fetched or written, or has another hash.

    Warns
    -----
    UnverifiedFileWarning
        Without `sha1`.
    """
    folder = folder_name if folder_name is not None else os.environ.get("BRAINSCORE_S3_WEIGHT_FOLDER") or "models"
    _require_relative(relative_path)
    key = f"{folder.strip('/')}/{relative_path}"
    request = object_request(bucket, key, sha1=sha1, sha256=sha256, version_id=version_id)
    target = weights_home(folder.strip("/")) / relative_path
    if not is_in_place(request, target):
        (source,) = fetch_all([request])
        if source.is_relative_to(cache_home()):
            link_or_copy(source, target, request)
        else:
            target = source
    warn_about_unverified([(request, target)])
    return target


def load_weight_file(
    bucket: str,
    relative_path: str,
    version_id: str | None = None,
    sha1: str | None = None,
    folder_name: str | None = None,
    *,
    sha256: str | None = None,
) -> Path:
    """Load a weight file: :func:`load_file` with an older order of arguments.

    Parameters
    ----------
    bucket, relative_path, version_id, sha1, folder_name, sha256
        See :func:`load_file`.

    Returns
    -------
    pathlib.Path
        The file.
    """
    return load_file(bucket, relative_path, version_id=version_id, folder_name=folder_name, sha1=sha1, sha256=sha256)


def _hashed_request(
    bucket: str, key: str, sha1: str | None, sha256: str | None, version_id: str | None, *, prefix: str = ""
) -> FetchRequest:
    """Return the request for an object; data require a hash."""
    if sha1 is None and sha256 is None:
        raise UserError(
            f"no hash is given for {object_url(s3_object(bucket, key))}",
            remedy=f"pass {prefix}sha1 or {prefix}sha256, which `sha1sum FILE` and `sha256sum FILE` print",
        )
    return object_request(bucket, key, sha1=sha1, sha256=sha256, version_id=version_id)


def _require_relative(name: str) -> bool:
    """Raise an error if a name leads out of its folder."""
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name:
        raise UserError(f"{name!r} is not a path below a folder", remedy="pass its path relative to the folder")
    return True
