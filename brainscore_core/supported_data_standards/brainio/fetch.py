"""Fetch data files and load them as stimulus sets and assemblies.

:func:`fetch` and :func:`fetch_all` return verified local files. Data are named by a URL, by a catalog's row
or by a catalog's identifier; for files in S3 see :mod:`s3`.
"""

import os
import urllib.parse
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.errors import UserError
from brainscore_core.paths import cache_home
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    NeuroidAssembly,
    resolve_assembly_class,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.cache import unzip
from brainscore_core.supported_data_standards.brainio.catalogs import installed_catalogs
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
from brainscore_core.supported_data_standards.brainio.lookup import (
    SOURCE_CATALOG,
    lookup_assembly,
    lookup_stimulus_set,
)
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.remote_files import (
    FetchRequest,
    cache_folder,
    fetch,
    fetch_all,
    object_request,
)
from brainscore_core.supported_data_standards.brainio.stimuli import (
    LEGACY_STIMULUS_ID,
    LISTED_AT_MOST,
    STIMULUS_ID,
    STIMULUS_ID_COLUMNS,
    StimulusSet,
    StimulusSetLoader,
    link_files,
    list_first,
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


class AssemblyLoader:
    """Reads an assembly and connects it with its stimulus set.

    Parameters
    ----------
    cls : type or str
        Class of the assembly, or its name.
    file_path : path
        The netCDF file.
    stimulus_set_identifier : str, optional
        By default the identifier of `stimulus_set`, else the one in the file.
    stimulus_set : StimulusSet, optional
        The stimuli that were shown.
    merge_stimulus_set_meta : bool, default True
        Whether the stimulus set's columns become levels of `presentation`.
    identifier : str, optional
        Name of the data set for error messages.

    Notes
    -----
    The merge is a left join on `stimulus_id`: presentations keep their number and order. If the assembly already has a
    level with the name of a column, the level is kept and the column is left out. A presentation of a stimulus that is
    not in the stimulus set is an error. An assembly without a dimension `presentation` is not merged. Older files that
    have only `image_id` also get `stimulus_id`, and integer ids become text.

    The result's ``encoding['source']`` is the path of the file, for later error messages.
    """

    def __init__(
        self,
        cls: type[DataAssembly] | str,
        file_path: str | os.PathLike[str],
        stimulus_set_identifier: str | None = None,
        stimulus_set: StimulusSet | None = None,
        merge_stimulus_set_meta: bool = True,
        *,
        identifier: str | None = None,
    ) -> None:
        self.cls = resolve_assembly_class(cls)
        self.file_path = Path(file_path)
        self.stimulus_set_identifier = stimulus_set_identifier
        self.stimulus_set = stimulus_set
        self.merge_stimulus_set_meta = merge_stimulus_set_meta
        self.identifier = identifier

    def load(self) -> DataAssembly:
        """Read the file; the result's ``attrs`` have `stimulus_set` and `stimulus_set_identifier`.

        Raises
        ------
        UserError
            If the file cannot be read, its dimensions are not those of its class, a coordinate is missing, or the
            stimulus set lacks a stimulus. The message names the data set, the file and the coordinate.
        """
        with warnings.catch_warnings():
            # similarity matrices are published as presentation × presentation × neuroid
            warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
            return self._load()

    def _load(self) -> DataAssembly:
        where = str(self.file_path) if self.identifier is None else f"{self.identifier} ({self.file_path})"
        assembly = _with_stimulus_ids(_with_class(read_netcdf(self.file_path), self.cls, where))
        stimulus_set = self.stimulus_set
        if stimulus_set is not None:
            if self.merge_stimulus_set_meta:
                assembly = _with_stimulus_columns(assembly, stimulus_set, where)
            assembly.attrs["stimulus_set"] = stimulus_set
        identifier = self.stimulus_set_identifier or getattr(stimulus_set, "identifier", None)
        if identifier is not None:
            assembly.attrs["stimulus_set_identifier"] = identifier
        assembly.encoding["source"] = str(self.file_path)
        return assembly


def _with_class(assembly: DataAssembly, cls: type[DataAssembly], where: str) -> DataAssembly:
    """Convert an assembly to the class with which it is registered, if it has that class's dimensions."""
    actual = " × ".join(map(str, assembly.dims)) or "none"
    if cls.DIMS and not any(set(assembly.dims) == set(dims) for dims in cls.DIMS):
        expected = " or ".join(" × ".join(dims) for dims in cls.DIMS)
        raise UserError(
            f"{where} has the dimensions {actual}, but those of a {cls.__name__} are {expected}",
            remedy="package the data again with these dimensions, or register them with another class, such as "
            "DataAssembly or BehavioralAssembly, which accept any dimensions",
        )
    if issubclass(cls, NeuroidAssembly) and "time_bin" in assembly.dims:
        dims_of = {name: dims for name, dims, _ in walk_coords(assembly)}
        for name in ("time_bin_start", "time_bin_end"):
            if dims_of.get(name) != ("time_bin",):
                raise UserError(
                    f"{where} has the dimensions {actual}, but no coordinate {name!r} on time_bin",
                    remedy=f"package the data again with coords={{'{name}': ('time_bin', milliseconds)}}",
                )
    return cls(assembly)


def _with_stimulus_ids(assembly: DataAssembly) -> DataAssembly:
    """Add the level `stimulus_id` if only the older `image_id` exists, and convert integer ids to text."""
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    corrected = {name: (coords[name][0], _text_ids(coords[name][1])) for name in STIMULUS_ID_COLUMNS if name in coords}
    if STIMULUS_ID not in corrected and LEGACY_STIMULUS_ID in corrected:
        corrected[STIMULUS_ID] = corrected[LEGACY_STIMULUS_ID]
    if all(name in coords and values is coords[name][1] for name, (_, values) in corrected.items()):
        return assembly
    return _with_coords(assembly, coords | corrected)


def _text_ids(values: np.ndarray) -> np.ndarray:
    """Return ids as text if they are integers, and unchanged otherwise."""
    if values.dtype.kind not in "iuf":
        return values
    if values.dtype.kind == "f" and np.array_equal(values, np.round(values)):
        values = values.astype(np.int64)
    return np.array([str(value) for value in values.ravel()], dtype=object).reshape(values.shape)


def _with_stimulus_columns(assembly: DataAssembly, stimulus_set: StimulusSet, where: str) -> DataAssembly:
    if "presentation" not in assembly.dims:
        return assembly
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    if STIMULUS_ID not in coords:
        raise UserError(
            f"{where} has no coordinate 'stimulus_id' on presentation, so its stimuli are unknown",
            remedy="add it, or pass merge_stimulus_set_meta=False",
        )
    ids = pd.Index(np.atleast_1d(coords[STIMULUS_ID][1]).astype(str), dtype=object)
    table = pd.DataFrame(stimulus_set).set_index(pd.Index(stimulus_set[STIMULUS_ID].astype(str), dtype=object))
    if not table.index.is_unique:
        repeated = table.index[table.index.duplicated()].unique()
        raise UserError(
            f"the stimulus set of {where} has duplicate values of 'stimulus_id': {list_first(repeated)}",
            remedy="give each stimulus its own id",
        )
    columns = [column for column in table.columns if column not in coords and column not in assembly.dims]
    rows = table.index.get_indexer(ids)
    unknown = ids[rows < 0].unique()
    if len(unknown):
        none = not (rows >= 0).any()
        name = getattr(stimulus_set, "identifier", None)
        named = f" {name!r}" if name else ""
        raise UserError(
            f"{'none' if none else f'{len(unknown)}'} of the stimuli of {where} {'is' if none else 'are not'} in the "
            f"stimulus set{named}; coordinate 'stimulus_id' has {list_first(unknown)}, "
            f"the stimulus set {list_first(table.index[:LISTED_AT_MOST])}",
            remedy="load the stimulus set that belongs to the assembly, or pass merge_stimulus_set_meta=False",
        )
    joined = table[columns].reindex(ids)
    merged = {str(column): (("presentation",), _column_values(joined[column])) for column in columns}
    return _with_coords(assembly, {**coords, **merged})


def _column_values(column: "pd.Series[Any]") -> np.ndarray:
    """Return a column's values: text as objects, whatever string type pandas uses, and missing values as NaN."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), np.nan).to_numpy(dtype=object)


def _with_coords(assembly: DataAssembly, coords: Mapping[Any, Any]) -> DataAssembly:
    return type(assembly)(assembly.values, coords=coords, dims=assembly.dims, attrs=assembly.attrs, name=assembly.name)


def load_stimulus_set_from_url(
    *,
    identifier: str,
    csv_url: str,
    csv_sha256: str,
    zip_url: str | None = None,
    zip_sha256: str | None = None,
    files: Iterable[FetchRequest | Mapping[str, Any]] = (),
) -> StimulusSet:
    r"""Load a stimulus set from a server of its authors.

    Parameters
    ----------
    identifier : str
        Its identifier.
    csv_url, csv_sha256 : str
        The table and its hash; see :class:`StimulusSetLoader` for its columns.
    zip_url, zip_sha256 : str, optional
        An archive of the stimuli, and its hash.
    files : iterable of FetchRequest or of dict, optional
        Separate files instead of an archive: ``{'url': …, 'sha256': …}``; the last part of the URL (or ``'filename'``)
        is the value in the table's column `filename`. Without archive and files, the stimuli have no files.

    Returns
    -------
    StimulusSet

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
    table_request = FetchRequest(csv_url, sha256=csv_sha256)
    if zip_url is not None:
        return load_from_requests(identifier, table_request, FetchRequest(zip_url, sha256=zip_sha256))
    if not requests:
        return load_from_requests(identifier, table_request, None)
    table = read_stimulus_table(fetch(csv_url, sha256=csv_sha256))
    names = [request.name for request in requests]
    require_files(table, set(names), source=csv_url, files="the given files")
    return _with_identifier(link_files(table, dict(zip(names, fetch_all(requests), strict=True))), identifier)


def load_assembly_from_url(
    *,
    identifier: str,
    url: str,
    sha256: str,
    cls: type[DataAssembly] | str,
    stimulus_set_loader: Callable[[], StimulusSet] | None = None,
    merge_stimulus_set_meta: bool = True,
) -> DataAssembly:
    """Load an assembly from a server of its authors.

    Parameters
    ----------
    identifier : str
        Its identifier.
    url, sha256 : str
        The netCDF file and its hash.
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
    path = fetch(url, sha256=sha256)
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


def load_from_requests(identifier: str, table: FetchRequest, archive: FetchRequest | None) -> StimulusSet:
    """Fetch table and archive together; unpack the archive in the cache, even if it comes from a mirror."""
    if archive is None:
        return _with_identifier(StimulusSetLoader(StimulusSet, fetch_all([table])[0]).load(), identifier)
    csv_path, zip_path = fetch_all([table, archive])
    name = Path(archive.name)
    folder = unzip(zip_path, into=cache_folder(archive) / (name.stem if name.suffix else f"{name}_files"))
    return _with_identifier(StimulusSetLoader(StimulusSet, csv_path, folder).load(), identifier)


def _with_identifier(stimulus_set: StimulusSet, identifier: str) -> StimulusSet:
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


def _bucket_and_key(location: str) -> tuple[str, str] | None:
    """Bucket and key of an S3 address of any style; None for other addresses."""
    parts = urllib.parse.urlsplit(location)
    path = urllib.parse.unquote(parts.path).lstrip("/")
    if parts.scheme == "s3":
        return parts.netloc, path
    bucket = _bucket_of_host((parts.hostname or "").lower())
    if bucket is None:
        return None
    if not bucket:
        bucket, _, path = path.partition("/")
    return bucket, path


def _bucket_of_host(host: str) -> str | None:
    """Bucket in a host name of S3; empty if the bucket is in the path; None for other hosts."""
    labels = host.removesuffix(".cn").removesuffix(".amazonaws.com").split(".")
    if len(labels) == len(host.split(".")):
        return None
    for place, label in enumerate(labels):
        if label == "s3" or label.startswith("s3-"):
            return ".".join(labels[:place])
    return None


def get_stimulus_set(identifier: str) -> StimulusSet:
    """Load a stimulus set that a catalog lists.

    Parameters
    ----------
    identifier : str
        Its name in the catalogs.

    Returns
    -------
    StimulusSet

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
    row = lookup_assembly(identifier)
    stimuli = row["stimulus_set_identifier"]
    stimulus_set = None if pd.isna(stimuli) else get_stimulus_set(stimuli)
    (path,) = fetch_all([_row_request(row)])
    cls = "DataAssembly" if pd.isna(row["class"]) else row["class"]
    assembly = AssemblyLoader(cls, path, stimulus_set=stimulus_set).load()
    assembly.attrs["identifier"] = identifier
    return assembly


def _row_request(row: "pd.Series[Any]") -> FetchRequest:
    """Return the request for a row of a catalog."""
    catalog = row[SOURCE_CATALOG]
    file = Path(installed_catalogs()[catalog].source_path)
    values = {name: _cell_text(row.get(name)) for name in ("location_type", "location", "sha1", "version_id")}
    if not values["sha1"] or not values["location"]:
        raise UserError(
            f"the catalog {catalog!r} has no {'sha1' if values['location'] else 'location'} for a file of "
            f"{row['identifier']!r}",
            remedy=f"add it to {file}",
        )
    return location_request(
        values["location_type"] or "none",
        values["location"],
        sha1=values["sha1"],
        version_id=values["version_id"],
        folder=file.parent,
    )


def _cell_text(value: Any) -> str | None:
    return None if value is None or pd.isna(value) else str(value)
