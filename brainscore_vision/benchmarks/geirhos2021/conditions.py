"""Which conditions of a test enter the score."""

from typing import Final

import numpy as np

from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.metric_helpers.alignment import listed
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords

EXCLUDED: Final[dict[str, tuple[str | float, ...]]] = {
    "colour": ("cr",),
    "contrast": ("c100", "c03", "c01"),
    "eidolonI": ("1-10-10", "64-10-10", "128-10-10"),
    "eidolonII": ("1-3-10", "32-3-10", "64-3-10", "128-3-10"),
    "eidolonIII": ("1-0-10", "16-0-10", "32-0-10", "64-0-10", "128-0-10"),
    "false-colour": ("true",),
    "high-pass": ("inf", 0.55, 0.45, 0.4),
    "low-pass": (0, 15, 40),
    "phase-scrambling": (0, 150, 180),
    "power-equalisation": (0,),
    "rotation": (0,),
    "uniform-noise": (0.0, 0.6, 0.9),
}
"""Undistorted images, and those on which people are near chance, by test (Geirhos et al. 2021)."""

_ALSO_CALLED: Final = {"False-Colour": "true"}  # the Brain-Score platform's names of the authors' conditions


def is_excluded(condition: str, excluded: tuple[str | float, ...]) -> bool:
    """Whether a condition is among `excluded`, numbers compared as numbers.

    `condition`: as the published trials write it, such as ``'0.60'``. `excluded`: names as they stand, numbers by their
    value.

    Examples
    --------
    >>> is_excluded("0.60", (0.6,)), is_excluded("64-10-10", (64,)), is_excluded("cr", ("cr",))
    (True, False, True)
    """
    condition = _ALSO_CALLED.get(condition, condition)
    try:
        number = float(condition)
    except ValueError:
        return condition in excluded
    return condition in excluded or any(not isinstance(value, str) and number == value for value in excluded)


def scored(assembly: DataAssembly, excluded: tuple[str | float, ...]) -> DataAssembly:
    """Trials of the conditions that enter the score.

    `assembly`: trials with the level ``condition``, and their ``stimulus_set``. `excluded`: conditions to leave out.
    Result: its ``stimulus_set`` has the stimuli of these trials only. A UserError if no trial has one of the conditions
    to leave out.
    """
    if not excluded:
        return assembly
    conditions = assembly["condition"].values
    names = np.unique(conditions)
    left_out = [name for name in names if is_excluded(str(name), excluded)]
    if not left_out:
        raise UserError(
            f"none of the conditions to leave out, {listed(excluded)}, is in the trials; these have {listed(names)}",
            remedy=spelling_hint(excluded, names) or "check the coordinate 'condition'",
        )
    missing = [
        name for name in excluded if not any(is_excluded(str(name_in_trials), (name,)) for name_in_trials in names)
    ]
    if 2 * len(missing) > len(excluded):
        remark(f"conditions to leave out are not in the trials: {listed(missing)}; these have {listed(names)}")
    selected = assembly[{"presentation": ~np.isin(conditions, left_out)}]
    stimuli = assembly.attrs["stimulus_set"]
    remaining = stimuli[stimuli["stimulus_id"].isin(np.unique(selected["stimulus_id"].values))].reset_index(drop=True)
    selected.attrs = {**assembly.attrs, "stimulus_set": remaining}
    return selected


def cast_coordinate_type(assembly: DataAssembly, coordinate: str, newtype: type) -> DataAssembly:
    """Change the type of one coordinate's values.

    `coordinate`: name of the coordinate or level. `newtype`: such as ``str``. Result: a copy, attributes kept.

    Examples
    --------
    >>> trials = DataAssembly(["cat"], coords={"stimulus_id": ("presentation", ["a"]),
    ...                             "condition": ("presentation", [0.5])}, dims=["presentation"])
    >>> str(cast_coordinate_type(trials, "condition", str)["condition"].values[0])
    '0.5'
    """
    coords = {
        name: (dims, np.asarray(values).astype(newtype) if name == coordinate else values)
        for name, dims, values in walk_coords(assembly)
    }
    result = type(assembly)(assembly.values, coords=coords, dims=assembly.dims, name=assembly.name)
    result.attrs = dict(assembly.attrs)
    return result
