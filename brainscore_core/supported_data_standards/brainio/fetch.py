"""Fetch data files and load them as stimulus sets and assemblies.

:func:`fetch` and :func:`fetch_all` return verified local files. Data are named by a URL, by a catalog's row
or by a catalog's identifier; for files in S3 see :mod:`s3`.
"""

import re
import urllib.parse
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from brainscore_core.errors import UserError
from brainscore_core.paths import cache_home
from brainscore_core.supported_data_standards.brainio.assemblies import (
    AssemblyLoader,
    DataAssembly,
    resolve_assembly_class,
)
from brainscore_core.supported_data_standards.brainio.cache import unzip
from brainscore_core.supported_data_standards.brainio.catalogs import (
    SOURCE_CATALOG,
    installed_catalogs,
    lookup_assembly,
    lookup_stimulus_set,
)
from brainscore_core.supported_data_standards.brainio.downloads import (
    AccessDenied,
    FetchError,
    HashMismatch,
    IncompleteDownload,
    NotFound,
    Offline,
    SeveralFailures,
    SeveralUnavailable,
    StorageError,
    UnverifiedFileWarning,
)
from brainscore_core.supported_data_standards.brainio.remote_files import (
    FetchRequest,
    cache_folder,
    fetch,
    fetch_all,
    object_request,
)
from brainscore_core.supported_data_standards.brainio.stimuli import (
    StimulusSet,
    StimulusSetLoader,
    link_files,
    read_stimulus_table,
    require_files,
)

__all__ = [
    "AccessDenied",
    "AssemblyLoader",
    "FetchError",
    "FetchRequest",
    "HashMismatch",
    "IncompleteDownload",
    "NotFound",
    "Offline",
    "SeveralFailures",
    "SeveralUnavailable",
    "StimulusSetLoader",
    "StorageError",
    "UnverifiedFileWarning",
    "cache_home",
    "fetch",
    "fetch_all",
    "fetch_file",
    "get_assembly",
    "get_stimulus_set",
    "load_assembly",
    "load_assembly_from_url",
    "load_from_requests",
    "load_stimulus_set_from_url",
    "location_request",
    "resolve_assembly_class",
    "unzip",
]


def load_stimulus_set_from_url(
    *,
    identifier: str,
    csv_url: str,
    csv_sha256: str | None = None,
    zip_url: str | None = None,
    zip_sha256: str | None = None,
    files: Iterable[FetchRequest | Mapping[str, Any]] = (),
    csv_sha1: str | None = None,
    zip_sha1: str | None = None,
) -> StimulusSet:
    r"""Load a stimulus set from a server of its authors, or from this machine (``file://``).

    Parameters
    ----------
    identifier : str
        Its identifier.
    csv_url, csv_sha256, csv_sha1 : str
        The table and its hash, of one kind or both; see :class:`StimulusSetLoader` for its columns.
    zip_url, zip_sha256, zip_sha1 : str, optional
        An archive of the stimuli, and its hash.
    files : iterable of FetchRequest or of dict, optional
        Separate files instead of an archive: ``{'url': …, 'sha256': …}``; the last part of the URL (or ``'filename'``)
        is the value in the table's column `filename`. Without archive and files, the stimuli have no files.

    Raises
    ------
    FetchError
        If a file cannot be fetched, or is not the registered one.
    UserError
        If the files are not exactly those that the table lists.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import load_stimulus_set_from_url
    >>> table = Path(tempfile.mkdtemp()) / "words.csv"
    >>> _ = table.write_text("stimulus_id,word\nw1,cat\nw2,dog\n")
    >>> stimulus_set = load_stimulus_set_from_url(
    ...     identifier="Words2026",
    ...     csv_url=table.as_uri(),
    ...     csv_sha256=hashlib.sha256(table.read_bytes()).hexdigest(),
    ... )
    >>> stimulus_set.identifier, list(stimulus_set["word"])
    ('Words2026', ['cat', 'dog'])
    """
    requests = [item if isinstance(item, FetchRequest) else FetchRequest(**item) for item in files]
    if requests and zip_url is not None:
        raise UserError(f"{identifier}: both zip_url and files are given", remedy="pass only one of them")
    table = FetchRequest(csv_url, sha256=csv_sha256, sha1=csv_sha1)
    archive = None if zip_url is None else FetchRequest(zip_url, sha256=zip_sha256, sha1=zip_sha1)
    return load_from_requests(identifier, table, archive, requests)


def load_assembly_from_url(
    *,
    identifier: str,
    url: str,
    sha256: str | None = None,
    cls: type[DataAssembly] | str,
    stimulus_set_loader: Callable[[], StimulusSet] | None = None,
    merge_stimulus_set_meta: bool = True,
    sha1: str | None = None,
) -> DataAssembly:
    """Load an assembly from a server of its authors, or from this machine (``file://``).

    Parameters
    ----------
    identifier : str
        Its identifier.
    url, sha256, sha1 : str
        The netCDF file and its hash, of one kind or both.
    cls : type or str
        Class of the assembly, or its name.
    stimulus_set_loader : callable, optional
        Returns the stimulus set; called once.
    merge_stimulus_set_meta : bool, default True
        See :class:`AssemblyLoader`.

    Returns
    -------
    DataAssembly
        Of class `cls`; ``attrs`` have `identifier`, and `stimulus_set` and `stimulus_set_identifier` if a loader is
        given.
    """
    path = fetch(url, sha256=sha256, sha1=sha1)
    return load_assembly(identifier, path, cls, stimulus_set_loader, merge_stimulus_set_meta=merge_stimulus_set_meta)


