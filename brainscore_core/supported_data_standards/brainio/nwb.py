"""Import spike counts from NWB files: units × trials, in bins of time."""

import contextlib
import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import DataUnavailable, UserError, nearest
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.assembly_checks import NAN_ALLOWED, require_stimuli
from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files
from brainscore_core.supported_data_standards.brainio.tables import (
    IDENTIFIER_MARKS,
    ImportLog,
    Missing,
    convert_texts,
    first_names,
    identifier_text,
    identifier_texts,
    mark_missing,
    require_columns,
)

if TYPE_CHECKING:
    from pynwb import NWBFile

DANDI_API = "https://api.dandiarchive.org/api"
_TIMEOUT = 30  # seconds
_DANDI = re.compile(r"dandi:(?://)?(?P<dandiset>\d{6})(?:@(?P<version>[\w.-]+))?/(?P<path>.+)")
_NOTABLE = {
    *(("dropped", what) for what in ("trial", "unit", "interval")),
    *(("noticed", what) for what in ("time", "column", "identifier")),
}
_FEW = 0.01  # of spikes: fewer than this part between the first and the last trial is unusual
_ROUNDING = 1e-6  # seconds by which ends of intervals that touch may differ
_UNITS = {"rate": "spikes/s", "count": "spikes"}
_STIMULUS = "stimulus_id"
_USED = {"presentation", "neuroid", "time_bin", "data"}  # names that assemblies use themselves


