"""Package stimulus sets (CSV and ZIP) and assemblies (netCDF), and upload them to S3.

The same input always gives the same bytes, and therefore the same hashes.
"""

import contextlib
import shutil
import stat
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest, replacing_together
from brainscore_core.paths import packages_home
from brainscore_core.progress import stage
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.assembly_checks import NAN_ALLOWED, check_alignment, stimulus_ids
from brainscore_core.supported_data_standards.brainio.buckets import (
    AlreadyThere,
    NoCredentials,
    PublicAccessWarning,
    UploadError,
    check_overwrite,
    upload_to_s3,
)
from brainscore_core.supported_data_standards.brainio.catalogs import (
    ASSEMBLY,
    STIMULUS_SET,
    add_rows,
    catalog_row,
    check_not_taken,
)
from brainscore_core.supported_data_standards.brainio.findings import Finding, ValidationWarning, raise_for_errors
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.stimulus_checks import (
    check_files,
    check_identifier,
    check_stimulus_ids,
    check_table,
    csv_bytes,
    paths_by_id,
    stored_identifier,
    stored_names,
)
from brainscore_core.supported_data_standards.brainio.validation import (
    table_ids,
    validate_assembly,
    validate_stimulus_set,
)

__all__ = [
    "AlreadyThere",
    "NoCredentials",
    "PublicAccessWarning",
    "StimulusArchive",
    "UploadError",
    "create_stimulus_csv",
    "create_stimulus_zip",
    "package_data_assembly",
    "package_data_assembly_locally",
    "package_stimulus_set",
    "package_stimulus_set_locally",
    "upload_to_s3",
    "write_netcdf",
]

# the earliest date in a ZIP file, used for all files: modification times are not part of the data
_DATE = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


class StimulusArchive(NamedTuple):
    """Hash of an archive and the names of the stimuli's files in it, in the order of the table."""

    sha1: str
    filenames: list[str]


def package_stimulus_set_locally(
    proto_stimulus_set: pd.DataFrame, stimulus_set_identifier: str, downloads_path: str | Path | None = None
) -> dict[str, Any]:
    """Check a stimulus set and write it to files.

    ``stimulus_<identifier>.csv`` has all columns, in their order, and ``filename``. ``stimulus_<identifier>.zip`` has
    the files, without folders; their names are ``<stimulus_id><extension>``, or the value of the column
    ``stimulus_path_within_store`` with the extension. Dots in the identifier become ``_``. Stimuli without files give
    a CSV file without ``filename``, and no ZIP file.

    Parameters
    ----------
    proto_stimulus_set : StimulusSet
        The stimuli, with ``stimulus_paths``. It is not changed.
    stimulus_set_identifier : str
        Name of the stimulus set.
    downloads_path : str or Path, optional
        Folder for the files, created if it does not exist; by default ``~/Downloads/brainscore_packages``. Existing
        files with the same names are replaced together, with a warning if their content differs.

    Returns
    -------
    dict
        ``identifier``, ``csv_path``, ``zip_path``, ``csv_sha1``, ``zip_sha1``. The paths are text; ``zip_path`` and
        ``zip_sha1`` are None for stimuli without files.

    Raises
    ------
    ValidationError
        If there are errors; it has all findings, and nothing was written.

    Warns
    -----
    ValidationWarning
        If something is unusual, or files were replaced.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "miaow.wav").write_bytes(b"RIFF")
    4
    >>> sounds = StimulusSet([{"stimulus_id": "sound_1", "animal": "cat"}])
    >>> sounds.name = "Sounds2024"
    >>> sounds.stimulus_paths = {"sound_1": folder / "miaow.wav"}
    >>> package = package_stimulus_set_locally(sounds, sounds.name, downloads_path=folder / "packages")
    >>> print(Path(package["csv_path"]).read_text())
    stimulus_id,animal,filename
    sound_1,cat,sound_1.wav
    <BLANKLINE>
    >>> package["csv_sha1"]
    'd9e35bae4fb0ac2042e130403bbdc50fc86ffc11'
    """
    if stimulus_set_identifier is None:
        stimulus_set_identifier = getattr(proto_stimulus_set, "identifier", None)
    with stage("checking stimuli"):
        findings = validate_stimulus_set(proto_stimulus_set, stimulus_set_identifier)
    _raise_or_warn(findings)
    folder = _target_folder(downloads_path)
    name = f"stimulus_{stored_identifier(stimulus_set_identifier)}"
    csv_path, zip_path = folder / f"{name}.csv", folder / f"{name}.zip"
    has_files = bool(paths_by_id(proto_stimulus_set))
    table = pd.DataFrame(proto_stimulus_set)
    if has_files:
        table = table.assign(filename=stored_names(proto_stimulus_set))
    # the table last, so that a table implies its archive
    targets = [zip_path, csv_path] if has_files else [csv_path]
    with stage("packaging stimuli"), replacing_together(targets, warning=ValidationWarning) as unfinished:
        if has_files:
            _write_zip(proto_stimulus_set, unfinished[0])
            zip_sha1 = file_digest(unfinished[0], "sha1")
        unfinished[-1].write_bytes(csv_bytes(table))
        csv_sha1 = file_digest(unfinished[-1], "sha1")
    return {
        "identifier": stimulus_set_identifier,
        "csv_path": str(csv_path),
        "zip_path": str(zip_path) if has_files else None,
        "csv_sha1": csv_sha1,
        "zip_sha1": zip_sha1 if has_files else None,
    }


