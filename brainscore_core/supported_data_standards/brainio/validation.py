"""Validation of stimulus sets, assemblies and packaged files.

All findings are reported at once.
"""

import os
import zipfile
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pandas as pd
import xarray as xr

from brainscore_core.archives import is_encrypted, is_file_manager_file, is_special
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.assembly_checks import (
    check_alignment,
    check_class,
    check_coordinates,
    check_storable,
    check_values,
    stimulus_ids,
)
from brainscore_core.supported_data_standards.brainio.findings import (
    Finding,
    ValidationError,
    ValidationWarning,
    errors_among,
    format_values,
    raise_for_errors,
    with_source,
)
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.stimulus_checks import (
    check_files,
    check_identifier,
    check_ids,
    check_media,
    check_stimulus_ids,
    check_stored_names,
    check_table,
    duplicates,
    stored_identifier,
)
from brainscore_core.supported_data_standards.brainio.tables import read_csv

__all__ = [
    "Finding",
    "ValidationError",
    "ValidationWarning",
    "check_identifier",
    "errors_among",
    "raise_for_errors",
    "table_ids",
    "validate_assembly",
    "validate_files",
    "validate_pair",
    "validate_stimulus_set",
]

_KINDS = (".csv", ".zip", ".nc")


def validate_files(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    assembly_class_name: str | type[DataAssembly] | None = None,
) -> list[Finding]:
    """Check packaged files: tables (CSV), archives (ZIP) and assemblies (netCDF), in any combination.

    ``stimulus_X.csv``, ``stimulus_X.zip`` and ``assy_X.nc`` belong together; an assembly that names another stimulus
    set is compared with that set. A single table and a single archive belong together, whatever their names.

    Parameters
    ----------
    paths : path, or iterable of paths
        The files.
    assembly_class_name : str, optional
        Class of the assemblies. Without it, their dimensions are not checked.

    Returns
    -------
    list of Finding
        Findings with the path of the file as ``source``.

    Examples
    --------
    >>> [finding.check for finding in validate_files(["nowhere/stimulus_X.csv"])]
    ['missing file']
    """
    files = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    findings_of = {path: list(_check_present(path)) for path in files}
    kinds: dict[str, list[Path]] = {kind: [] for kind in _KINDS}
    for path, findings in findings_of.items():
        if not findings:
            kinds[path.suffix.lower()].append(path)
    tables = {path: _read_table(path, findings_of[path]) for path in kinds[".csv"]}
    archives = {path: _read_archive(path, findings_of[path]) for path in kinds[".zip"]}
    for path, finding in _compare_archives(tables, archives):
        findings_of[path].append(finding)
    for path in kinds[".nc"]:
        findings_of[path] += _check_assembly(path, tables, assembly_class_name)
    return [finding for path, findings in findings_of.items() for finding in with_source(findings, str(path))]


def _check_present(path: Path) -> Iterator[Finding]:
    if not path.exists():
        yield Finding("missing file", f"{path} does not exist", "check the path")
    elif not path.is_file():
        yield Finding("folder in place of a file", f"{path} is not a file", "pass the files in it")
    elif path.suffix.lower() not in _KINDS:
        culprit = f"{path.name} ends in {path.suffix!r}"
        yield Finding("kind of file", culprit, "pass files with the suffix .csv, .zip or .nc")
    elif not path.stat().st_size:
        yield Finding("empty file", f"{path.name} has no content", "package or copy it again")


def table_ids(path: Path) -> list[str] | None:
    """Stimulus ids of a packaged table; None if it cannot be read or has no ids."""
    table = _read_table(path, [])
    return None if table is None else table["stimulus_id"].tolist()


