"""Errors and intervals of scores."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, coord_values
from brainscore_core.metrics import Score, Uncertainty, amend_uncertainty, attach_uncertainty
from brainscore_core.numerics import Interval, bootstrap_interval, influence_interval, jackknife_interval
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.predictions import Predictivity, PredictivityOfUnits, predictivity_interval
from brainscore_core.plurals import counted, plural
from brainscore_core.populations import FEWEST_GROUPS, these
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import (
    ATTRIBUTE,
    DECLARED,
    INDEPENDENT,
    grouping_of,
)

_FEWEST_NEUROIDS = 3
"""With fewer, the neuroids are taken as fixed."""

_NAMES = {"presentation": "stimuli", "neuroid": "neuroids"}

_NOUNS = {"truth": "right answer"}
"""Names of groups in texts, where these are not their coordinate's."""

_UNITS = {
    "stimuli": ("presentation", "stimulus_id"),
    "triplets": ("presentation", "triplet"),
    "pairs": ("presentation", "pair"),
    "subjects": ("subject", "subject"),
    "neuroids": ("neuroid", "neuroid_id"),
}


class Units(NamedTuple):
    """What varies along a dimension: single entries, or groups of entries."""

    codes: NDArray[np.intp]  # unit of each entry, numbered from 0
    number: int  # number of units
    plural: str  # what varies, such as ``'new stimuli'`` or ``'new neuroids of these 2 subjects'``
    details: str  # how many there are
    # Group of each entry, if groups were declared, also if they are too few to be the units
    clusters: NDArray[np.intp] | None = None
    names: NDArray[Any] | None = None  # name of each entry, where known
    group: str | None = None  # coordinate of the groups, also if they are too few to be the units
    labels: NDArray[Any] | None = None  # its value for each entry

    @property
    def grouped(self) -> bool:
        """Whether a unit is a group of entries."""
        return self.number < len(self.codes)


def units_along(assembly: DataAssembly, dim: str, group: str | None, *, default: str) -> Units:
    """Find the units along a dimension: its entries, or the groups that a coordinate tells apart.

    Groups are the units if there are at least :data:`~brainscore_core.populations.FEWEST_GROUPS`, and fewer than
    entries. The entries of fewer groups vary within their groups. A coordinate without a value is not used, nor is a
    single group of stimuli: it is the kind of stimuli that the experiment is about. A MetricInputError if the
    coordinate is missing, unless it is the `default`.

    Examples
    --------
    >>> assembly = DataAssembly(np.zeros((6, 2)), dims=["presentation", "neuroid"], coords={
    ...     "object_name": ("presentation", list("aabbcc")), "subject": ("neuroid", ["x", "y"])})
    >>> units_along(assembly, "presentation", "object_name", default="object_name").plural
    'new stimuli of these 3 objects'
    """
    if group == default and group not in assembly.coords:
        return _units(assembly, dim, None, None)
    return _units(assembly, dim, group, None if group is None else _labels(assembly, dim, group))


def units_of_stimuli(assembly: xr.DataArray, groups: str | None = DECLARED) -> Units:
    """Find the units of the stimuli of an assembly, and ask for groups that may exist and are not declared.

    `groups` as for :func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`. Undeclared
    groups are used as if they were declared, and a warning says how to declare them. A MetricInputError if the named
    coordinate is missing.
    """
    try:
        grouping = grouping_of(assembly, groups)
    except KeyError as error:
        raise _no_groups(str(error.args[0]), "presentation") from error
    units = _units(assembly, "presentation", grouping.name, grouping.values)
    if grouping.question:
        remark(grouping.question)
    if grouping.shared:
        units = units._replace(details=f"{units.details}, not declared")
    return units


def _labels(assembly: xr.DataArray, dim: str, group: str) -> NDArray[Any]:
    if group not in assembly.coords:
        raise _no_groups(group, dim)
    return coord_values(assembly, group, role="target", dim=dim)


def _no_groups(group: str, dim: str) -> MetricInputError:
    return MetricInputError(
        f"the target has no coordinate {group!r} to group its {_NAMES.get(dim, plural(dim))} by",
        remedy="name a coordinate of the target, or pass None if each varies on its own",
    )