def package_data_assembly_locally(
    proto_data_assembly: xr.DataArray,
    assembly_identifier: str,
    stimulus_set_identifier: str | None,
    assembly_class_name: str | type[DataAssembly] = "NeuroidAssembly",
    downloads_path: str | Path | None = None,
    *,
    extras: Mapping[str, xr.DataArray] | None = None,
    allow_nan: str | None = None,
) -> dict[str, Any]:
    """Check an assembly and write it into ``assy_<identifier>.nc``; dots in the identifier become ``_``.

    The file names its stimulus set (attribute ``stimulus_set_identifier``), but does not contain it.

    Parameters
    ----------
    proto_data_assembly : DataAssembly
        The measurements. It is not changed.
    assembly_identifier : str
        Name of the assembly.
    stimulus_set_identifier : str or None
        Name of the stimuli that were shown, usually that of the assembly; None if there are none. If
        ``attrs['stimulus_set']`` is set, an id that it lacks is an error. If the folder has the packaged table of the
        stimulus set, an id that it lacks gives a warning, as the table may be outdated.
    assembly_class_name : str or type, default 'NeuroidAssembly'
        ``'NeuroidAssembly'``, ``'BehavioralAssembly'``, or any class that ``resolve_assembly_class`` accepts.
    downloads_path : str or Path, optional
        Folder for the file, created if it does not exist; by default ``~/Downloads/brainscore_packages``. An existing
        file with the same name is replaced, with a warning if its content differs.
    extras : mapping, optional
        Name → further assembly, stored in the same file.
    allow_nan : str, optional
        Why values are missing; stored as the attribute ``nan_allowed``, which may also be set beforehand.

    Returns
    -------
    dict
        ``identifier``, ``path`` (text), ``sha1``, ``cls``.

    Raises
    ------
    ValidationError
        If there are errors; it has all findings, and nothing was written.

    Warns
    -----
    ValidationWarning
        If something is unusual, or a file was replaced.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> choices = BehavioralAssembly(
    ...     [[0.8, 0.2], [0.3, 0.7]],
    ...     coords={"stimulus_id": ("presentation", ["a", "b"]), "choice": ("choice", ["cat", "dog"])},
    ...     dims=["presentation", "choice"],
    ... )
    >>> package = package_data_assembly_locally(
    ...     choices, "Pets2024", "Pets2024", "BehavioralAssembly", downloads_path=tempfile.mkdtemp()
    ... )
    >>> Path(package["path"]).name, package["cls"]
    ('assy_Pets2024.nc', 'BehavioralAssembly')
    """
    findings = check_identifier(assembly_identifier, what="assembly_identifier")
    with stage("checking measurements"):
        findings += validate_assembly(proto_data_assembly, assembly_class_name=assembly_class_name, allow_nan=allow_nan)
    if stimulus_set_identifier is not None:
        findings += check_identifier(stimulus_set_identifier, what="stimulus_set_identifier")
    for name, extra in (extras or {}).items():
        for finding in validate_assembly(extra, assembly_class_name=DataAssembly):
            findings.append(replace(finding, source=f"extra {name!r}"))
    folder = _target_folder(downloads_path)
    if isinstance(proto_data_assembly, xr.DataArray) and isinstance(stimulus_set_identifier, str):
        findings += _compare_with_package(proto_data_assembly, stimulus_set_identifier, folder)
    _raise_or_warn(findings)
    assembly = proto_data_assembly.copy(deep=False)
    assembly.attrs = {**proto_data_assembly.attrs, "identifier": assembly_identifier}
    assembly.attrs.pop("stimulus_set", None)
    assembly.attrs.pop("stimulus_set_identifier", None)
    if stimulus_set_identifier is not None:
        assembly.attrs["stimulus_set_identifier"] = stimulus_set_identifier
    if allow_nan is not None:
        assembly.attrs[NAN_ALLOWED] = allow_nan
    path = folder / f"assy_{stored_identifier(assembly_identifier)}.nc"
    with stage("packaging measurements"), replacing_together([path], warning=ValidationWarning) as unfinished:
        sha1 = write_netcdf(assembly, unfinished[0], extras=extras)
    cls = assembly_class_name if isinstance(assembly_class_name, str) else assembly_class_name.__name__
    return {"identifier": assembly_identifier, "path": str(path), "sha1": sha1, "cls": cls}