def from_nwb(
    path: str | Path,
    *,
    stimulus: str,
    time_bins: Sequence[tuple[float, float]],
    align: str = "start_time",
    trials: str = "trials",
    region: str | None = None,
    values: Literal["rate", "count"] = "rate",
    keep: Sequence[str] = (),
    missing: Missing = None,
    stimulus_set: pd.DataFrame | None = None,
    identifier: str | None = None,
) -> NeuroidAssembly:
    """Make an assembly of spike rates or counts from the units and trials of an NWB file.

    A spike at time t belongs to the bin from a to b ms of a trial if a ≤ t − (alignment of the trial) < b.

    Parameters
    ----------
    path : path or str
        An NWB file (HDF5). ``https://…`` is read through the network in parts, without downloading the whole file, as
        is ``dandi:000123/sub-1/sub-1_ecephys.nwb``, the path of a file in the DANDI archive; ``dandi:000123@VERSION/…``
        names a published version.
    stimulus : str
        Column of the trials with the stimulus that was shown. It becomes ``stimulus_id``, as text.
    time_bins : sequence of (float, float)
        Start and end of each bin in milliseconds after the alignment; bins may overlap.
    align : str, default 'start_time'
        Column of the trials with the time, in seconds, at which the stimulus came on.
    trials : str, default 'trials'
        Name of the table of trials, one of the file's time intervals.
    region : str, optional
        Column with the brain region, of the units or of their electrodes; becomes ``region``. By default the
        electrodes' ``location``, if units name electrodes, or that of their ``electrode_group``.
    values : {'rate', 'count'}, default 'rate'
        Whether values are spikes per second or numbers of spikes; ``attrs['unit']`` says which.
    keep : sequence of str
        Columns of the trials to keep although they differ between showings of a stimulus, such as a condition or an
        outcome to select by. Others of this kind, such as ``start_time``, are left out: averages over repetitions are
        over presentations that are equal in all other coordinates.
    missing : sequence or mapping, optional
        Marks of missing values in columns of trials and units, as for :func:`from_trials`.
    stimulus_set : StimulusSet, optional
        The stimuli; an id that it lacks is an error. It is attached to the assembly.
    identifier : str, optional
        Name of the assembly; by default the identifier of the stimulus set, if given.

    Returns
    -------
    NeuroidAssembly
        presentation × neuroid × time_bin, presentations in the order of the trials. Other columns of trials and units
        with one number or text per row become coordinates of ``presentation`` and ``neuroid``. ``repetition`` counts
        in time the showings of a stimulus with the same values of what is kept;
        ``neuroid_id`` joins the session and the unit's id. Where units have ``obs_intervals``, values of bins that
        their union does not cover are NaN. ``attrs['import_report']`` is an :class:`ImportReport`.

    Raises
    ------
    UserError
        If pynwb is not installed, the file cannot be read, a table or column does not exist, no trial or unit remains,
        or no spike is in any bin, as when spikes and trials have different units of time.
    ValidationError
        If stimuli are not in `stimulus_set`.

    Warns
    -----
    ValidationWarning
        If trials, units or intervals are dropped, the times of spikes and trials hardly overlap, or seem to count from
        the start of each trial.

    Examples
    --------
    >>> rates = from_nwb("session.nwb", stimulus="image", time_bins=[(70, 170)])  # doctest: +SKIP
    >>> rates.dims  # doctest: +SKIP
    ('presentation', 'neuroid', 'time_bin')
    """
    bins = _checked_bins(time_bins)
    if values not in _UNITS:
        raise UserError(f"values={values!r} is not valid", remedy="use 'rate' or 'count'")
    with _opened(path) as (file, source):
        log = ImportLog(source)
        table = _interval_table(file, trials, source)
        if isinstance(missing, Mapping):
            columns = [*table.colnames, *(() if file.units is None else file.units.colnames)]
            require_columns(missing, columns, f"the tables of trials and units of {source}")
        shown = _read_trials(table, stimulus, align, [keep] if isinstance(keep, str) else list(keep), missing, log)
        units = _read_units(file, region, missing, log)
        session = _text(file.session_id) or _text(file.identifier)
        animal = _text(getattr(file.subject, "subject_id", None))
    if stimulus_set is not None:
        require_stimuli(shown.coords[_STIMULUS], stimulus_set)
    data = _count(units, shown.times, bins)
    _check_times(units, shown.times, bins, data, log)
    if values == "rate":
        data /= (bins[:, 1] - bins[:, 0]) / 1000
    silent = np.flatnonzero(np.nanmax(data, axis=(0, 2), initial=0) == 0)
    if len(silent):
        log.add("noticed", "unit", [units.ids[index] for index in silent], "no spikes in any of the time bins")
    coords: dict[str, Any] = {name: ("presentation", column) for name, column in shown.coords.items()}
    further = {"session": session, "animal": animal}
    neuroids = {
        "neuroid_id": [f"{session}-{unit}" if session else unit for unit in units.ids],
        "unit_id": units.ids,
        **{name: [text] * len(units.ids) for name, text in further.items() if text and name not in coords},
        **units.coords,
    }
    for name, column in neuroids.items():
        coords[f"unit_{name}" if name in coords else name] = ("neuroid", np.asarray(column))
    coords["time_bin_start"] = ("time_bin", bins[:, 0])
    coords["time_bin_end"] = ("time_bin", bins[:, 1])
    assembly = NeuroidAssembly(data, coords=coords, dims=["presentation", "neuroid", "time_bin"])
    assembly.attrs["unit"] = _UNITS[values]
    if np.isnan(data).any():
        assembly.attrs[NAN_ALLOWED] = "the unit was not observed in the trial (obs_intervals of the NWB file)"
        log.add("noticed", "value", [f"{int(np.isnan(data).sum())} of {data.size}"], "NaN, outside of obs_intervals")
    sizes = {"trial": (shown.read, data.shape[0]), "unit": (units.read, data.shape[1])}
    return log.finish(assembly, sizes, stimulus_set=stimulus_set, identifier=identifier, notable=_NOTABLE)


@dataclass
class _Trials:
    """The trials that were kept: their times of alignment in seconds, and their coordinates."""

    times: NDArray[np.float64]
    coords: dict[str, NDArray[Any]]
    read: int