def _units(assembly: xr.DataArray, dim: str, group: str | None, labels: NDArray[Any] | None) -> Units:
    """Units along a dimension whose entries have these group labels."""
    n, name = assembly.sizes[dim], _NAMES.get(dim, plural(dim))
    coord = _UNITS[name][1] if name in _UNITS else None
    names = np.asarray(assembly[coord].values) if coord is not None and coord in assembly.coords else None
    single = Units(np.arange(n, dtype=np.intp), n, f"new {name}", counted(n, name), names=names)
    if group is None or labels is None:
        return single
    values = pd.Series(labels)
    if pd.api.types.infer_dtype(values) in ("mixed", "mixed-integer"):  # cannot be sorted
        values = values.map(lambda label: f"{label} ({type(label).__name__})", na_action="ignore")
    codes, group_values = pd.factorize(values, sort=True, use_na_sentinel=dim == "presentation")
    codes, number, missing = np.asarray(codes, dtype=np.intp), len(group_values), values.isna().to_numpy()
    alone = int(missing.sum()) if dim == "presentation" else 0
    if alone:  # a stimulus of no group varies on its own
        codes[missing] = number + np.arange(alone)
        number += alone
    if number == n or values.isna().all() or (number == 1 and dim == "presentation"):
        return single
    single = single._replace(clusters=codes, group=group, labels=labels)
    if number < FEWEST_GROUPS:
        return single._replace(plural=f"new {name} of {these(number, _NOUNS.get(group, group))}")
    details = f"{counted(number - alone, 'group')} of {n:,} {name}"
    details += f", {alone:,} of them in no group" if alone else ""
    return single._replace(codes=codes, number=number, plural=f"new groups of {name} ({group})", details=details)


def with_tested(units: Units, rows: NDArray[np.intp]) -> Units:
    """Say how many of the entries are tested in any split, if not all of them are.

    Examples
    --------
    >>> with_tested(Units(np.arange(4), 4, "new stimuli", "4 stimuli"), np.array([0, 2, 0])).details
    '4 stimuli, 2 of them tested'
    """
    tested = len(np.unique(rows))
    return units._replace(details=f"{units.details}, {tested:,} of them tested") if tested < len(units.codes) else units


def unit_ids(units: Units, entries: Any) -> NDArray[Any]:
    """Label of each unit: that of its entry, or of its group."""
    if not units.grouped:
        return np.asarray(entries)
    return np.asarray(pd.Series(units.labels).groupby(units.codes).first())


def with_groups(responses: DataAssembly, units: Units, rows: NDArray[np.intp]) -> DataAssembly:
    """Responses with the groups of their stimuli, so that comparisons resample what the score's interval did.

    `rows` are the entries of `units` that the presentations belong to. The name of the groups' coordinate is in
    ``attrs['stimulus_groups']``; other attributes are left out.
    """
    responses, name = responses.copy(deep=False), units.group
    if name is not None and units.labels is not None:
        labels = units.labels[rows]
        if name in responses.coords and not np.array_equal(responses.coords[name].values, labels):
            name = f"{name} of the stimuli"  # what the metric calls so is something else, such as its splits
        if name not in responses.coords:
            responses = responses.assign_coords({name: ("presentation", labels)})
    responses.attrs = {ATTRIBUTE: name or INDEPENDENT}
    return responses


def attach_varied(score: Score, interval: Interval, units: Sequence[Units], *, estimates: str) -> Score:
    """Write an interval into a score's attributes, and what varies from one experiment to the next.

    The score is changed in place and returned; ``attrs['ci_estimates']`` begins with what varies.
    """
    varied = " and ".join(unit.plural for unit in units)
    return _attach(score, interval, f"{varied}; {', '.join(unit.details for unit in units)}; {estimates}")


def _attach(score: Score, interval: Interval, estimates: str, error: float | None = None) -> Score:
    """Write an interval into the uncertainty of a score, with an error that is not the interval's if given."""
    error = interval.error if error is None else error
    return attach_uncertainty(
        score,
        error=error,
        ci=(interval.low, interval.high),
        estimates=estimates,
        method=interval.method,
        reason=interval.reason or ("the value itself is undefined" if math.isnan(error) else None),
    )