def create_stimulus_csv(proto_stimulus_set: pd.DataFrame, target_path: str | Path) -> str:
    """Write the table of a stimulus set, unchanged, to a CSV file.

    Parameters
    ----------
    proto_stimulus_set : StimulusSet
        A table with a column ``stimulus_id``. It may have a column ``filename``.
    target_path : str or Path
        The file; an existing file is replaced.

    Returns
    -------
    str
        SHA-1 of the file.

    Raises
    ------
    ValidationError
        If the ids are not valid, or a value cannot be stored in a CSV file.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> create_stimulus_csv(StimulusSet([{"stimulus_id": "a"}]), Path(tempfile.mkdtemp()) / "a.csv")
    'f8c21c410998baae58c333d864b5cbe0e99c7f58'
    """
    findings = list(check_table(proto_stimulus_set, allow_filename=True))
    if isinstance(proto_stimulus_set, pd.DataFrame) and proto_stimulus_set.columns.is_unique:
        findings += check_stimulus_ids(proto_stimulus_set)
    _raise_or_warn(findings)
    with replacing_together([Path(target_path).expanduser().absolute()], warning=ValidationWarning) as [unfinished]:
        unfinished.write_bytes(csv_bytes(proto_stimulus_set))
        return file_digest(unfinished, "sha1")


def create_stimulus_zip(proto_stimulus_set: pd.DataFrame, target_zip_path: str | Path) -> StimulusArchive:
    """Write the files of a stimulus set to a ZIP file, without folders and uncompressed.

    Parameters
    ----------
    proto_stimulus_set : StimulusSet
        Stimuli with ``stimulus_id`` and ``stimulus_paths``.
    target_zip_path : str or Path
        The file; an existing file is replaced.

    Returns
    -------
    StimulusArchive
        ``sha1`` of the ZIP file, and ``filenames`` of the stimuli, in the order of the table.

    Raises
    ------
    ValidationError
        If ids, paths or files are not valid.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "a.txt").write_text("cat")
    3
    >>> words = StimulusSet([{"stimulus_id": "word_1"}])
    >>> words.stimulus_paths = {"word_1": folder / "a.txt"}
    >>> create_stimulus_zip(words, folder / "words.zip").filenames
    ['word_1.txt']
    """
    findings = list(check_stimulus_ids(proto_stimulus_set))
    if not findings and not paths_by_id(proto_stimulus_set):
        findings = [Finding("no files", "stimulus_paths is empty", "set stimulus_paths = {stimulus_id: path, …}")]
    _raise_or_warn(findings or list(check_files(proto_stimulus_set)))
    with replacing_together([Path(target_zip_path).expanduser().absolute()], warning=ValidationWarning) as [unfinished]:
        filenames = _write_zip(proto_stimulus_set, unfinished)
        return StimulusArchive(file_digest(unfinished, "sha1"), filenames)


def _write_zip(stimulus_set: pd.DataFrame, path: Path) -> list[str]:
    names = stored_names(stimulus_set)
    paths = paths_by_id(stimulus_set)
    with zipfile.ZipFile(path, "x", compression=zipfile.ZIP_STORED) as archive:
        for name, stimulus_id in zip(names, stimulus_set["stimulus_id"], strict=True):
            source = Path(paths[stimulus_id])
            member = zipfile.ZipInfo(name, date_time=_DATE)
            member.create_system = _UNIX
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            member.file_size = source.stat().st_size  # so that files over 2 GiB get the required headers
            with source.open("rb") as stream, archive.open(member, "w") as stored:
                shutil.copyfileobj(stream, stored, 1 << 20)
    return names


def _target_folder(downloads_path: str | Path | None) -> Path:
    folder = packages_home() if downloads_path is None else Path(downloads_path)
    return folder.expanduser().absolute()


def _raise_or_warn(findings: Sequence[Finding]) -> None:
    """Raise an error if there is one; otherwise issue the warnings."""
    raise_for_errors(findings)
    for finding in findings:
        warnings.warn(str(finding), ValidationWarning, stacklevel=3)