def load_assembly(
    identifier: str,
    path: Path,
    cls: type[DataAssembly] | str,
    stimulus_set_loader: Callable[[], StimulusSet] | None,
    *,
    merge_stimulus_set_meta: bool,
) -> DataAssembly:
    """Read a fetched assembly and set its identifier."""
    stimulus_set = stimulus_set_loader() if stimulus_set_loader is not None else None
    assembly = AssemblyLoader(
        cls,
        path,
        stimulus_set=stimulus_set,
        merge_stimulus_set_meta=merge_stimulus_set_meta,
        identifier=identifier,
    ).load()
    assembly.attrs["identifier"] = identifier
    return assembly


def load_from_requests(
    identifier: str, table: FetchRequest, archive: FetchRequest | None, files: Sequence[FetchRequest] = ()
) -> StimulusSet:
    """Fetch table and archive or files together; unpack the archive in the cache, even if it comes from a mirror."""
    csv_path, *paths = fetch_all([table, *(files if archive is None else [archive])])
    if archive is not None:
        name = Path(archive.name)
        folder = unzip(paths[0], into=cache_folder(archive) / (name.stem if name.suffix else f"{name}_files"))
        stimulus_set = StimulusSetLoader(StimulusSet, csv_path, folder).load()
    elif files:
        rows, names = read_stimulus_table(csv_path), [request.name for request in files]
        require_files(rows, set(names), source=table.url, files="the given files")
        stimulus_set = link_files(rows, dict(zip(names, paths, strict=True)))
    else:
        stimulus_set = StimulusSetLoader(StimulusSet, csv_path).load()
    stimulus_set.identifier = identifier
    return stimulus_set


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
        If the file cannot be fetched, or has another hash.
    UserError
        If the location type does not exist.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> rates = Path(tempfile.mkdtemp()) / "rates.csv"
    >>> _ = rates.write_text("stimulus_id,rate")
    >>> Path(fetch_file("local", str(rates), hashlib.sha1(rates.read_bytes()).hexdigest())).name
    'rates.csv'
    """
    request = location_request(location_type, location, sha1=sha1, version_id=version_id, folder=Path.cwd())
    return str(fetch_all([request])[0])


def location_request(
    location_type: str, location: str, *, sha1: str | None, version_id: str | None, folder: Path
) -> FetchRequest:
    """Return the request for a location; paths are relative to `folder`."""
    if location_type == "S3":
        bucket_and_key = _bucket_and_key(location)
        if bucket_and_key is None:  # an address of another server
            return FetchRequest(location, sha1=sha1, version_id=version_id)
        return object_request(*bucket_and_key, sha1=sha1, version_id=version_id)
    if location_type == "local":
        if not location.startswith("file:"):
            location = (folder / Path(location).expanduser()).absolute().as_uri()
        return FetchRequest(location, sha1=sha1)
    raise UserError(f"unknown location type {location_type!r} (of {location})", remedy="use 'S3' or 'local'")


_S3_HOST = re.compile(r"(?:(.+?)\.)?s3(?:-[^.]+)?(?:\..+)?\.amazonaws\.com(?:\.cn)?")


def _bucket_and_key(location: str) -> tuple[str, str] | None:
    """Bucket and key of an S3 address of any style; None for other addresses."""
    address = urllib.parse.urlsplit(location)
    path = urllib.parse.unquote(address.path).lstrip("/")
    if address.scheme == "s3":
        return address.netloc, path
    match = _S3_HOST.fullmatch((address.hostname or "").lower())
    if match is None:
        return None
    bucket, _, key = ("", "", path) if match[1] else path.partition("/")
    return match[1] or bucket, key


def get_stimulus_set(identifier: str) -> StimulusSet:
    """Load a stimulus set that a catalog lists.

    Parameters
    ----------
    identifier : str
        Its name in the catalogs.

    Raises
    ------
    StimulusSetLookupError
        If no catalog has it.
    FetchError
        If a file cannot be fetched, or its hash differs from the catalog's.
    """
    table, archive = lookup_stimulus_set(identifier)
    requests = (_row_request(table), None if archive is None else _row_request(archive))
    return load_from_requests(identifier, *requests)


def get_assembly(identifier: str) -> DataAssembly:
    """Load an assembly that a catalog lists, with the stimulus set that the catalog names for it.

    Parameters
    ----------
    identifier : str
        Its name in the catalogs.

    Returns
    -------
    DataAssembly
        Of the class in the catalog; the stimulus set's columns are levels of ``presentation``.

    Raises
    ------
    AssemblyLookupError
        If no catalog has it.
    StimulusSetLookupError
        If no catalog has its stimulus set.
    FetchError
        If a file cannot be fetched, or its hash differs from the catalog's.
    """
    row = lookup_assembly(identifier).dropna()
    stimuli = row.get("stimulus_set_identifier")
    loader = None if stimuli is None else partial(get_stimulus_set, stimuli)
    (path,) = fetch_all([_row_request(row)])
    return load_assembly(identifier, path, row.get("class", "DataAssembly"), loader, merge_stimulus_set_meta=True)


def _row_request(row: "pd.Series[Any]") -> FetchRequest:
    """Return the request for a row of a catalog."""
    catalog, values = row[SOURCE_CATALOG], row.dropna()
    file = Path(installed_catalogs()[catalog].source_path)
    for name in ("location", "sha1"):
        if name not in values:
            raise UserError(
                f"the catalog {catalog!r} has no {name} for a file of {row['identifier']!r}",
                remedy=f"add it to {file}",
            )
    return location_request(
        values.get("location_type", "none"),
        values["location"],
        sha1=values["sha1"],
        version_id=values.get("version_id"),
        folder=file.parent,
    )
