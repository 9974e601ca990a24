"""What visual benchmarks measure, and measurements averaged, filtered and selected; errors name the data set."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.benchmarks.measurements import Measurements, measurements_of
from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.formatting import first_few
from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim, walk_coords
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

TimeBins = list[tuple[float, float]]

_START, _END = "time_bin_start", "time_bin_end"
_NO_TIME_BINS = (
    f"add the coordinates {_START!r} and {_END!r} on a dimension 'time_bin' to the assembly, such as "
    f"{_START}=('time_bin', [70]), {_END}=('time_bin', [170])"
)

DEFAULT_TIME_BINS = ((70, 170),)


@dataclass(frozen=True, kw_only=True)
class VisualMeasurements(Measurements):
    """Measurements of responses to images or videos.

    Attributes
    ----------
    visual_degrees : float or None
        Visual angle that the stimuli spanned in the experiment, in degrees; None if it differs between stimuli, which
        then have a column ``degrees``.

    Examples
    --------
    A benchmark of one's own class can be composed with any metric, simulated and assessed if it has this method:

    >>> def measurements(self):
    ...     return VisualMeasurements(
    ...         benchmark=self.identifier, measured=self.averages, repetitions=self.recordings, metric=self.metric,
    ...         region="IT", time_bins=((70, 170),), visual_degrees=8, number_of_trials=20)
    """

    visual_degrees: float | None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("visual_degrees", Real | None)

    @property
    def recorded_region(self) -> str:
        """The region to record from."""
        return self.region if self.region is not None else one_region(self.parts[-1], self.benchmark)

    @property
    def recorded_time_bins(self) -> list[tuple[float, float]]:
        """Time bins to record, in milliseconds after stimulus onset; (70, 170) if none are known."""
        if self.time_bins is not None:
            return list(self.time_bins)
        return time_bins_or_none(self.parts[-1]) or list(DEFAULT_TIME_BINS)

    @property
    def screen_degrees(self) -> float:
        """Visual angle of a screen that stimuli fill; 8 where these have none, or several."""
        return 8.0 if self.visual_degrees is None else float(self.visual_degrees)

    def settings(self) -> Iterator[tuple[str, str]]:
        """Names and texts of settings, for displays."""
        if self.visual_degrees is not None:
            yield "stimuli span", f"{self.visual_degrees:g}°"
        yield from super().settings()


def choices_of(
    benchmark: Benchmark, measured: Any, visual_degrees: float | None, number_of_trials: int
) -> VisualMeasurements:
    """Choices that a benchmark compares in a way of its own; arguments as for :class:`VisualMeasurements`."""
    return VisualMeasurements(
        benchmark=benchmark.identifier,
        measured=measured,
        compares="choices",
        visual_degrees=visual_degrees,
        number_of_trials=number_of_trials,
    )


def visual_measurements_of(benchmark: Any) -> VisualMeasurements:
    """What a benchmark measures, with the visual angle of its stimuli.

    A UserError if it does not say what it measures, or at which visual angle.
    """
    measurements = measurements_of(benchmark)
    if not isinstance(measurements, VisualMeasurements):
        raise UserError(
            f"{measurements.benchmark!r} does not say the visual angle of its stimuli",
            remedy="return VisualMeasurements from measurements()",
        )
    return measurements


def one_region(assembly: DataAssembly, benchmark: str) -> str:
    """The region of an assembly.

    A MetricInputError if there is no coordinate ``region``, or there are several regions.
    """
    if "region" not in assembly.coords:
        raise MetricInputError(
            f"the assembly of {benchmark!r} has no coordinate 'region'",
            remedy="add one on the neuroid dimension, such as 'region': ('neuroid', ['IT'] * number_of_neuroids)",
        )
    regions = np.unique(np.atleast_1d(assembly["region"].values))
    if len(regions) != 1:
        raise MetricInputError(
            f"the assembly of {benchmark!r} holds the regions {', '.join(map(str, regions))}",
            remedy="select one, such as assembly.sel(region='IT')",
        )
    return str(regions[0])


def average_repetition(assembly: DataAssembly) -> DataAssembly:
    """Average over the repetitions of each stimulus.

    Parameters
    ----------
    assembly : DataAssembly
        With ``repetition`` as a coordinate of ``presentation``, or as a dimension of its own.

    Returns
    -------
    DataAssembly
        One presentation per stimulus (and condition), sorted by the coordinates of ``presentation`` in their order,
        with the attributes of `assembly`; NaN is left out of the mean. An assembly without repetitions is returned
        unchanged.
    """
    if "repetition" not in assembly.dims and "repetition" not in assembly.coords:
        return assembly
    return apply_keep_attrs(assembly, lambda repeated: repeated.mean(dim="repetition"))


def apply_keep_attrs(assembly: DataAssembly, fnc: Callable[[Any], Any]) -> Any:
    """Apply a function to an assembly, and keep the assembly's attributes, including its stimulus set.

    Parameters
    ----------
    assembly : DataAssembly
        Argument of `fnc`.
    fnc : callable
        Returns an assembly.

    Returns
    -------
    DataAssembly
        The result of `fnc` with the attributes of `assembly`.

    Examples
    --------
    >>> assembly = DataAssembly([1.0, 3.0], dims=["presentation"], attrs={"identifier": "Author2024"})
    >>> apply_keep_attrs(assembly, lambda assembly: assembly.mean("presentation")).attrs
    {'identifier': 'Author2024'}
    """
    attrs, encoding = dict(assembly.attrs), dict(assembly.encoding)
    result = fnc(assembly)
    result.attrs = attrs
    result.encoding.update(encoding)  # contains the source file, which errors name
    return result


def filter_reliable_neuroids(assembly: DataAssembly, reliab_threshold: float, reliab_coord: str) -> DataAssembly:
    """Keep the neuroids whose reliability exceeds a threshold.

    Parameters
    ----------
    assembly : NeuroidAssembly
        Recordings.
    reliab_threshold : float
        Neuroids exactly at the threshold, or with NaN, are left out.
    reliab_coord : str
        Coordinate of ``neuroid`` with the reliabilities.

    Returns
    -------
    NeuroidAssembly
        Of the same class, with the same dimensions and attributes.

    Raises
    ------
    UserError
        If the coordinate does not exist, or no neuroid is left.

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
    """Make each neuroid at each time a separate neuroid, for benchmarks that ignore the order of times.

    Parameters
    ----------
    assembly : NeuroidAssembly, presentation × neuroid × time_bin
        With ``time_bin_start`` and ``time_bin_end``.

    Returns
    -------
    NeuroidAssembly, presentation × (neuroid · time_bin) × 1
        Times of a neuroid are consecutive; ``recording_time`` on ``neuroid`` is the start of its time bin. The single
        time bin extends from the start of the first to the end of the last. Attributes are kept.

    Raises
    ------
    UserError
        If the assembly has other dimensions, or no coordinates of time bins.

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
        With a dimension ``time_bin``, or with a selected time bin.

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
    time_bins = time_bins_or_none(assembly)
    if time_bins is None:
        raise UserError(
            "time bins not found: the assembly does not state when it was recorded; its dimensions are "
            f"{' × '.join(map(str, assembly.dims)) or 'none'}",
            remedy=_NO_TIME_BINS,
        )
    return time_bins


def time_bins_or_none(assembly: DataAssembly) -> TimeBins | None:
    """Time bins of an assembly; None if it has none."""
    if _START in assembly.coords and _END in assembly.coords:
        starts, ends = (np.ravel(assembly[name].values) for name in (_START, _END))
        return [(_number(start), _number(end)) for start, end in zip(starts, ends, strict=True)]
    if "time_bin" not in assembly.coords:
        return None
    # an array from elsewhere, whose time bins are pairs
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
        NaN that stays NaN is not a change.

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


def without_single_time_bin(assembly: DataAssembly) -> DataAssembly:
    """Squeeze a single time bin."""
    if "time_bin" in assembly.dims and assembly.sizes["time_bin"] == 1:
        return assembly.isel(time_bin=0, drop=True)
    return assembly


def _number(value: Any) -> float:
    value = float(value)
    return int(value) if value.is_integer() else value


def describe(assembly: DataAssembly) -> str:
    """Name of the data set and, if known, the file that it was read from.

    Examples
    --------
    >>> describe(DataAssembly([1.0], dims=["presentation"], attrs={"identifier": "Pets2026"}))
    'Pets2026'
    """
    name = str(assembly.attrs.get("identifier") or assembly.name or "the assembly")
    source = assembly.encoding.get("source")
    return f"{name} ({source})" if source else name


def require_coords(assembly: DataAssembly, dim_of: Mapping[str, str]) -> None:
    """Raise an error for an assembly without certain coordinates.

    Parameters
    ----------
    assembly : DataAssembly
        Measurements.
    dim_of : dict of str to str
        Coordinate → its dimension.

    Raises
    ------
    UserError
        The message names data set, file and coordinate.

    Examples
    --------
    >>> assembly = DataAssembly([1.0], coords={"stimulus_id": ("presentation", ["a"])}, dims=["presentation"])
    >>> require_coords(assembly, {"stimulus_id": "presentation"})
    """
    dims: dict[Any, Any] = {name: along for name, along, _ in walk_coords(assembly)}
    for name, dim in dim_of.items():
        if dims.get(name) != (dim,):
            others = [str(other) for other, along in dims.items() if along == (dim,)]
            raise UserError(
                f"{describe(assembly)} has no coordinate {name!r} on {dim}; there are {', '.join(others) or 'none'}",
                remedy=f"package the data again with coords={{'{name}': ('{dim}', values)}}",
            )


def require_stimuli(assembly: DataAssembly) -> None:
    """Raise an error for measurements of stimuli that cannot be shown.

    `assembly`: with ``stimulus_id`` on ``presentation``, and the ``stimulus_set``.
    """
    require_coords(assembly, {"stimulus_id": "presentation"})
    known = set(assembly.stimulus_set["stimulus_id"].astype(str))
    lacking = sorted({str(name) for name in assembly["stimulus_id"].values} - known)
    if lacking:
        raise UserError(
            f"{describe(assembly)}: {len(lacking)} values of the coordinate 'stimulus_id' are not in the stimulus set: "
            f"{first_few(lacking, 5)}; that has {first_few(sorted(known), 5) or 'none'}",
            remedy=spelling_hint(lacking, known)
            or "attach the stimulus set that was shown, or select the presentations of its stimuli",
        )


def rows_with(data: DataAssembly | StimulusSet, name: str, wanted: Any) -> NDArray[np.intp]:
    """Rows of stimuli, or presentations, with certain values.

    `data`: with the coordinate or column. `name`: coordinate along ``presentation``, or column. `wanted`: one value, or
    several. Result: in the order of the data. A UserError if no value occurs; it shows both.

    Examples
    --------
    >>> rows_with(StimulusSet({"orientation": ["normal", "inverted", "normal"]}), "orientation", "normal").tolist()
    [0, 2]
    """
    values = np.asarray(data[name].values)
    several = [wanted] if isinstance(wanted, str) or np.ndim(wanted) == 0 else list(wanted)
    rows = np.flatnonzero(pd.Index(values).isin(several))
    if not len(rows):
        described = describe(data) if isinstance(data, DataAssembly) else f"the stimulus set {data.identifier!r}"
        present = pd.unique(values)
        raise UserError(
            f"{described} has no {name!r} {listed(several)}; there are {listed(present) or 'none'}",
            remedy=spelling_hint(several, present) or "check the data, or the values to select",
        )
    return rows


def presentations(assembly: DataAssembly, rows: NDArray[np.intp]) -> DataAssembly:
    """Some presentations of an assembly; their stimulus set has their stimuli only."""
    return with_own_stimuli(assembly.isel(presentation=rows), assembly.attrs)


def with_own_stimuli(selected: DataAssembly, attrs: Mapping[str, Any]) -> DataAssembly:
    """Give a selection the attributes of all presentations, with the stimuli that it still has."""
    stimuli = attrs["stimulus_set"]
    known = stimuli["stimulus_id"].isin(selected["stimulus_id"].values)
    selected.attrs = {**attrs, "stimulus_set": stimuli[known].reset_index(drop=True)}
    return selected


@contextlib.contextmanager
def errors_naming_data(assembly: DataAssembly, benchmark: str) -> Iterator[None]:
    """Add benchmark, data set and file to a metric's errors about its input."""
    try:
        yield
    except MetricInputError as error:
        raise MetricInputError(f"{benchmark}, {describe(assembly)}: {error.message}", remedy=error.remedy) from error


