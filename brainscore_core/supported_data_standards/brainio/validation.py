"""Checks of stimulus sets, assemblies and packaged files, all of whose findings are reported at once."""

import os
from collections.abc import Hashable, Iterable
from pathlib import Path

import pandas as pd
import xarray as xr

from brainscore_core.supported_data_standards.brainio._check_assembly import (
    check_alignment,
    check_class,
    check_coordinates,
    check_storable,
    check_values,
    stimulus_ids,
)
from brainscore_core.supported_data_standards.brainio._check_files import check_packages
from brainscore_core.supported_data_standards.brainio._check_names import check_identifier
from brainscore_core.supported_data_standards.brainio._check_stimuli import check_files, check_ids_of, check_table
from brainscore_core.supported_data_standards.brainio._findings import (
    Finding,
    ValidationError,
    ValidationWarning,
    errors_among,
    from_source,
    raise_for_errors,
)
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

__all__ = [
    "Finding",
    "ValidationError",
    "ValidationWarning",
    "check_identifier",
    "errors_among",
    "raise_for_errors",
    "validate_assembly",
    "validate_files",
    "validate_pair",
    "validate_stimulus_set",
]


def validate_stimulus_set(stimulus_set: pd.DataFrame, identifier: str | None = None) -> list[Finding]:
    """Check a stimulus set: its name, its table, its ids and its files.

    Parameters
    ----------
    stimulus_set : StimulusSet
        What to check. It is not changed. Its files are read: images are decoded whole, of others it is only checked
        that they are there and not empty.
    identifier : str, optional
        Name under which it will be packaged; by default its own ``name``.

    Returns
    -------
    list of Finding
        Errors and warnings; empty if all is well. Metadata may be missing (NaN); ids may not.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    >>> stimuli = StimulusSet([{"stimulus_id": "a"}, {"stimulus_id": "a"}])
    >>> stimuli.name = "MyExperiment2024"
    >>> stimuli.stimulus_paths = {"a": "nowhere/a.png"}
    >>> for finding in validate_stimulus_set(stimuli):
    ...     print(finding.check, "|", finding.culprit)
    duplicate stimulus_id | the stimulus set has ids more than once: 'a'
    missing file | a → nowhere/a.png
    """
    findings = check_table(stimulus_set)
    if not isinstance(stimulus_set, pd.DataFrame):
        return findings
    own = getattr(stimulus_set, "identifier", None)
    own = own if isinstance(own, str) else None  # a plain table's column of that name is none
    findings = check_identifier(own if identifier is None else identifier) + findings
    if identifier is not None and own is not None and own != identifier:
        findings.append(
            Finding(
                "two names",
                f"the stimulus set is called {own!r} and is packaged as {identifier!r}",
                "nothing, if that is meant; otherwise pass stimulus_set.name",
                "warning",
            )
        )
    if stimulus_set.columns.is_unique:
        findings += check_ids_of(stimulus_set)
        if "stimulus_id" in stimulus_set and all(isinstance(one, Hashable) for one in stimulus_set["stimulus_id"]):
            findings += check_files(stimulus_set)
    return from_source(findings, f"stimulus set {own if identifier is None else identifier}")


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
        What to check. It is not changed.
    stimulus_set : StimulusSet, optional
        Stimuli that were shown; by default ``assembly.attrs['stimulus_set']``, if there is one.
    assembly_class_name : str, optional
        Class as which it will be packaged; by default its own.
    identifier : str, optional
        Name under which it will be packaged. Without it names are not checked.
    allow_nan : str, optional
        Why values are missing; by default ``assembly.attrs['nan_allowed']``. Without a reason, NaN is an error.
        Infinite values always are.

    Returns
    -------
    list of Finding
        Errors and warnings; empty if all is well.

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
        return [Finding("not an assembly", f"got a {kind}", "make one: DataAssembly(values, coords=…, dims=…)")]
    cls = _class_of(assembly) if assembly_class_name is None else assembly_class_name
    findings = [] if identifier is None else check_identifier(identifier, what="assembly_identifier")
    findings += check_class(assembly, cls) + check_coordinates(assembly)
    findings += check_storable(assembly) + check_values(assembly, allow_nan=allow_nan)
    shown = assembly.attrs.get("stimulus_set") if stimulus_set is None else stimulus_set
    if isinstance(shown, pd.DataFrame):
        findings += _alignment(assembly, shown, unshown=False)
    return from_source(findings, "assembly" if identifier is None else f"assembly {identifier}")


def _class_of(assembly: xr.DataArray) -> type[DataAssembly]:
    return type(assembly) if isinstance(assembly, DataAssembly) else DataAssembly


def _alignment(assembly: xr.DataArray, stimulus_set: pd.DataFrame, *, unshown: bool) -> list[Finding]:
    if "stimulus_id" not in stimulus_set.columns:
        return check_ids_of(stimulus_set)
    ids = stimulus_set["stimulus_id"].tolist()
    return check_alignment(stimulus_ids(assembly), ids, where="the stimulus set", unshown=unshown)


def validate_pair(
    stimulus_set: pd.DataFrame, assembly: xr.DataArray, *, assembly_class_name: str | type[DataAssembly] | None = None
) -> list[Finding]:
    """Check a stimulus set, an assembly, and that they belong together.

    Parameters
    ----------
    stimulus_set : StimulusSet
        Stimuli; see :func:`validate_stimulus_set`.
    assembly : DataAssembly
        Responses to them; see :func:`validate_assembly`.
    assembly_class_name : str, optional
        Class as which the assembly will be packaged.

    Returns
    -------
    list of Finding
        Also a warning for stimuli without any response.

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
        findings += from_source(_alignment(assembly, stimulus_set, unshown=True), "assembly")
    return findings


def validate_files(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    assembly_class_name: str | type[DataAssembly] | None = None,
) -> list[Finding]:
    """Check packaged files: tables (CSV), archives (ZIP) and assemblies (netCDF), in any combination.

    ``stimulus_X.csv``, ``stimulus_X.zip`` and ``assy_X.nc`` belong together; an assembly that names another stimulus
    set is compared with that one. A table and an archive belong together whatever their names if no others are given.

    Parameters
    ----------
    paths : path, or iterable of paths
        The files.
    assembly_class_name : str, optional
        Class of the assemblies. Without it their dimensions are not compared with those of a class.

    Returns
    -------
    list of Finding
        Each has the path of its file as ``source``.

    Examples
    --------
    >>> [finding.check for finding in validate_files(["nowhere/stimulus_X.csv"])]
    ['missing file']
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = check_packages([Path(path) for path in several], cls=assembly_class_name)
    return [finding for findings in found.values() for finding in findings]
