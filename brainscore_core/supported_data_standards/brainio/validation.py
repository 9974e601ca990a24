"""Validation of stimulus sets, assemblies and packaged files.

All findings are reported at once.
"""

import os
import zipfile
import zlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
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

_PREFIXES = ("stimulus_", "assy_")


def check_packages(
    paths: Iterable[str | os.PathLike[str]], *, cls: str | type[DataAssembly] | None = None
) -> dict[Path, list[Finding]]:
    """Check files, each on its own and against the files that belong to it.

    Returns the findings of each file, in the given order.
    """
    files = list(dict.fromkeys(Path(path) for path in paths))
    findings_of: dict[Path, list[Finding]] = {}
    kinds: dict[str, list[Path]] = {".csv": [], ".zip": [], ".nc": []}
    for path in files:
        findings_of[path] = _check_present(path, kinds)
        if not findings_of[path]:
            kinds[path.suffix.lower()].append(path)
    tables = {path: _read_table(path, findings_of[path]) for path in kinds[".csv"]}
    archives = {path: _read_archive(path, findings_of[path]) for path in kinds[".zip"]}
    _compare_archives(tables, archives, findings_of)
    for path in kinds[".nc"]:
        findings_of[path] += _check_assembly(path, tables, cls)
    return {path: with_source(findings, str(path)) for path, findings in findings_of.items()}


def _check_present(path: Path, kinds: Mapping[str, Any]) -> list[Finding]:
    if not path.exists():
        return [Finding("missing file", f"{path} does not exist", "check the path")]
    if not path.is_file():
        return [Finding("folder in place of a file", f"{path} is not a file", "pass the files in it")]
    if path.suffix.lower() not in kinds:
        return [
            Finding(
                "kind of file", f"{path.name} ends in {path.suffix!r}", "pass files with the suffix .csv, .zip or .nc"
            )
        ]
    if not path.stat().st_size:
        return [Finding("empty file", f"{path.name} has no content", "package or copy it again")]
    return []


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
        findings.append(
            Finding("old column name", "'image_id' is an old name of 'stimulus_id'", "package it again", "warning")
        )
        table = table.rename(columns={"image_id": "stimulus_id"})
    if "stimulus_id" not in table.columns:
        findings.append(
            Finding(
                "missing stimulus_id",
                f"{path.name} has no column 'stimulus_id'",
                f"add it; the columns are {format_values(table.columns)}",
            )
        )
        return None
    if table.empty:
        findings.append(Finding("empty data", f"{path.name} has no rows", "package it again"))
    findings += check_ids(table["stimulus_id"].tolist(), where=path.name)
    if "filename" in table.columns:
        names = table["filename"].tolist()
        if blank := [stimulus for stimulus, name in zip(table["stimulus_id"], names, strict=True) if not name]:
            findings.append(
                Finding(
                    "missing file name",
                    f"'filename' is empty for {format_values(blank)}",
                    "every stimulus must have a file",
                )
            )
        findings += check_stored_names([name for name in names if name])
    return table


