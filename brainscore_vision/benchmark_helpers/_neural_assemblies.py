"""What neural benchmarks do with recordings before they compare them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim

__all__ = [
    "apply_keep_attrs",
    "average_repetition",
    "filter_reliable_neuroids",
    "flatten_timebins_into_neuroids",
    "select_with_preserved_index",
    "temporally_varying",
    "time_bins_or_none",
    "timebins_from_assembly",
    "without_single_time_bin",
]

TimeBins = list[tuple[float, float]]

_START, _END = "time_bin_start", "time_bin_end"
_NO_TIME_BINS = (
    f"give the assembly the coordinates {_START!r} and {_END!r} on a dimension 'time_bin', such as "
    f"{_START}=('time_bin', [70]), {_END}=('time_bin', [170])"
)


def average_repetition(assembly: DataAssembly) -> DataAssembly:
    """Average over the repetitions of each stimulus.

    Parameters
    ----------
    assembly : DataAssembly
        With ``repetition`` as a coordinate of ``presentation``, or as a dimension of its own.

    Returns
    -------
    DataAssembly
        One presentation a stimulus (and condition), sorted by the coordinates of ``presentation`` in their order,
        attributes kept; measurements that are NaN are left out of the mean. An assembly without repetitions is
        returned as it is.
    """
    if "repetition" not in assembly.dims and "repetition" not in assembly.coords:
        return assembly
    return apply_keep_attrs(assembly, lambda repeated: repeated.mean(dim="repetition"))


def apply_keep_attrs(assembly: DataAssembly, fnc: Callable[[Any], Any]) -> Any:
    """Apply a function to an assembly and give the result the assembly's attributes, its stimulus set among them.

    Parameters
    ----------
    assembly : DataAssembly
        What `fnc` is called with.
    fnc : callable
        Returns an assembly.

    Returns
    -------
    DataAssembly
        The function's result with the attributes of `assembly` in place of its own.

    Examples
    --------
    >>> assembly = DataAssembly([1.0, 3.0], dims=["presentation"], attrs={"identifier": "Author2024"})
    >>> apply_keep_attrs(assembly, lambda one: one.mean("presentation")).attrs
    {'identifier': 'Author2024'}
    """
    attrs, encoding = dict(assembly.attrs), dict(assembly.encoding)
    result = fnc(assembly)
    result.attrs = attrs
    result.encoding.update(encoding)  # has the file that it was read from, which errors name
    return result


def filter_reliable_neuroids(assembly: DataAssembly, reliab_threshold: float, reliab_coord: str) -> DataAssembly:
    """Keep the neuroids whose reliability exceeds a threshold.

    Parameters
    ----------
    assembly : NeuroidAssembly
        Recordings.
    reliab_threshold : float
        A neuroid exactly at the threshold is left out, and so is one whose reliability is NaN.
    reliab_coord : str
        Coordinate of ``neuroid`` with the reliabilities.

    Returns
    -------
    NeuroidAssembly
        Of the same class, with the same dimensions and attributes.

    Raises
    ------
    UserError
        If there is no such coordinate, or nothing is left.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly([[1, 2, 3]], dims=["presentation", "neuroid"], coords={
    ...     "stimulus_id": ("presentation", ["a"]), "neuroid_id": ("neuroid", ["n0", "n1", "n2"]),
    ...     "reliability": ("neuroid", [0.1, 0.3, 0.8])})
    >>> filter_reliable_neuroids(assembly, 0.3, "reliability")["neuroid_id"].values.tolist()
    ['n2']
    """
    if reliab_coord not in assembly.coords or assembly[reliab_coord].dims != ("neuroid",):
        known = ", ".join(map(str, coords_for_dim(assembly, "neuroid"))) if "neuroid" in assembly.dims else "none"
        raise UserError(
            f"there is no coordinate {reliab_coord!r} along 'neuroid' to filter by; there are: {known}",
            remedy=f"add it, such as assembly[{reliab_coord!r}] = 'neuroid', reliabilities",
        )
    reliability = np.asarray(assembly[reliab_coord].values, dtype=np.float64)
    kept = np.flatnonzero(reliability > reliab_threshold)
    if not len(kept):
        greatest = f"{np.nanmax(reliability):.3g}" if np.isfinite(reliability).any() else "not known"
        raise UserError(
            f"none of {len(reliability)} neuroids has a {reliab_coord!r} above {reliab_threshold}; the greatest is "
            f"{greatest}",
            remedy="lower the threshold, or check the units of the coordinate",
        )
    return assembly.isel(neuroid=kept)


def flatten_timebins_into_neuroids(assembly: DataAssembly) -> DataAssembly:
    """Make each neuroid at each time a neuroid of its own, for benchmarks to which the order of times is no matter.

    Parameters
    ----------
    assembly : NeuroidAssembly, presentation × neuroid × time_bin
        With ``time_bin_start`` and ``time_bin_end``.

    Returns
    -------
    NeuroidAssembly, presentation × (neuroid · time_bin) × 1
        A neuroid's times follow each other; ``recording_time`` on ``neuroid`` is the start of its time bin. The one
        time bin goes from the start of the first to the end of the last. Attributes are kept.

    Raises
    ------
    UserError
        If the dimensions or the coordinates of the time bins are others.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly([[[1, 2], [3, 4]]], dims=["presentation", "neuroid", "time_bin"], coords={
    ...     "stimulus_id": ("presentation", ["a"]), "neuroid_id": ("neuroid", ["n0", "n1"]),
    ...     "time_bin_start": ("time_bin", [70, 80]), "time_bin_end": ("time_bin", [80, 90])})
    >>> flat = flatten_timebins_into_neuroids(assembly)
    >>> flat.values.ravel().tolist(), flat["recording_time"].values.tolist()
    ([1, 2, 3, 4], [70, 80, 70, 80])
    """
    dims = ("presentation", "neuroid", "time_bin")
    if assembly.dims != dims:
        raise UserError(
            f"the assembly's dimensions are {' × '.join(map(str, assembly.dims))}; to flatten time bins they must be "
            f"{' × '.join(dims)}",
            remedy=f"transpose it: assembly.transpose{dims}",
        )
    bins = timebins_from_assembly(assembly)
    neuroids = coords_for_dim(assembly, "neuroid").items()
    coords: dict[str, Any] = coords_for_dim(assembly, "presentation")
    coords |= {name: ("neuroid", np.repeat(variable.values, len(bins))) for name, variable in neuroids}
    coords |= {
        "recording_time": ("neuroid", [start for start, _ in bins] * assembly.sizes["neuroid"]),
        _START: ("time_bin", [bins[0][0]]),
        _END: ("time_bin", [bins[-1][1]]),
    }
    values = np.asarray(assembly.values).reshape(assembly.sizes["presentation"], -1, 1)
    return type(assembly)(values, coords=coords, dims=dims, attrs=dict(assembly.attrs), name=assembly.name)


def timebins_from_assembly(assembly: DataAssembly) -> TimeBins:
    """Time bins of an assembly, in milliseconds after stimulus onset.

    Parameters
    ----------
    assembly : DataAssembly
        With a dimension ``time_bin``, or with the time bin that was selected from it.

    Returns
    -------
    list of (number, number)
        Start and end of each, in the assembly's order; whole numbers as int.

    Raises
    ------
    UserError
        If the assembly has no time bins.

    Examples
    --------
    >>> assembly = DataAssembly([1.0, 2.0], dims=["time_bin"], coords={
    ...     "time_bin_start": ("time_bin", [70, 170]), "time_bin_end": ("time_bin", [170, 270])})
    >>> timebins_from_assembly(assembly), timebins_from_assembly(assembly.isel(time_bin=1))
    ([(70, 170), (170, 270)], [(170, 270)])
    """
    found = time_bins_or_none(assembly)
    if found is None:
        raise UserError(
            "time bins not found: the assembly says not when it was recorded; its dimensions are "
            f"{' × '.join(map(str, assembly.dims)) or 'none'}",
            remedy=_NO_TIME_BINS,
        )
    return found


def time_bins_or_none(assembly: DataAssembly) -> TimeBins | None:
    """Time bins of an assembly; None where it has none."""
    if _START in assembly.coords and _END in assembly.coords:
        starts, ends = (np.ravel(assembly[name].values) for name in (_START, _END))
        return [(_number(start), _number(end)) for start, end in zip(starts, ends, strict=True)]
    if "time_bin" not in assembly.coords:
        return None
    # an array of another origin, whose time bins are pairs
    values = np.asarray(assembly["time_bin"].values, dtype=object)
    pairs: list[Any] = [values.item()] if values.ndim == 0 else list(values)
    if not all(isinstance(pair, Sequence | np.ndarray) and len(pair) == 2 for pair in pairs):
        return None
    return [(_number(start), _number(end)) for start, end in pairs]


def temporally_varying(recordings: DataAssembly) -> bool:
    """Whether recordings change over time, for any stimulus in any neuroid.

    Parameters
    ----------
    recordings : NeuroidAssembly
        Recordings; without a dimension ``time_bin``, or with a single time bin, they do not change.

    Returns
    -------
    bool
        NaN that stays NaN is no change.

    Examples
    --------
    >>> temporally_varying(DataAssembly([[[1.0, 1.0], [2.0, 2.5]]], dims=["presentation", "neuroid", "time_bin"]))
    True
    """
    if "time_bin" not in recordings.dims:
        return False
    values = np.asarray(recordings.transpose(..., "time_bin").values)
    first, later = values[..., :1], values[..., 1:]
    different = later != first
    if values.dtype.kind == "f":
        different &= ~(np.isnan(later) & np.isnan(first))
    return bool(different.any())


def select_with_preserved_index(assembly: DataAssembly, coord_dict: dict[str, Any]) -> DataAssembly:
    """Neuroids with these values of coordinates, every coordinate kept.

    Parameters
    ----------
    assembly : DataAssembly
        With a dimension ``neuroid``.
    coord_dict : dict
        Coordinate → value.

    Returns
    -------
    DataAssembly
        As :meth:`DataAssembly.sel` gives it.
    """
    return assembly.sel(coord_dict)


def without_single_time_bin(assembly: DataAssembly) -> DataAssembly:
    """`assembly`, squeezed where it has one time bin."""
    if "time_bin" in assembly.dims and assembly.sizes["time_bin"] == 1:
        return assembly.isel(time_bin=0, drop=True)
    return assembly


def _number(value: Any) -> float:
    value = float(value)
    return int(value) if value.is_integer() else value