def of_region(assembly: DataAssembly, region: str) -> DataAssembly:
    """Select the neuroids of a region.

    Parameters
    ----------
    assembly : NeuroidAssembly
        With ``region`` on ``neuroid``.
    region : str
        Such as ``'IT'``.

    Returns
    -------
    NeuroidAssembly
        presentation × neuroid[ × time_bin].

    Raises
    ------
    UserError
        The coordinate ``region`` does not exist, or has no neuroid of the region; the message names data set, file and
        coordinate.
    """
    require_coords(assembly, {"region": "neuroid"})
    known = sorted({str(name) for name in assembly["region"].values})
    if region not in known:
        raise UserError(
            f"{describe(assembly)} has no neuroid whose coordinate 'region' is {region!r}",
            remedy=f"its regions are {', '.join(known)}",
        )
    return assembly.sel(region=region).transpose("presentation", "neuroid", ...)


def single_time_bin(assembly: DataAssembly) -> DataAssembly:
    """Squeeze the single time bin of recordings; its start and end stay as coordinates.

    Parameters
    ----------
    assembly : NeuroidAssembly
        With one time bin; without the dimension, it is returned unchanged.

    Returns
    -------
    NeuroidAssembly
        Without the dimension ``time_bin``.

    Raises
    ------
    UserError
        There is not exactly one; the message names data set, file and coordinate.
    """
    if "time_bin" not in assembly.dims:
        return assembly
    if assembly.sizes["time_bin"] != 1:
        known = "time_bin_start" in assembly.coords
        starts = np.ravel(assembly["time_bin_start"].values).tolist() if known else []
        raise UserError(
            f"{describe(assembly)} has {assembly.sizes['time_bin']} time bins instead of one; "
            f"coordinate 'time_bin_start' is {first_few([str(start) for start in starts], 5) or 'missing'}",
            remedy="select one, such as assembly.sel(time_bin_start=70), or average them with "
            "assembly.mean(dim='time_bin'), or compare over time with the metric 'spantime_pls'",
        )
    return assembly.squeeze("time_bin")
