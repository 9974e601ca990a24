"""Checks of assemblies: dimensions, coordinates, values, and whether they fit a stimulus set."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, resolve_assembly_class
from brainscore_core.supported_data_standards.brainio.findings import Finding, format_values, join_first
from brainscore_core.supported_data_standards.brainio.levels import is_missing, walk_coords
from brainscore_core.supported_data_standards.brainio.netcdf import checked_name, encode
from brainscore_core.supported_data_standards.brainio.stimulus_checks import check_id_types, duplicates

#: attribute that gives the reason for an assembly's missing values
NAN_ALLOWED = "nan_allowed"
_REQUIRED = {
    "presentation": ("stimulus_id",),
    "neuroid": ("neuroid_id",),
    "time_bin": ("time_bin_start", "time_bin_end"),
}
_LEGACY_NAMES = {"stimulus_id": "image_id"}


def levels_of(assembly: xr.DataArray) -> dict[Any, tuple[tuple[Any, ...], np.ndarray]]:
    """Map the name of each coordinate to its dimensions and values."""
    return {name: (dims, values) for name, dims, values in walk_coords(assembly)}


def stimulus_ids(assembly: xr.DataArray) -> list[Any] | None:
    """Ids of the stimuli that were presented, without repetition; None if the assembly does not have them."""
    levels = levels_of(assembly)
    for name in ("stimulus_id", "image_id"):
        if name in levels:
            return list(pd.unique(pd.Series(np.ravel(levels[name][1]), dtype=object)))
    return None


def check_class(assembly: xr.DataArray, cls: str | type[DataAssembly]) -> list[Finding]:
    """Check that the class is known and that the assembly has its dimensions."""
    try:
        assembly_class = resolve_assembly_class(cls)
    except UnknownIdentifier as error:
        return [Finding("unknown assembly class", error.message, error.remedy or "see resolve_assembly_class")]
    rules = getattr(assembly_class, "DIMS", ())
    if rules and not any(set(assembly.dims) == set(dims) for dims in rules):
        expected = " or ".join(" × ".join(dims) for dims in rules)
        return [
            Finding(
                "wrong dimensions",
                f"the dimensions are {' × '.join(map(str, assembly.dims)) or 'none'}, "
                f"but those of a {assembly_class.__name__} are {expected}",
                "rename the dimensions, or choose another class, e.g. BehavioralAssembly, which accepts any dimensions",
            )
        ]
    if assembly_class.__name__ == "BehavioralAssembly" and "presentation" not in assembly.dims:
        return [
            Finding(
                "no presentations",
                f"the dimensions are {' × '.join(map(str, assembly.dims)) or 'none'}: nothing links data to stimuli",
                "name the dimension along which stimuli change 'presentation' and give it the coordinate stimulus_id",
                "warning",
            )
        ]
    return []


def check_coordinates(assembly: xr.DataArray) -> list[Finding]:
    """Check that each dimension has its required coordinates, with plausible values."""
    levels = levels_of(assembly)
    findings = []
    for dim in assembly.dims:
        for name in _REQUIRED.get(str(dim), ()):
            if name in levels and levels[name][0] == (dim,):
                continue
            findings.append(_missing_coordinate(str(dim), name, levels))
    if empty := [f"{dim!r}" for dim, size in assembly.sizes.items() if not size]:
        findings.append(
            Finding("empty data", f"dimension {', '.join(empty)} has length 0", "check the selection of the data")
        )
    if (ids := stimulus_ids(assembly)) is not None:
        findings += check_id_types(ids, where="the assembly")
    if "neuroid_id" in levels:
        findings += _check_neuroids(levels["neuroid_id"][1])
    if "time_bin_start" in levels and "time_bin_end" in levels:
        findings += _check_time_bins(np.ravel(levels["time_bin_start"][1]), np.ravel(levels["time_bin_end"][1]))
    return findings


def check_storable(assembly: xr.DataArray) -> list[Finding]:
    """Check that a file can hold the assembly: the names and types of its coordinates and values."""
    findings = [_storage_problem("name", checked_name, dim, "dimension") for dim in assembly.dims]
    for name, (_, values) in levels_of(assembly).items():
        findings.append(_storage_problem("name", checked_name, name, "coordinate"))
        findings.append(_storage_problem("coordinate type", encode, f"coordinate {name!r}", values))
    if "data" in levels_of(assembly):
        findings.append(Finding("name", "a coordinate is named 'data', the name of the values in files", "rename it"))
    if assembly.dtype.kind in "fmM":  # check_values reports objects and rare types
        findings.append(_storage_problem("type of the values", encode, "the assembly's values", assembly.values))
    return [finding for finding in findings if finding is not None]


def _storage_problem(check: str, function: Callable[..., Any], *arguments: Any) -> Finding | None:
    """A finding if `function`, which prepares values for a file, raises an error; otherwise None."""
    try:
        function(*arguments)
    except UserError as error:
        return Finding(check, error.message, error.remedy or "change it")
    return None


def _missing_coordinate(dim: str, name: str, levels: dict[Any, Any]) -> Finding:
    if name in levels:
        along = " × ".join(map(str, levels[name][0])) or "no dimension"
        return Finding(
            "missing coordinate",
            f"coordinate {name!r} belongs to {along}, not to {dim!r}",
            f"define it as coords={{'{name}': ('{dim}', values)}}",
        )
    legacy = _LEGACY_NAMES.get(name)
    if legacy in levels and levels[legacy][0] == (dim,):
        return Finding(
            "old coordinate name", f"{legacy!r} is an old name of {name!r}", f"rename it to {name!r}", "warning"
        )
    return Finding(
        "missing coordinate",
        f"dimension {dim!r} has no coordinate {name!r}",
        f"add it: coords={{'{name}': ('{dim}', values), …}}",
    )


def _check_neuroids(values: np.ndarray) -> list[Finding]:
    ids = list(np.ravel(values))
    findings = []
    if missing := [number for number, neuroid in enumerate(ids) if is_missing(neuroid) or neuroid == ""]:
        findings.append(
            Finding(
                "empty neuroid_id", f"no neuroid_id at {format_values(missing)} (counted from 0)", "fill in every id"
            )
        )
    if repeated := duplicates(value for value in ids if not is_missing(value)):
        findings.append(
            Finding(
                "duplicate neuroid_id",
                f"several neuroids have the id {format_values(repeated)}",
                "make the ids unique, e.g. with the animal or session as a prefix",
            )
        )
    return findings


def _check_time_bins(starts: np.ndarray, ends: np.ndarray) -> list[Finding]:
    if len(starts) != len(ends) or any(edges.dtype.kind not in "iuf" for edges in (starts, ends)):
        kinds = f"{starts.dtype} and {ends.dtype}"
        return [Finding("time bins", f"time_bin_start and time_bin_end are {kinds}", "use numbers (ms) for both")]
    wrong = [f"({start}, {end})" for start, end in zip(starts.tolist(), ends.tolist(), strict=True) if not start < end]
    if not wrong:
        return []
    shown = join_first(wrong, ", ")
    return [
        Finding("time bins", f"bins do not end after they start: {shown}", "time_bin_start must be below time_bin_end")
    ]


def check_values(assembly: xr.DataArray, *, allow_nan: str | None = None) -> list[Finding]:
    """Check that the values have one type and are finite, and that missing values are declared."""
    declared = assembly.attrs.get(NAN_ALLOWED) if allow_nan is None else allow_nan
    findings = []
    if declared is not None and not (isinstance(declared, str) and declared.strip()):
        findings.append(
            Finding(
                "NaN declaration",
                f"{NAN_ALLOWED} is {declared!r}",
                f"say why values are missing: assembly.attrs['{NAN_ALLOWED}'] = 'neuroids lost after session 2'",
            )
        )
    values = assembly.values
    missing = _missing_values(values)
    if values.dtype.kind == "O":
        present = values[~missing] if missing is not None else values.ravel()
        kinds = sorted({type(value).__name__ for value in present.ravel()})
        if any(not isinstance(value, str) for value in present.ravel()):
            findings.append(
                Finding(
                    "object values",
                    f"the values are Python objects ({', '.join(kinds)}), not numbers",
                    "convert them: assembly.astype(float), or .astype(str) for text",
                )
            )
    elif values.dtype.kind not in "biufUTmM":
        findings.append(
            Finding("object values", f"the values are of type {values.dtype}", "convert them to numbers or text")
        )
    if missing is not None and missing.any() and declared is None:
        findings.append(_nan_finding(assembly, missing))
    if values.dtype.kind == "f" and (infinite := int(np.isinf(values).sum())):
        findings.append(
            Finding(
                "infinite values",
                f"{infinite} of {values.size} values are infinite",
                "look for divisions by zero; use NaN for unknown values",
            )
        )
    return findings


def _missing_values(values: np.ndarray) -> np.ndarray | None:
    """Mask of the missing values; None for types that have no missing values."""
    if values.dtype.kind in "fcO":
        missing = pd.isna(values.ravel())
    elif values.dtype.kind in "mM":
        missing = np.isnat(values.ravel())
    else:
        return None
    return np.asarray(missing, dtype=bool).reshape(values.shape)


def _nan_finding(assembly: xr.DataArray, missing: np.ndarray) -> Finding:
    where = []
    for axis, (dim, size) in enumerate(assembly.sizes.items()):
        touched = missing.any(axis=tuple(axis_reduced for axis_reduced in range(missing.ndim) if axis_reduced != axis))
        where.append(f"{int(touched.sum())} of {size} along {dim}")
    count = int(missing.sum())
    share = 100 * count / math.prod(missing.shape)
    return Finding(
        "NaN values",
        f"{count} of {missing.size} values are missing ({share:.3g} %), in {', '.join(where) or 'the only value'}",
        f"fix the source, or declare the reason: assembly.attrs['{NAN_ALLOWED}'] = 'reason'",
    )


def check_alignment(
    assembly_ids: Iterable[Any] | None, set_ids: Iterable[Any], *, where: str, unshown: bool = False
) -> list[Finding]:
    """Check that every stimulus of an assembly is in a stimulus set; ids are compared without conversion.

    `assembly_ids`: ids of the stimuli that were presented. `set_ids`: ids of the stimulus set. `where`: name of the
    stimulus set in messages. `unshown`: whether to report stimuli of the set that are not in the assembly.
    """
    if assembly_ids is None:
        return []
    # missing ids have a finding of their own
    shown_ids = [stimulus for stimulus in dict.fromkeys(assembly_ids) if not is_missing(stimulus)]
    set_values = {stimulus for stimulus in set_ids if not is_missing(stimulus)}
    lacking = [stimulus for stimulus in shown_ids if stimulus not in set_values]
    findings = []
    if lacking:
        as_text = {str(stimulus) for stimulus in set_values}
        same = [stimulus for stimulus in lacking if str(stimulus) in as_text]
        if same:
            namesake = next(stimulus for stimulus in set_values if str(stimulus) == str(same[0]))
            remedy = (
                f"{len(same)} of them exist there with another type ({same[0]!r} here, {namesake!r} there): "
                f"convert both with .astype(str)"
            )
        else:
            remedy = f"use the same ids in both; the stimulus set has {format_values(sorted(map(str, set_values))[:5])}"
        findings.append(
            Finding("unknown stimuli", f"{len(lacking)} stimuli are not in {where}: {format_values(lacking)}", remedy)
        )
    shown = set(shown_ids)
    if unshown and not lacking and (never := [stimulus for stimulus in set_values if stimulus not in shown]):
        findings.append(
            Finding(
                "stimuli never shown",
                f"{len(never)} stimuli of {where} are not in the assembly: {format_values(sorted(map(str, never)))}",
                "ignore this if they were not shown",
                "warning",
            )
        )
    return findings