def attach_predictivity_interval(
    score: Score, found: Predictivity, *, stimuli: Units, neuroids: Units, fixed: str = ""
) -> Score:
    """Attach standard error and interval of a predictivity, over new stimuli and neuroids.

    The score is changed in place; ``attrs['predictivity']`` tells how it varies with named stimuli and neuroids.
    `fixed` says what else is kept, for ``ci_estimates``. Fewer than three neuroids do not vary: the score then has the
    influence of stimuli instead.
    """
    if found.n_neuroids < _FEWEST_NEUROIDS <= found.n_stimuli and math.isfinite(found.value):
        influence = deletion_influence(found.value - found.effects.sum(axis=1))
        name = str(stimuli.group) if stimuli.grouped else "stimuli"
        ids = None if stimuli.names is None else unit_ids(stimuli, stimuli.names)
        attach_influence(score, influence, units=name, ids=ids, stimuli=stimuli)
        interval = influence_interval(found.value, influence, correlation=True)
        details = f"{stimuli.details}; the model is fixed{fixed}"
        return _attach(score, interval, f"{stimuli.plural} for {these(found.n_neuroids, 'neuroid')}; {details}")
    if stimuli.names is not None and neuroids.names is not None:
        names = stimuli.names
        if stimuli.grouped:  # a group is named by one of its members
            order = np.argsort(names, kind="stable")
            names = names[order][np.unique(stimuli.codes[order], return_index=True)[1]]
        predictivity = PredictivityOfUnits(found, names, neuroids.names, neuroids.clusters)
        amend_uncertainty(score, predictivity=predictivity)
    if stimuli.names is not None and found.training is not None:
        training = DataAssembly(
            found.training.astype(np.float32),
            coords={"unit": ("presentation", unit_ids(stimuli, stimuli.names).astype(str))},
            dims=["presentation", "neuroid"],
            attrs={"pairs": found.pairs.ravel()},
        )
        amend_uncertainty(score, training_influence=training)
    interval = predictivity_interval(found, clusters=neuroids.clusters)
    if math.isfinite(interval.low):
        interval = clipped(interval)
    details = f"{stimuli.details}, {neuroids.details}; the model is fixed{fixed}"
    return _attach(score, interval, f"{stimuli.plural} and {neuroids.plural}; {details}")


def attach_influence(
    score: Score,
    influence: NDArray[np.float64],
    *,
    units: str | tuple[str, str],
    ids: Any = None,
    bias: float = 0.0,
    paired: bool = True,
    further: bool = False,
    stimuli: Units | None = None,
) -> Score:
    """Store the influence of each resampled unit on a score, for tests of the difference between two models.

    Parameters
    ----------
    score : Score
        Changed in place: ``attrs['influence']``.
    influence : array, units or units × other units
        Derivative of the score by the weight of a unit (or of a cell of two crossed kinds), times the number of units.
    units : str or two of them
        What varies: ``'stimuli'``, ``'triplets'``, ``'pairs'``, ``'subjects'`` or ``'neuroids'``; any other name is
        both dimension and coordinate.
    ids : array, or two of them, optional
        Which units these are; by default numbered in the order of the data. Units with the same id belong together.
    bias : float
        How much higher the score is expected to be than what it estimates.
    paired : bool
        Whether other models are scored on the same units; not so of a model's own neuroids.
    further : bool
        Whether these units vary as well as those of ``attrs['influence']``: ``attrs['further_influence']``, whose
        variance is added.
    stimuli : Units, optional
        Those of the stimuli, if `units` contains these: by what they are grouped is stored.

    Returns
    -------
    Score
        The same object.

    Examples
    --------
    >>> score = attach_influence(Score(0.5), np.array([-0.5, 0.5]), units="subjects", ids=["a", "b"])
    >>> score.attrs["influence"]["subject"].values.tolist()
    ['a', 'b']
    """
    kinds, labels = ((units,), (ids,)) if isinstance(units, str) else (units, (None, None) if ids is None else ids)
    coords, dims = {}, []
    for kind, ids, size in zip(kinds, labels, np.shape(influence), strict=True):
        dim, name = _UNITS.get(kind, (kind, kind))
        coords[name] = (dim, np.arange(size) if ids is None else np.asarray(ids))
        dims.append(dim)
    stored = DataAssembly(np.asarray(influence, dtype=np.float64), coords=coords, dims=dims)
    stored.attrs = {"bias": float(bias), "paired": int(paired)}
    if stimuli is not None:
        stored.attrs[ATTRIBUTE] = stimuli.group or INDEPENDENT
    return amend_uncertainty(score, **{"further_influence" if further else "influence": stored})


def attach_jackknife(
    score: Score,
    without_each: Callable[[], Sequence[float]],
    *,
    subjects: Any,
    estimates: str,
    value: float | None = None,
    units: str = "subjects for these images",
    low: float = -1.0,
    high: float = 1.0,
    undefined: str = "",
) -> Score:
    """Attach the interval of a value over subjects, and the influence of each, from the values without one of them.

    Parameters
    ----------
    score : Score
        Changed in place.
    without_each : function
        Returns the values without each subject; it is called if there are at least three.
    subjects : array
        Names of the subjects.
    estimates : str
        What the value is.
    value : float, optional
        What the interval is about, if it is not the score itself.
    units : str
        What varies, as for :func:`attach_interval`.
    low, high : float
        Limits of the interval.
    undefined : str
        Why the value is undefined, if it is NaN.

    Examples
    --------
    >>> score = attach_jackknife(Score(0.5), lambda: [0.6, 0.5, 0.4], subjects=["a", "b", "c"], estimates="mean")
    >>> score.attrs["influence"].values.round(3).tolist(), round(score.attrs["error"], 3)
    ([-0.2, 0.0, 0.2], 0.115)
    """
    m, value = len(subjects), float(score) if value is None else value
    left_out = without_each() if m > 2 else [math.nan] * m
    interval = clipped(jackknife_interval(value, left_out, units="subjects"), low, high)
    if undefined and math.isnan(value):
        interval = interval._replace(reason=undefined)
    if np.isfinite(left_out).all():
        attach_influence(score, deletion_influence(left_out), units="subjects", ids=subjects)
    return attach_interval(score, interval, units=units, estimates=estimates)