@dataclass
class _Units:
    """The units that were kept: sorted spike times and observed intervals in seconds, and their coordinates."""

    ids: list[str]
    spikes: list[NDArray[np.float64]]
    observed: list[NDArray[np.float64]] | None
    coords: dict[str, NDArray[Any]]
    read: int


def _read_trials(
    table: Any, stimulus: str, align: str, keep: Sequence[str], missing: Missing, log: ImportLog
) -> _Trials:
    needed, title = (stimulus, align, *keep), f"the table {table.name!r} of {log.source}"
    columns = _scalar_columns(table, "trial column", log, missing, needed=needed, ids=(stimulus,))
    require_columns(needed, columns, title)
    times = pd.to_numeric(columns[align], errors="coerce").to_numpy(dtype=np.float64)
    shown = identifier_texts(columns.pop(stimulus), stimulus).to_numpy(dtype=object)
    ids = np.asarray(table.id[:])
    _notice_odd_times(times, columns, align, log)
    complete = np.ones(len(ids), dtype=bool)
    for wrong, reason in (
        (pd.isna(shown), f"the stimulus ({stimulus}) is missing"),
        (~np.isfinite(times), f"the time ({align}) is missing"),
    ):
        if (wrong & complete).any():
            log.add("dropped", "trial", ids[wrong & complete], reason)
        complete &= ~wrong
    if not complete.any():
        raise UserError(f"no trial of {title} has both {stimulus} and {align}", remedy="name other columns")
    if stimulus != _STIMULUS:
        log.add("renamed", "trial column", [stimulus], _STIMULUS)
    columns, shown, times = columns[complete], shown[complete], times[complete]
    of_stimulus = columns.drop(columns=[name for name in (*keep, "repetition") if name in columns])
    varying = [name for name in of_stimulus if (of_stimulus[name].groupby(shown).nunique(dropna=False) > 1).any()]
    if varying:
        columns = columns.drop(columns=varying)
        log.add("dropped", "trial column", varying, "not the same at each showing of a stimulus; keep=… keeps it")
    columns = _renamed(columns, {_STIMULUS, "neuroid_id", "unit_id", "region"}, "trial", log)
    if "repetition" not in columns:
        alike = pd.DataFrame({_STIMULUS: shown, **{name: columns[name].array for name in keep if name in columns}})
        in_time = alike.iloc[np.argsort(times, kind="stable")]
        count = in_time.groupby(list(alike), sort=False, dropna=False).cumcount()
        columns["repetition"] = count.sort_index().to_numpy()
    return _Trials(times, {_STIMULUS: shown, **{str(name): columns[name].to_numpy() for name in columns}}, len(ids))


def _renamed(columns: pd.DataFrame, taken: set[str], kind: str, log: ImportLog) -> pd.DataFrame:
    """Give the columns other names that would be those of an assembly."""
    new_names = {name: f"{kind}_{name}" for name in columns if name in _USED | taken}
    for name, new_name in new_names.items():
        log.add("renamed", f"{kind} column", [name], f"{new_name}, as assemblies use the name themselves")
    return columns.rename(columns=new_names)