def _read_table(path: Path, findings: list[Finding]) -> pd.DataFrame | None:
    """The columns of ids and of file names, as text; None if there are no ids."""
    try:
        # as text, because the ids '001' and 'NA' are neither a number nor missing
        table = read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        findings.append(Finding("unreadable table", f"{path.name}: {error}", "it must be a CSV file in UTF-8"))
        return None
    if "stimulus_id" not in table.columns and "image_id" in table.columns:
        culprit = "'image_id' is an old name of 'stimulus_id'"
        findings.append(Finding("old column name", culprit, "package it again", "warning"))
        table = table.rename(columns={"image_id": "stimulus_id"})
    if "stimulus_id" not in table.columns:
        remedy = f"add it; the columns are {format_values(table.columns)}"
        findings.append(Finding("missing stimulus_id", f"{path.name} has no column 'stimulus_id'", remedy))
        return None
    if table.empty:
        findings.append(Finding("empty data", f"{path.name} has no rows", "package it again"))
    findings += check_ids(table["stimulus_id"], where=path.name)
    if "filename" in table.columns:
        unnamed = table["filename"] == ""
        if unnamed.any():
            culprit = f"'filename' is empty for {format_values(table['stimulus_id'][unnamed])}"
            findings.append(Finding("missing file name", culprit, "every stimulus must have a file"))
        findings += check_stored_names(table["filename"][~unnamed].tolist())
    return table


