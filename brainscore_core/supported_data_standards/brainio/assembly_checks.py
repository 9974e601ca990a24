"""Checks of assemblies: dimensions, coordinates, values, and whether they fit a stimulus set."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    different_dims,
    resolve_assembly_class,
)
from brainscore_core.supported_data_standards.brainio.findings import (
    Finding,
    format_values,
    join_first,
    raise_for_errors,
)
from brainscore_core.supported_data_standards.brainio.levels import is_missing, walk_coords
from brainscore_core.supported_data_standards.brainio.netcdf import checked_name, encode
from brainscore_core.supported_data_standards.brainio.stimulus_checks import check_ids

#: attribute that gives the reason for an assembly's missing values
NAN_ALLOWED = "nan_allowed"

_REQUIRED = {
    "presentation": ("stimulus_id",),
    "neuroid": ("neuroid_id",),
    "time_bin": ("time_bin_start", "time_bin_end"),
}
_LEGACY_NAMES = {"stimulus_id": "image_id"}


def _levels(assembly: xr.DataArray) -> dict[Any, tuple[tuple[Any, ...], np.ndarray]]:
    """Map the name of each coordinate to its dimensions and values."""
    return {name: (dims, values) for name, dims, values in walk_coords(assembly)}


def stimulus_ids(assembly: xr.DataArray) -> list[Any] | None:
    """Ids of the stimuli that were presented, without repetition; None if the assembly does not have them."""
    levels = _levels(assembly)
    for name in ("stimulus_id", "image_id"):
        if name in levels:
            return list(pd.unique(pd.Series(np.ravel(levels[name][1]), dtype=object)))
    return None


def check_class(assembly: xr.DataArray, cls: str | type[DataAssembly]) -> Iterator[Finding]:
    """Check that the class is known and that the assembly has its dimensions."""
    try:
        assembly_class = resolve_assembly_class(cls)
    except UnknownIdentifier as error:
        yield Finding("unknown assembly class", error.message, error.remedy or "see resolve_assembly_class")
        return
    if difference := different_dims(assembly.dims, assembly_class):
        yield Finding(
            "wrong dimensions",
            difference,
            "rename the dimensions, or choose another class, e.g. BehavioralAssembly, which accepts any dimensions",
        )
    elif assembly_class.__name__ == "BehavioralAssembly" and "presentation" not in assembly.dims:
        yield Finding(
            "no presentations",
            f"the dimensions are {' × '.join(map(str, assembly.dims)) or 'none'}: nothing links data to stimuli",
            "name the dimension along which stimuli change 'presentation' and give it the coordinate stimulus_id",
            "warning",
        )


def check_coordinates(assembly: xr.DataArray) -> Iterator[Finding]:
    """Check that each dimension has its required coordinates, with plausible values."""
    levels = _levels(assembly)
    for dim in assembly.dims:
        for name in _REQUIRED.get(str(dim), ()):
            legacy = _LEGACY_NAMES.get(name)
            if name in levels and levels[name][0] == (dim,):
                continue
            if name in levels:
                along = " × ".join(map(str, levels[name][0])) or "no dimension"
                culprit = f"coordinate {name!r} belongs to {along}, not to {dim!r}"
                yield Finding("missing coordinate", culprit, f"define it as coords={{'{name}': ('{dim}', values)}}")
            elif legacy in levels and levels[legacy][0] == (dim,):
                culprit = f"{legacy!r} is an old name of {name!r}"
                yield Finding("old coordinate name", culprit, f"rename it to {name!r}", "warning")
            else:
                culprit = f"dimension {dim!r} has no coordinate {name!r}"
                yield Finding("missing coordinate", culprit, f"add it: coords={{'{name}': ('{dim}', values), …}}")
    if empty := [f"{dim!r}" for dim, size in assembly.sizes.items() if not size]:
        culprit = f"dimension {', '.join(empty)} has length 0"
        yield Finding("empty data", culprit, "check the selection of the data")
    yield from check_ids(stimulus_ids(assembly) or (), where="the assembly")
    if "neuroid_id" in levels:
        yield from check_ids(np.ravel(levels["neuroid_id"][1]), where="the assembly", name="neuroid_id")
    if "time_bin_start" in levels and "time_bin_end" in levels:
        starts, ends = (np.ravel(levels[name][1]) for name in ("time_bin_start", "time_bin_end"))
        if len(starts) != len(ends) or not {starts.dtype.kind, ends.dtype.kind} <= set("iuf"):
            culprit = f"time_bin_start and time_bin_end are {starts.dtype} and {ends.dtype}"
            yield Finding("time bins", culprit, "use numbers (ms) for both")
        elif (wrong := ~(starts < ends)).any():
            bins = join_first(
                [f"({start}, {end})" for start, end in zip(starts[wrong], ends[wrong], strict=True)], ", "
            )
            culprit = f"bins do not end after they start: {bins}"
            yield Finding("time bins", culprit, "time_bin_start must be below time_bin_end")


def check_storable(assembly: xr.DataArray) -> Iterator[Finding]:
    """Check that a file can hold the assembly: the names and types of its coordinates and values."""
    levels = _levels(assembly)
    for dim in assembly.dims:
        yield from _check_storage("name", checked_name, dim, "dimension")
    for name, (_, values) in levels.items():
        yield from _check_storage("name", checked_name, name, "coordinate")
        yield from _check_storage("coordinate type", encode, f"coordinate {name!r}", values)
    if "data" in levels:
        yield Finding("name", "a coordinate is named 'data', the name of the values in files", "rename it")
    if assembly.dtype.kind in "fmM":  # check_values reports objects and rare types
        yield from _check_storage("type of the values", encode, "the assembly's values", assembly.values)


def _check_storage(check: str, function: Callable[..., Any], *arguments: Any) -> Iterator[Finding]:
    """Report the error of a `function` that prepares values for a file."""
    try:
        function(*arguments)
    except UserError as error:
        yield Finding(check, error.message, error.remedy or "change it")


def check_values(assembly: xr.DataArray, *, allow_nan: str | None = None) -> Iterator[Finding]:
    """Check that the values have one type and are finite, and that missing values are declared."""
    declared = assembly.attrs.get(NAN_ALLOWED) if allow_nan is None else allow_nan
    if declared is not None and not (isinstance(declared, str) and declared.strip()):
        yield Finding(
            "NaN declaration",
            f"{NAN_ALLOWED} is {declared!r}",
            f"say why values are missing: assembly.attrs['{NAN_ALLOWED}'] = 'neuroids lost after session 2'",
        )
    values = assembly.values
    missing = np.asarray(pd.isna(values) if values.dtype.kind in "fcOmM" else np.zeros(values.shape), dtype=bool)
    if values.dtype.kind == "O":
        kinds = {type(value) for value in values[~missing]}
        if not all(issubclass(kind, str) for kind in kinds):
            yield Finding(
                "object values",
                f"the values are Python objects ({', '.join(sorted(kind.__name__ for kind in kinds))}), not numbers",
                "convert them: assembly.astype(float), or .astype(str) for text",
            )
    elif values.dtype.kind not in "biufUTmM":
        yield Finding("object values", f"the values are of type {values.dtype}", "convert them to numbers or text")
    if missing.any() and declared is None:
        along = [
            f"{int(missing.any(axis=tuple({*range(missing.ndim)} - {axis})).sum())} of {size} along {dim}"
            for axis, (dim, size) in enumerate(assembly.sizes.items())
        ]
        count = int(missing.sum())
        yield Finding(
            "NaN values",
            f"{count} of {missing.size} values are missing ({100 * count / missing.size:.3g} %), in "
            + (", ".join(along) or "the only value"),
            f"fix the source, or declare the reason: assembly.attrs['{NAN_ALLOWED}'] = 'reason'",
        )
    if values.dtype.kind == "f" and (infinite := int(np.isinf(values).sum())):
        culprit = f"{infinite} of {values.size} values are infinite"
        yield Finding("infinite values", culprit, "look for divisions by zero; use NaN for unknown values")


def require_stimuli(shown: Any, stimulus_set: pd.DataFrame) -> None:
    """Raise an error unless the stimulus set has all of the stimuli."""
    if "stimulus_id" not in stimulus_set.columns:
        raise UserError("the stimulus set has no column 'stimulus_id'", remedy="pass a StimulusSet")
    name = getattr(stimulus_set, "identifier", None)
    where = f"the stimulus set {name!r}" if name else "the stimulus set"
    raise_for_errors(check_alignment(pd.unique(shown), stimulus_set["stimulus_id"], where=where))


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
    shown = dict.fromkeys(stimulus for stimulus in assembly_ids if not is_missing(stimulus))
    listed = dict.fromkeys(stimulus for stimulus in set_ids if not is_missing(stimulus))
    if lacking := [stimulus for stimulus in shown if stimulus not in listed]:
        by_text = {str(stimulus): stimulus for stimulus in listed}
        remedy = f"use the same ids in both; the stimulus set has {format_values(sorted(by_text)[:5])}"
        if same := [stimulus for stimulus in lacking if str(stimulus) in by_text]:
            types = f"{same[0]!r} here, {by_text[str(same[0])]!r} there"
            remedy = f"{len(same)} of them exist there with another type ({types}): convert both with .astype(str)"
        culprit = f"{len(lacking)} stimuli are not in {where}: {format_values(lacking)}"
        return [Finding("unknown stimuli", culprit, remedy)]
    never = sorted(str(stimulus) for stimulus in listed if stimulus not in shown)
    if not unshown or not never:
        return []
    culprit = f"{len(never)} stimuli of {where} are not in the assembly: {format_values(never)}"
    return [Finding("stimuli never shown", culprit, "ignore this if they were not shown", "warning")]