def _compare_with_package(assembly: xr.DataArray, stimulus_set_identifier: str, folder: Path) -> list[Finding]:
    table = folder / f"stimulus_{stored_identifier(stimulus_set_identifier)}.csv"
    ids = table_ids(table) if table.is_file() else None
    if ids is None:
        return []
    findings = check_alignment(stimulus_ids(assembly), ids, where=str(table))
    return [replace(finding, severity="warning") for finding in findings]


def package_stimulus_set(
    catalog_name: str | None = None,
    proto_stimulus_set: pd.DataFrame | None = None,
    stimulus_set_identifier: str | None = None,
    bucket_name: str | None = None,
    *,
    downloads_path: str | Path | None = None,
    overwrite: bool = False,
    public: bool = False,
) -> dict[str, Any]:
    """Check a stimulus set, package it, and upload table and archive to S3.

    Needs ``pip install 'brainscore[s3]'`` and credentials (``aws configure``).

    Parameters
    ----------
    catalog_name : str or None
        Catalog to which the data are added: name of an installed catalog, or path of a ``lookup.csv``, which is created
        if it does not exist. None if a plugin registers the data.
    proto_stimulus_set : StimulusSet
        The stimuli; see :func:`package_stimulus_set_locally`.
    stimulus_set_identifier : str
        Name of the stimulus set; by default its own ``identifier``.
    bucket_name : str
        Bucket, or ``bucket/folder/…``.
    downloads_path : path, optional
        Folder in which to keep the package; by default it is not kept.
    overwrite : bool, default False
        Whether objects with different content may be replaced. Objects with the same content are left unchanged.
    public : bool, default False
        Make the data public; see :func:`upload_to_s3`.

    Returns
    -------
    dict
        The arguments of `load_stimulus_set_from_s3`: ``identifier``, ``bucket``, ``csv_sha1``, ``zip_sha1``,
        ``csv_version_id``, ``zip_version_id``. Those of the archive are None for stimuli without files; versions are
        None if the bucket has no versioning.

    Raises
    ------
    ValidationError
        If there are errors; it has all findings, and nothing was uploaded.
    UploadError
        If the server refuses the upload; `AlreadyThere` if it has other data with that name, and nothing was uploaded.
    NoCredentials
        If boto3 is not installed or finds no credentials.

    Warns
    -----
    PublicAccessWarning
        If the data are public although `public` is False, or private although it is True.
    """
    _require_catalog_name(catalog_name, "catalog_name", "proto_stimulus_set")
    if proto_stimulus_set is None:
        raise UserError("proto_stimulus_set is missing", remedy="pass proto_stimulus_set=… (a StimulusSet)")
    bucket = _require_bucket(bucket_name)
    identifier: Any = stimulus_set_identifier  # None: the stimulus set's own identifier
    with _package_folder(downloads_path) as folder:
        package = package_stimulus_set_locally(proto_stimulus_set, identifier, downloads_path=folder)
        # the archive first, so that a table implies its archive
        kinds = [kind for kind in ("zip", "csv") if package[f"{kind}_path"]]
        versions = _upload(
            [(package[f"{kind}_path"], package[f"{kind}_sha1"]) for kind in kinds],
            bucket,
            catalog_name,
            package["identifier"],
            STIMULUS_SET,
            cls="StimulusSet",
            overwrite=overwrite,
            public=public,
        )
    version_of = dict(zip(kinds, versions, strict=True))
    return {
        "identifier": package["identifier"],
        "bucket": bucket,
        "csv_sha1": package["csv_sha1"],
        "zip_sha1": package["zip_sha1"],
        "csv_version_id": version_of["csv"],
        "zip_version_id": version_of.get("zip"),
    }