def _read_units(file: "NWBFile", region: str | None, missing: Missing, log: ImportLog) -> _Units:
    table = file.units
    if table is None or not len(table) or "spike_times" not in table.colnames:
        raise UserError(f"{log.source} has no units with spike times", remedy="pass a file with sorted spikes")
    columns = _scalar_columns(table, "unit column", log, missing, used=("spike_times", "electrodes", "obs_intervals"))
    times = [np.asarray(table["spike_times"][row], dtype=np.float64) for row in range(len(table))]
    spikes = [each[np.isfinite(each)] for each in times]
    if falling := [table.id[row] for row, each in enumerate(spikes) if (np.diff(each) < 0).any()]:
        names = [f"spikes of {unit}" for unit in falling]
        log.add("noticed", "time", names, "not in order; are they relative to the start of each trial?")
    spikes = [np.sort(each) for each in spikes]
    lost = {
        table.id[row]: len(times[row]) - len(each) for row, each in enumerate(spikes) if len(each) < len(times[row])
    }
    _note_lost("spike", lost, "the time is not a finite number", log)
    ids = [str(text) for text in table.id[:]]
    if len(set(ids)) < len(ids):
        log.add("converted", "unit", ids, "ids are not unique, so units are numbered by their rows")
        ids = [str(row) for row in range(len(ids))]
    spiking = [row for row, each in enumerate(spikes) if len(each)]
    if len(spiking) < len(ids):
        log.add("dropped", "unit", [unit for unit, each in zip(ids, spikes, strict=True) if not len(each)], "no spikes")
    if not spiking:
        raise UserError(f"no unit of {log.source} has spikes", remedy="pass a file with sorted spikes")
    columns = _renamed(columns, {"neuroid_id", "unit_id"}, "unit", log)
    if (regions := _regions(file, columns, region, log)) is not None:
        columns["region"] = regions
    observed = None
    if "obs_intervals" in table.colnames:
        intervals = [np.asarray(table["obs_intervals"][row], dtype=np.float64).reshape(-1, 2) for row in spiking]
        valid = [each[:, 0] <= each[:, 1] for each in intervals]  # and not NaN
        observed = [_merged(each[rows]) for each, rows in zip(intervals, valid, strict=True)]
        wrong = {ids[row]: int((~rows).sum()) for row, rows in zip(spiking, valid, strict=True) if not rows.all()}
        _note_lost("interval", wrong, "they do not end after they start", log)
    coords = {str(name): columns[name].to_numpy()[spiking] for name in columns}
    return _Units([ids[row] for row in spiking], [spikes[row] for row in spiking], observed, coords, len(ids))


def _note_lost(what: str, counts: Mapping[Any, int], reason: str, log: ImportLog) -> None:
    """Note that spikes or intervals of units are dropped."""
    if counts:
        log.add("dropped", what, [f"of {first_names(counts)}"], reason, count=sum(counts.values()))


def _notice_odd_times(times: NDArray[np.float64], trials: pd.DataFrame, align: str, log: ImportLog) -> None:
    """Note times of alignment that seem to be relative to the start of each trial."""
    remedy = "times are seconds on the clock of the spikes, not from the start of the trial"
    finite = times[np.isfinite(times)]
    if len(finite) > 1 and (finite == finite[0]).all():
        log.add("noticed", "time", [align], f"the same in all trials; {remedy}")
    elif {"start_time", "stop_time"} <= set(trials):
        early, late = times < trials["start_time"] - _ROUNDING, times > trials["stop_time"] + _ROUNDING
        outside = int((early | late).sum())
        if outside > len(finite) / 2:
            log.add("noticed", "time", [align], f"outside of {outside} of {len(finite)} trials; {remedy}")