def _read_archive(path: Path, findings: list[Finding]) -> list[str] | None:
    """Names of the stimuli in an archive; None if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not is_file_manager_file(member.filename)]
            findings += _check_members(archive, members)
            return [member.filename for member in members if not member.is_dir()]
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        findings.append(Finding("unreadable archive", f"{path.name}: {error}", "it must be a complete ZIP file"))
        return None


def _check_members(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]) -> Iterator[Finding]:
    yield from check_stored_names(list(dict.fromkeys(member.filename for member in members if not member.is_dir())))
    readable = [member for member in members if not member.is_dir() and not is_encrypted(member)]
    damaged = [member for member in readable if not _can_be_unpacked(archive, member)]
    for check, names, problem, remedy in (
        (
            "duplicate file name",
            duplicates(each.filename for each in members),
            "occur more than once",
            "package it again",
        ),
        (
            "unsafe file name",
            [each.filename for each in members if each.is_dir() or is_special(each)],
            "are folders or links",
            "store regular files",
        ),
        (
            "encrypted file",
            [each.filename for each in members if is_encrypted(each)],
            "have a password",
            "pack without a password",
        ),
        (
            "empty file",
            [each.filename for each in readable if not each.file_size],
            "have no content",
            "package them again",
        ),
        (
            "damaged archive",
            [each.filename for each in damaged],
            "cannot be unpacked",
            "package or download the archive again",
        ),
    ):
        if names:
            yield Finding(check, f"{format_values(names)} {problem}", remedy)
    whole = [member for member in readable if member.file_size and member not in damaged]
    yield from check_media(
        [(each.filename, PurePosixPath(each.filename), partial(_open_member, archive, each)) for each in whole]
    )


def _can_be_unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    try:
        with archive.open(member) as stream:
            while stream.read(1 << 20):
                pass
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        return False
    return True


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, _mode: str) -> IO[bytes]:
    return archive.open(member)


def _compare_archives(
    tables: Mapping[Path, pd.DataFrame | None], archives: Mapping[Path, list[str] | None]
) -> Iterator[tuple[Path, Finding]]:
    """Compare each table with its archive; yields findings with the path of the file that they are about."""
    lone = len(tables) == len(archives) == 1
    unmatched = dict.fromkeys(archives)
    for csv, table in tables.items():
        archive = next((path for path in archives if path.stem == csv.stem), next(iter(archives)) if lone else None)
        listed = None if table is None or "filename" not in table.columns else set(table["filename"]) - {""}
        if archive is None:
            if listed:
                culprit = f"it lists {len(listed)} files, which were not checked"
                yield csv, Finding("archive not given", culprit, f"also pass {csv.stem}.zip", "warning")
            continue
        unmatched.pop(archive, None)
        names = archives[archive]
        if names is None or table is None:
            continue
        if listed is None:
            culprit = f"it has no column 'filename', but {archive.name} exists"
            yield csv, Finding("missing file name", culprit, "package both again")
            continue
        if lacking := sorted(listed.difference(names)):
            culprit = f"{format_values(lacking)} are listed in {csv.name}, but not here"
            yield archive, Finding("missing file", culprit, "package both again")
        if extra := sorted(set(names) - listed):
            culprit = f"{format_values(extra)} are here, but not listed in {csv.name}"
            yield archive, Finding("unlisted file", culprit, "package both again")
    for path in unmatched:
        culprit = "the stimuli of the files were not checked"
        yield path, Finding("table not given", culprit, f"also pass {path.stem}.csv", "warning")


def _check_assembly(
    path: Path, tables: Mapping[Path, pd.DataFrame | None], cls: str | type[DataAssembly] | None
) -> Iterator[Finding]:
    try:
        assembly = read_netcdf(path, DataAssembly)
    except UserError as error:
        yield Finding("unreadable assembly", error.message, error.remedy or "package it again")
        return
    except ValueError as error:  # coordinates contradict each other
        yield Finding("unreadable assembly", str(error), "package it again")
        return
    if cls is not None:
        yield from check_class(assembly, cls)
    yield from check_coordinates(assembly)
    yield from check_values(assembly)
    csv = _table_of(path, assembly.attrs.get("stimulus_set_identifier"), list(tables))
    table = None if csv is None else tables[csv]
    if csv is not None and table is not None:
        yield from check_alignment(stimulus_ids(assembly), table["stimulus_id"], where=csv.name, unshown=True)


def _table_of(path: Path, named: Any, tables: Sequence[Path]) -> Path | None:
    """The stimulus set of an assembly: the one named in its file, or the one with its name, or the only one."""
    by_name = {_without_prefix(table): table for table in reversed(tables)}
    only = tables[0] if len(tables) == 1 else None
    of_same_name = by_name.get(_without_prefix(path), only)
    return by_name.get(stored_identifier(named), of_same_name) if isinstance(named, str) else of_same_name


def _without_prefix(path: Path) -> str:
    return path.stem.removeprefix("stimulus_").removeprefix("assy_")


def validate_stimulus_set(stimulus_set: pd.DataFrame, identifier: str | None = None) -> list[Finding]:
    """Check a stimulus set: its name, its table, its ids and its files.

    Parameters
    ----------
    stimulus_set : StimulusSet
        The stimuli, which are not changed. Images are decoded completely; other files must exist and not be empty.
    identifier : str, optional
        Name under which they will be packaged; by default their own ``name``.

    Returns
    -------
    list of Finding
        Errors and warnings; empty if all checks passed. Metadata may be missing (NaN); ids may not.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> stimuli = StimulusSet([{"stimulus_id": "a"}, {"stimulus_id": "a"}])
    >>> stimuli.name = "MyExperiment2024"
    >>> stimuli.stimulus_paths = {"a": "nowhere/a.png"}
    >>> for finding in validate_stimulus_set(stimuli):
    ...     print(finding.check, "|", finding.culprit)
    duplicate stimulus_id | the stimulus set has duplicate ids: 'a'
    missing file | a → nowhere/a.png
    """
    if not isinstance(stimulus_set, pd.DataFrame):
        return list(check_table(stimulus_set))
    stated = getattr(stimulus_set, "identifier", None)
    stated = stated if isinstance(stated, str) else None  # in a plain table, `name` can be a column
    name = stated if identifier is None else identifier
    findings = [*check_identifier(name), *check_table(stimulus_set)]
    if stated not in (None, name):
        culprit = f"the stimulus set is named {stated!r}, but packaged as {name!r}"
        remedy = "ignore this if it is intended; otherwise pass stimulus_set.name"
        findings.append(Finding("two names", culprit, remedy, "warning"))
    if stimulus_set.columns.is_unique:
        findings += check_stimulus_ids(stimulus_set)
        if "stimulus_id" in stimulus_set and all(isinstance(value, Hashable) for value in stimulus_set["stimulus_id"]):
            findings += check_files(stimulus_set)
    return with_source(findings, f"stimulus set {name}")


def validate_assembly(
    assembly: xr.DataArray,
    stimulus_set: pd.DataFrame | None = None,
    assembly_class_name: str | type[DataAssembly] | None = None,
    *,
    identifier: str | None = None,
    allow_nan: str | None = None,
) -> list[Finding]:
    """Check an assembly: its dimensions, coordinates and values, and its stimuli.

    Parameters
    ----------
    assembly : DataAssembly
        The assembly, which is not changed.
    stimulus_set : StimulusSet, optional
        Stimuli that were shown; by default ``assembly.attrs['stimulus_set']``, if it exists.
    assembly_class_name : str, optional
        Class with which it will be packaged; by default its own.
    identifier : str, optional
        Name under which it will be packaged. Without it names are not checked.
    allow_nan : str, optional
        Why values are missing; by default ``assembly.attrs['nan_allowed']``. Without a reason, NaN is an error.
        Infinite values are always errors.

    Returns
    -------
    list of Finding
        Errors and warnings; empty if all checks passed.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> coords = {"stimulus_id": ("presentation", ["a", "b"])}
    >>> assembly = BehavioralAssembly([1.0, float("nan")], coords=coords, dims=["presentation"])
    >>> for finding in validate_assembly(assembly):
    ...     print(finding.culprit)
    1 of 2 values are missing (50 %), in 1 of 2 along presentation
    >>> assembly.attrs["nan_allowed"] = "the subject did not answer"
    >>> validate_assembly(assembly)
    []
    """
    if not isinstance(assembly, xr.DataArray):
        kind = type(assembly).__name__
        return [Finding("not an assembly", f"got a {kind}", "create one: DataAssembly(values, coords=…, dims=…)")]
    shown = assembly.attrs.get("stimulus_set") if stimulus_set is None else stimulus_set
    findings = [
        *([] if identifier is None else check_identifier(identifier, what="assembly_identifier")),
        *check_class(
            assembly, assembly_class_name or (type(assembly) if isinstance(assembly, DataAssembly) else DataAssembly)
        ),
        *check_coordinates(assembly),
        *check_storable(assembly),
        *check_values(assembly, allow_nan=allow_nan),
        *(_check_stimuli(assembly, shown, unshown=False) if isinstance(shown, pd.DataFrame) else []),
    ]
    return with_source(findings, "assembly" if identifier is None else f"assembly {identifier}")


def _check_stimuli(assembly: xr.DataArray, stimulus_set: pd.DataFrame, *, unshown: bool) -> Iterable[Finding]:
    if "stimulus_id" not in stimulus_set.columns:
        return check_stimulus_ids(stimulus_set)
    ids = stimulus_set["stimulus_id"].tolist()
    return check_alignment(stimulus_ids(assembly), ids, where="the stimulus set", unshown=unshown)


def validate_pair(
    stimulus_set: pd.DataFrame, assembly: xr.DataArray, *, assembly_class_name: str | type[DataAssembly] | None = None
) -> list[Finding]:
    """Check a stimulus set, an assembly, and whether they belong together.

    Parameters
    ----------
    stimulus_set : StimulusSet
        Stimuli; see :func:`validate_stimulus_set`.
    assembly : DataAssembly
        Responses to them; see :func:`validate_assembly`.
    assembly_class_name : str, optional
        Class with which the assembly will be packaged.

    Returns
    -------
    list of Finding
        Errors and warnings; one warning names stimuli without any response.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> stimuli = StimulusSet([{"stimulus_id": "1"}])
    >>> stimuli.name = "Words2024"
    >>> coords = {"stimulus_id": ("presentation", ["2"])}
    >>> assembly = BehavioralAssembly([1.0], coords=coords, dims=["presentation"])
    >>> for finding in errors_among(validate_pair(stimuli, assembly)):
    ...     print(finding.culprit)
    1 stimuli are not in the stimulus set: '2'
    """
    findings = validate_stimulus_set(stimulus_set)
    if not isinstance(assembly, xr.DataArray) or not isinstance(stimulus_set, pd.DataFrame):
        return findings + validate_assembly(assembly)
    alone = assembly.copy(deep=False)
    alone.attrs = {key: value for key, value in assembly.attrs.items() if key != "stimulus_set"}
    findings += validate_assembly(alone, assembly_class_name=assembly_class_name)
    if "stimulus_id" in stimulus_set.columns and stimulus_set.columns.is_unique:
        findings += with_source(_check_stimuli(assembly, stimulus_set, unshown=True), "assembly")
    return findings