def package_data_assembly(
    catalog_identifier: str | None = None,
    proto_data_assembly: xr.DataArray | None = None,
    assembly_identifier: str | None = None,
    stimulus_set_identifier: str | None = None,
    assembly_class_name: str | type[DataAssembly] = "NeuroidAssembly",
    bucket_name: str | None = None,
    extras: Mapping[str, xr.DataArray] | None = None,
    *,
    allow_nan: str | None = None,
    downloads_path: str | Path | None = None,
    overwrite: bool = False,
    public: bool = False,
) -> dict[str, Any]:
    """Check an assembly, package it, and upload it to S3.

    Needs ``pip install 'brainscore[s3]'`` and credentials (``aws configure``).

    Parameters
    ----------
    catalog_identifier : str or None
        Catalog to which the data are added: name of an installed catalog, or path of a ``lookup.csv``, which is created
        if it does not exist. None if a plugin registers the data.
    proto_data_assembly : DataAssembly
        The measurements; see :func:`package_data_assembly_locally`.
    assembly_identifier : str
        Name of the assembly.
    stimulus_set_identifier : str or None
        Name of the stimuli that were shown.
    assembly_class_name : str or type, default 'NeuroidAssembly'
        Class of the assembly.
    bucket_name : str
        Bucket, or ``bucket/folder/…``.
    extras : mapping, optional
        Name → further assembly, stored in the same file.
    allow_nan : str, optional
        Why values are missing.
    downloads_path : path, optional
        Folder in which to keep the package; by default it is not kept.
    overwrite : bool, default False
        Whether an object with different content may be replaced. An object with the same content is left unchanged.
    public : bool, default False
        Make the data public; see :func:`upload_to_s3`.

    Returns
    -------
    dict
        The arguments of `load_assembly_from_s3`: ``identifier``, ``version_id`` (None if the bucket has no
        versioning), ``sha1``, ``bucket``, ``cls``.

    Raises
    ------
    ValidationError
        If there are errors; it has all findings, and nothing was uploaded.
    UploadError
        If the server refuses the upload; `AlreadyThere` if it has other data with that name.
    NoCredentials
        If boto3 is not installed or finds no credentials.

    Warns
    -----
    PublicAccessWarning
        If the data are public although `public` is False, or private although it is True.
    """
    _require_catalog_name(catalog_identifier, "catalog_identifier", "proto_data_assembly")
    if proto_data_assembly is None or assembly_identifier is None:
        missing = "proto_data_assembly" if proto_data_assembly is None else "assembly_identifier"
        raise UserError(f"{missing} is missing", remedy=f"pass {missing}=…")
    bucket = _require_bucket(bucket_name)
    with _package_folder(downloads_path) as folder:
        package = package_data_assembly_locally(
            proto_data_assembly,
            assembly_identifier,
            stimulus_set_identifier,
            assembly_class_name,
            downloads_path=folder,
            extras=extras,
            allow_nan=allow_nan,
        )
        (version,) = _upload(
            [(package["path"], package["sha1"])],
            bucket,
            catalog_identifier,
            assembly_identifier,
            ASSEMBLY,
            cls=package["cls"],
            stimulus_set_identifier=stimulus_set_identifier,
            overwrite=overwrite,
            public=public,
        )
    return {
        "identifier": assembly_identifier,
        "version_id": version,
        "sha1": package["sha1"],
        "bucket": bucket,
        "cls": package["cls"],
    }


def _upload(
    files: Sequence[tuple[str, str]],
    bucket: str,
    catalog: str | None,
    identifier: str,
    lookup_type: str,
    *,
    cls: str,
    stimulus_set_identifier: str | None = None,
    overwrite: bool,
    public: bool,
) -> list[str | None]:
    """Upload files, of which the paths and hashes are given, and add them to the catalog; return their versions."""
    if not overwrite:
        check_not_taken(catalog, identifier, lookup_type, [sha1 for _, sha1 in files])
    paths = [Path(path) for path, _ in files]
    for path in paths:
        check_overwrite(path, bucket, path.name, overwrite=overwrite)
    versions: list[str | None] = [
        upload_to_s3(path, bucket, path.name, overwrite=overwrite, public=public)["VersionId"] for path in paths
    ]
    if catalog is not None:
        rows = [
            catalog_row(
                identifier,
                lookup_type,
                bucket=bucket,
                key=path.name,
                sha1=sha1,
                version_id=version,
                cls=None if path.suffix == ".zip" else cls,
                stimulus_set_identifier=stimulus_set_identifier,
            )
            for path, (_, sha1), version in zip(paths, files, versions, strict=True)
        ]
        add_rows(catalog, rows[::-1], replace=overwrite)
    return versions


def _require_catalog_name(catalog: Any, name: str, data: str) -> None:
    if isinstance(catalog, pd.DataFrame | xr.DataArray):
        raise UserError(f"the first argument is {name}, not the data", remedy=f"pass the data as {data}=…")


def _require_bucket(bucket_name: str | None) -> str:
    if not bucket_name:
        raise UserError(
            "bucket_name is missing",
            remedy="pass bucket_name='bucket' or 'bucket/folder'; you receive its name when access is granted",
        )
    return bucket_name.strip("/")


@contextlib.contextmanager
def _package_folder(downloads_path: str | Path | None) -> Iterator[Path]:
    if downloads_path is not None:
        yield Path(downloads_path)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