def _count(units: _Units, times: NDArray[np.float64], bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers of spikes, trial × unit × bin; NaN where the unit was not observed."""
    starts, ends = (times[:, None] + bins[None, :, side] / 1000 for side in (0, 1))
    counts = np.empty((len(times), len(units.ids), len(bins)))
    for index, spikes in enumerate(units.spikes):
        counts[:, index] = np.searchsorted(spikes, ends) - np.searchsorted(spikes, starts)
        if units.observed is not None:
            firsts, lasts = units.observed[index].T
            # the last interval that began before; −1 if there is none
            number = np.searchsorted(firsts, starts + _ROUNDING, side="right") - 1
            within = ends <= np.append(lasts, -np.inf)[number] + _ROUNDING
            counts[:, index][~within] = np.nan
    return counts


def _merged(intervals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The union of intervals, in order; those that touch are one."""
    ordered = intervals[np.argsort(intervals[:, 0], kind="stable")]
    lasts = np.maximum.accumulate(ordered[:, 1])
    begins = np.ones(len(ordered), dtype=bool)
    begins[1:] = ordered[1:, 0] > lasts[:-1] + _ROUNDING
    return np.column_stack([ordered[begins, 0], lasts[np.append(begins[1:], True)[: len(ordered)]]])


def _check_times(
    units: _Units,
    times: NDArray[np.float64],
    bins: NDArray[np.float64],
    data: NDArray[np.float64],
    log: ImportLog,
) -> None:
    """Raise an error if no spike is in any bin; note if the times of spikes and trials hardly overlap."""
    first, last = min(each[0] for each in units.spikes), max(each[-1] for each in units.spikes)
    starts, ends = times + bins[:, 0].min() / 1000, times + bins[:, 1].max() / 1000
    spans = f"spikes are from {first:.9g} to {last:.9g} s, bins of trials from {starts.min():.9g} to {ends.max():.9g} s"
    if np.isnan(data).all():
        raise UserError(
            f"no unit of {log.source} was observed in any time bin of a trial: {spans}",
            remedy="check obs_intervals, and the units of times: NWB files have seconds",
        )
    if not np.nansum(data):
        raise UserError(
            f"no spike of {log.source} is in any time bin of a trial: {spans}",
            remedy="times are seconds on one clock in NWB: divide milliseconds by 1000, and add the start of the trial "
            "to times relative to it; or name another column with align=…",
        )
    outside = int(((ends < first) | (starts > last)).sum())
    if outside > len(times) / 2:
        log.add("noticed", "time", [spans], f"{outside} of {len(times)} trials are before or after all spikes")
    elif (longer := int(((starts < first) | (ends > last)).sum())) > len(times) / 2:
        log.add("noticed", "time", [spans], f"bins of {longer} of {len(times)} trials exceed the spikes; are they ms?")
    inside = sum(int(np.diff(np.searchsorted(each, [starts.min(), ends.max()]))[0]) for each in units.spikes)
    if inside < _FEW * sum(map(len, units.spikes)):
        log.add("noticed", "time", [spans], "nearly all spikes are before or after all trials; are they in ms?")


def _checked_bins(time_bins: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    try:
        bins = np.asarray(time_bins, dtype=np.float64)
    except (TypeError, ValueError):
        bins = np.empty(0)
    if bins.ndim != 2 or bins.shape[1] != 2 or not len(bins):
        raise UserError(f"time_bins={time_bins!r} are not time bins", remedy="pass [(start, end), …] in milliseconds")
    wrong = bins[~(np.isfinite(bins).all(axis=1) & (bins[:, 0] < bins[:, 1]))]
    if len(wrong):
        raise UserError(f"the time bin {tuple(wrong[0].tolist())} does not end after it starts", remedy="correct it")
    if np.abs(bins).max() < 1:
        raise UserError(
            f"all time bins end within 1 ms: {bins.tolist()}",
            remedy="pass milliseconds: [(70, 170)], not [(0.07, 0.17)]",
        )
    return bins


def _interval_table(file: "NWBFile", name: str, source: str) -> Any:
    tables = {"trials": file.trials, "epochs": file.epochs, **dict(file.intervals or {})}
    present = {title: table for title, table in tables.items() if table is not None}
    if name in present and len(present[name]):
        return present[name]
    if name in present:
        raise UserError(f"the table {name!r} of {source} is empty", remedy="pass a file with trials")
    near = nearest(name, present)
    raise UserError(
        f"{source} has no table of trials {name!r}",
        remedy=(f"did you mean {near[0]!r}? " if near else "")
        + (f"Its time intervals are {', '.join(present)}: name one with trials=…" if present else "It has no trials."),
    )


def _scalar_columns(
    table: Any,
    kind: str,
    log: ImportLog,
    missing: Missing,
    *,
    needed: Sequence[str] = (),
    ids: Sequence[str] = (),
    used: Sequence[str] = (),
) -> pd.DataFrame:
    """Columns with one number or text per row; the others are reported, except those that are `used` otherwise."""
    columns: dict[str, NDArray[Any]] = {}
    dropped = []
    for name in table.colnames:
        if name in used:
            continue
        ragged = type(table[name]).__name__ in ("VectorIndex", "DynamicTableRegion")
        values = np.empty(0) if ragged else np.asarray(table[name][:])
        if values.dtype.kind in "SUO":
            values = values.astype(object)
            values[...] = np.frompyfunc(lambda cell: cell.decode() if isinstance(cell, bytes) else cell, 1, 1)(values)
        if not ragged and values.ndim == 1 and _is_scalar(values):
            columns[name] = values
        elif name in needed:
            raise UserError(f"the {kind} {name!r} has no single value per row", remedy="name another column")
        else:
            dropped.append(name)
    if dropped:
        log.add("dropped", kind, dropped, "more than a number or a text per row")
    if isinstance(missing, Mapping):
        missing = {name: marks for name, marks in missing.items() if name in columns}
    marked = mark_missing(pd.DataFrame(columns), missing, ids)
    converted, changes = convert_texts(marked.table, [name for name in marked.columns if name not in ids])
    log.changes += [*marked.changes, *changes]
    for name in [name for name in converted if converted[name].isna().all() and name not in needed]:
        log.add("dropped", kind, [name], "all of its values are missing")
        converted = converted.drop(columns=name)
    return converted


def _is_scalar(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "O":
        return values.dtype.kind in "biufUM"
    kinds = {
        type(value) for value in values if not (isinstance(value, float) and np.isnan(value)) and value is not None
    }
    return all(issubclass(kind, str) for kind in kinds)


def _regions(file: "NWBFile", columns: pd.DataFrame, region: str | None, log: ImportLog) -> list[str] | None:
    """Region of each unit, from the units' or the electrodes' column; None if it is unknown and none was named."""
    if region is not None and region in columns:
        if region != "region":
            log.add("renamed", "unit column", [region], "region")
        return [_text(value) or "" for value in columns.pop(region)]
    units, electrodes = file.units, file.electrodes
    has_electrodes = electrodes is not None and "electrodes" in units.colnames
    if region is None and ("region" in columns or not has_electrodes):
        if "region" in columns:
            return None
        if "electrode_group" in units.colnames:
            log.add("added", "coordinate", ["region"], "the location of the electrode_group")
            return [_text(value.location) or "" for value in units["electrode_group"][:]]
        log.add("noticed", "coordinate", ["region"], "unknown, as units do not name electrodes; name a column")
        return None
    name = region or "location"
    located_by = list(electrodes.colnames) if has_electrodes else []
    if name not in located_by:
        title = f"the units{' and electrodes' if has_electrodes else ''} of {log.source}"
        require_columns([name], [*columns, *located_by], title)
    locations = np.array([_text(value) or "" for value in electrodes[name][:]], dtype=object)
    ends = np.asarray(units["electrodes"].data[:], dtype=int)
    rows = np.split(np.asarray(units["electrodes"].target.data[:], dtype=int), ends[:-1])
    names = [sorted({*locations[of_unit]}) for of_unit in rows]
    if nowhere := [unit for unit, texts in zip(units.id[:], names, strict=True) if not any(texts)]:
        log.add("noticed", "unit", nowhere, "no electrodes, so the region is ''")
    if several := [unit for unit, texts in zip(units.id[:], names, strict=True) if len(texts) > 1]:
        log.add("noticed", "unit", several, f"its electrodes differ in {name}; the names are joined by '/'")
    log.add("added", "coordinate", ["region"], f"the electrodes' {name}")
    return ["/".join(texts) for texts in names]


def _text(value: Any) -> str | None:
    """A value as text: 3 and 3.0 are '3'; None if it is missing."""
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return None
    text = identifier_text(value)
    return None if text.strip() in IDENTIFIER_MARKS else text


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[tuple["NWBFile", str]]:
    """Open a file, local or remote; also returns its name."""
    try:
        import h5py
        from pynwb import NWBHDF5IO
    except ModuleNotFoundError as error:
        raise UserError("reading NWB files needs pynwb", remedy="install it: pip install 'brainscore[nwb]'") from error
    address = str(path)
    remote = address.startswith(("http://", "https://", "s3://", "dandi:"))
    if remote:
        url = _url(address)
        source = Path(urllib.parse.unquote(urllib.parse.urlsplit(address).path)).name or address
        opened: Any = _remote_file(url, address)
    else:
        source, opened = Path(path).name, str(path)
        if Path(path).is_dir():
            raise UserError(f"{path} is a folder", remedy="pass an NWB file in HDF5; Zarr is not supported")
        if not Path(path).exists():
            raise UserError(f"the file {path} does not exist", remedy="check the path")
    with contextlib.ExitStack() as stack:
        try:
            refuse_other_files(opened if remote else Path(path), address)
            hdf5 = stack.enter_context(h5py.File(opened, "r"))
            reader = stack.enter_context(NWBHDF5IO(file=hdf5, mode="r", load_namespaces=True))
            file = reader.read()
        except Exception as error:  # readers raise many types of errors for other files
            reason, remedy = str(error), "check it with `python -m pynwb.validate FILE`"
            if isinstance(error, UserError):
                reason, remedy = error.message, error.remedy or ""
            raise UserError(f"cannot read {address} as an NWB file: {reason}", remedy=remedy) from error
        yield file, source


def _remote_file(url: str, address: str) -> Any:
    import requests

    try:
        import remfile
    except ModuleNotFoundError as error:
        raise UserError("reading from the network needs remfile", remedy="pip install 'brainscore[nwb]'") from error
    try:  # archives redirect to their storage: follow once, not for each part
        with requests.get(url, headers={"Range": "bytes=0-0"}, stream=True, timeout=_TIMEOUT) as answer:
            answer.raise_for_status()
            if answer.status_code != requests.codes.partial_content:
                raise UserError(f"the server of {address} does not send parts of files", remedy="download the file")
            return remfile.File(answer.url)
    except requests.RequestException as error:
        raise DataUnavailable(
            f"cannot read {address}: {error}", remedy="check the address and the connection"
        ) from error


def _url(address: str) -> str:
    """HTTPS address of a file in S3 or in the DANDI archive."""
    if address.startswith("s3://"):
        bucket, _, key = address.removeprefix("s3://").partition("/")
        return f"https://{bucket}.s3.amazonaws.com/{urllib.parse.quote(key)}"
    if not address.startswith("dandi:"):
        return address
    match = _DANDI.fullmatch(address)
    if match is None:
        raise UserError(f"{address!r} is not an address in DANDI", remedy="write dandi:000123/sub-1/sub-1_ecephys.nwb")
    import requests

    version = match["version"] or "draft"
    listing = f"{DANDI_API}/dandisets/{match['dandiset']}/versions/{version}/assets/"
    try:
        answer = requests.get(listing, params={"path": match["path"], "page_size": 100}, timeout=_TIMEOUT)
        answer.raise_for_status()
        assets = answer.json()["results"]
        matches = [asset["asset_id"] for asset in assets if asset["path"] == match["path"]]
        if not matches:
            near = ", ".join(asset["path"] for asset in assets[:5])
            raise UserError(
                f"the dandiset {match['dandiset']} ({version}) has no file {match['path']!r}",
                remedy=f"it has {near}" if near else "copy the path from the archive's website",
            )
    except (requests.RequestException, ValueError, KeyError) as error:
        raise DataUnavailable(
            f"cannot find {address} in DANDI: {error}", remedy="check address and connection"
        ) from error
    return f"{DANDI_API}/assets/{matches[0]}/download/"