def attach_interval(
    score: Score, interval: Interval, *, estimates: str, units: str = "", error: float | None = None
) -> Score:
    """Write an interval into a score's attributes, and over what it generalises.

    Parameters
    ----------
    score : Score
        Changed in place.
    interval : Interval
        Error and limits.
    estimates : str
        What the value is.
    units : str
        What varies, in the plural, perhaps with what is kept: ``'subjects'``, ``'stimuli of these 2 monkeys'``. Without
        it, `estimates` alone says for whom the interval holds.
    error : float, optional
        Replaces that of the interval.
    """
    if units:
        estimates = f"new {units}; {counted(interval.n, re.split(' (?:of|for) th', units)[0])}; {estimates}"
    elif ";" not in estimates:
        estimates = f"{estimates}, {interval.n:,} of them"
    return _attach(score, interval, estimates, error)


def attach_neuroid_interval(score: Score, raw: Score, *, reason: str = "") -> Score:
    """Attach the interval of a median over neuroids (averaged over splits), neuroids resampled.

    Parameters
    ----------
    score : Score
        Changed in place.
    raw : Score
        Values a neuroid, or split × neuroid.
    reason : str
        Why the interval is not about new stimuli as well, if it usually is.
    """
    values = np.asarray(raw.transpose(..., "neuroid").values, dtype=np.float64)
    of_splits = " (mean over splits)" if values.ndim > 1 else ""
    only = f" only ({reason})" if reason else ""
    interval = bootstrap_interval(values, "median", units="neuroids")
    return attach_interval(
        score,
        interval,
        units=f"neuroids for these stimuli{only}",
        estimates=f"median over neuroids{of_splits}; splits are kept",
    )


def attach_each(score: Score, parts: Sequence[Score], *, what: str) -> Score:
    """Attach errors and intervals of the values along the score's only dimension, such as its time bins.

    Parameters
    ----------
    score : Score
        Changed in place: ``error`` and both limits in ``ci`` have its shape, NaN if not available.
    parts : sequence of Score
        Scalars with errors and intervals, one per value.
    what : str
        What the dimension is, for ``ci_estimates``.
    """

    def along(values: list[Any]) -> Score:
        return Score(np.array(values, dtype=np.float64), coords=score.coords, dims=score.dims)

    uncertainties = [Uncertainty.of(part) for part in parts]
    texts: dict[str, Any] = {
        name: next(filter(None, (getattr(uncertainty, name) for uncertainty in uncertainties)), None)
        for name in ("error_reason", "ci_reason", "ci_level", "ci_estimates", "ci_method")
    }
    if texts["ci_estimates"]:
        texts["ci_estimates"] += f"; in each {what}"
    return amend_uncertainty(
        score,
        error=along([uncertainty.error for uncertainty in uncertainties]),
        ci=tuple(along([uncertainty.ci[side] for uncertainty in uncertainties]) for side in (0, 1)),
        **texts,
    )


def over_splits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error (ddof 0, as published) over splits; splits in which nothing is defined are left out."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return math.nan, math.nan
    return float(defined.mean()), float(defined.std() / np.sqrt(defined.size))


def note_undefined(score: Score, raw: NDArray[Any], *, what: str) -> Score:
    """Count undefined values in ``attrs['undefined']``, and give the reason if all are undefined."""
    undefined = np.isnan(np.asarray(raw, dtype=np.float64))
    score.attrs["undefined"] = int(undefined.sum())
    if undefined.all():
        attach_uncertainty(score, reason=f"{what} is undefined everywhere: the values do not vary")
    return score


def clipped(interval: Interval, low: float = -1.0, high: float = 1.0) -> Interval:
    """Clip an interval to the range of possible values."""
    if math.isnan(interval.low):
        return interval
    return interval._replace(low=min(max(interval.low, low), high), high=max(min(interval.high, high), low))