def _read_archive(path: Path, findings: list[Finding]) -> list[str] | None:
    """Names of the stimuli in an archive; None if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not is_file_manager_file(member.filename)]
            names = [member.filename for member in members]
            findings += check_stored_names([name for name in dict.fromkeys(names) if not name.endswith("/")])
            if twice := duplicates(names):
                findings.append(
                    Finding("duplicate file name", f"{format_values(twice)} occur more than once", "package it again")
                )
            if special := [m.filename for m in members if m.is_dir() or is_special(m)]:
                findings.append(
                    Finding("unsafe file name", f"{format_values(special)} are folders or links", "store regular files")
                )
            if locked := [member.filename for member in members if is_encrypted(member)]:
                findings.append(
                    Finding("encrypted file", f"{format_values(locked)} have a password", "pack without a password")
                )
            plain = [m for m in members if not m.is_dir() and not is_encrypted(m)]
            if empty := [member.filename for member in plain if not member.file_size]:
                findings.append(Finding("empty file", f"{format_values(empty)} have no content", "package them again"))
            findings += _check_contents(archive, [member for member in plain if member.file_size])
            return [name for name in names if not name.endswith("/")]
    except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
        findings.append(Finding("unreadable archive", f"{path.name}: {error}", "it must be a complete ZIP file"))
        return None


def _check_contents(archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]) -> list[Finding]:
    damaged, whole = [], []
    for member in members:
        try:
            with archive.open(member) as stream:
                while stream.read(1 << 20):
                    pass
            whole.append(member)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
            damaged.append(member.filename)
    findings = check_media([(m.filename, PurePosixPath(m.filename), partial(_open_member, archive, m)) for m in whole])
    if damaged:
        findings.append(
            Finding(
                "damaged archive",
                f"{format_values(damaged)} cannot be unpacked",
                "package or download the archive again",
            )
        )
    return findings


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, _mode: str) -> IO[bytes]:
    return archive.open(member)


def _compare_archives(
    tables: Mapping[Path, pd.DataFrame | None],
    archives: Mapping[Path, list[str] | None],
    findings_of: dict[Path, list[Finding]],
) -> None:
    lone = len(tables) == len(archives) == 1
    matched = set()
    for csv, table in tables.items():
        archive = next((path for path in archives if path.stem == csv.stem), next(iter(archives)) if lone else None)
        listed = None if table is None or "filename" not in table.columns else set(table["filename"]) - {""}
        if archive is None:
            if listed:
                findings_of[csv].append(
                    Finding(
                        "archive not given",
                        f"it lists {len(listed)} files, which were not checked",
                        f"also pass {csv.stem}.zip",
                        "warning",
                    )
                )
            continue
        matched.add(archive)
        if archives[archive] is None or table is None:
            continue
        if listed is None:
            findings_of[csv].append(
                Finding(
                    "missing file name",
                    f"it has no column 'filename', but {archive.name} exists",
                    "package both again",
                )
            )
            continue
        stored = set(archives[archive] or [])
        if lacking := sorted(listed - stored):
            findings_of[archive].append(
                Finding(
                    "missing file",
                    f"{format_values(lacking)} are listed in {csv.name}, but not here",
                    "package both again",
                )
            )
        if extra := sorted(stored - listed):
            findings_of[archive].append(
                Finding(
                    "unlisted file",
                    f"{format_values(extra)} are here, but not listed in {csv.name}",
                    "package both again",
                )
            )
    for path in archives:
        if path not in matched:
            findings_of[path].append(
                Finding(
                    "table not given",
                    "the stimuli of the files were not checked",
                    f"also pass {path.stem}.csv",
                    "warning",
                )
            )


def _check_assembly(
    path: Path, tables: Mapping[Path, pd.DataFrame | None], cls: str | type[DataAssembly] | None
) -> list[Finding]:
    try:
        assembly = read_netcdf(path, DataAssembly)
    except (UserError, ValueError) as error:  # a ValueError if coordinates contradict each other
        remedy = error.remedy if isinstance(error, UserError) and error.remedy else "package it again"
        message = error.message if isinstance(error, UserError) else str(error)
        return [Finding("unreadable assembly", message, remedy)]
    findings = check_class(assembly, cls) if cls is not None else []
    findings += check_coordinates(assembly) + check_values(assembly)
    named = assembly.attrs.get("stimulus_set_identifier")
    csv = _table_of(path, named, list(tables))
    table = None if csv is None else tables[csv]
    if csv is not None and table is not None:
        ids = table["stimulus_id"].tolist()
        findings += check_alignment(stimulus_ids(assembly), ids, where=csv.name, unshown=True)
    return findings


def _table_of(path: Path, named: Any, tables: Sequence[Path]) -> Path | None:
    """The stimulus set of an assembly: the one named in its file, or the one with its name, or the only one."""
    names = [stored_identifier(named)] if isinstance(named, str) else []
    names.append(_without_prefix(path.stem))
    for name in names:
        for table in tables:
            if _without_prefix(table.stem) == name:
                return table
    return tables[0] if len(tables) == 1 else None


def _without_prefix(stem: str) -> str:
    for prefix in _PREFIXES:
        stem = stem.removeprefix(prefix)
    return stem


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
    findings = check_table(stimulus_set)
    if not isinstance(stimulus_set, pd.DataFrame):
        return findings
    own_name = getattr(stimulus_set, "identifier", None)
    own_name = own_name if isinstance(own_name, str) else None  # in a plain table, `name` can be a column
    findings = check_identifier(own_name if identifier is None else identifier) + findings
    if identifier is not None and own_name is not None and own_name != identifier:
        findings.append(
            Finding(
                "two names",
                f"the stimulus set is named {own_name!r}, but packaged as {identifier!r}",
                "ignore this if it is intended; otherwise pass stimulus_set.name",
                "warning",
            )
        )
    if stimulus_set.columns.is_unique:
        findings += check_stimulus_ids(stimulus_set)
        if "stimulus_id" in stimulus_set and all(isinstance(value, Hashable) for value in stimulus_set["stimulus_id"]):
            findings += check_files(stimulus_set)
    return with_source(findings, f"stimulus set {own_name if identifier is None else identifier}")


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
    cls = _class_of(assembly) if assembly_class_name is None else assembly_class_name
    findings = [] if identifier is None else check_identifier(identifier, what="assembly_identifier")
    findings += check_class(assembly, cls) + check_coordinates(assembly)
    findings += check_storable(assembly) + check_values(assembly, allow_nan=allow_nan)
    shown = assembly.attrs.get("stimulus_set") if stimulus_set is None else stimulus_set
    if isinstance(shown, pd.DataFrame):
        findings += _alignment(assembly, shown, unshown=False)
    return with_source(findings, "assembly" if identifier is None else f"assembly {identifier}")


def _class_of(assembly: xr.DataArray) -> type[DataAssembly]:
    return type(assembly) if isinstance(assembly, DataAssembly) else DataAssembly


def _alignment(assembly: xr.DataArray, stimulus_set: pd.DataFrame, *, unshown: bool) -> list[Finding]:
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
        findings += with_source(_alignment(assembly, stimulus_set, unshown=True), "assembly")
    return findings


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
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    findings_of = check_packages([Path(path) for path in several], cls=assembly_class_name)
    return [finding for findings in findings_of.values() for finding in findings]
