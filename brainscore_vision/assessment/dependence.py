"""Presentations that depend on each other: stimuli that belong together, splits that divide them, effects of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks.measurements import find_overlaps, finding_of, measurements_of
from brainscore_core.errors import UserError
from brainscore_core.lazy import content_of
from brainscore_core.metric_helpers.alignment import coord_values
from brainscore_core.metric_helpers.transformations import CrossValidation, SplitRows
from brainscore_core.numerics.significance import corrected
from brainscore_core.populations import FEWEST_GROUPS
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.findings import Finding
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import (
    DECLARED,
    GROUPS,
    ORIGINS,
    Grouping,
    grouping_of,
)
from brainscore_vision.assessment.duplicates import Duplicates, find_duplicates
from brainscore_vision.benchmark_helpers.measurements import without_single_time_bin
from brainscore_vision.benchmark_helpers.multi_subject import KFoldNeuralBenchmark, MultiSubjectNeuralBenchmark
from brainscore_vision.metric_helpers.repetitions import (
    ORDERS,
    SEQUENCES,
    is_order,
    numbers_of,
    serial_tests,
)
from brainscore_vision.registries import load_stimulus_set, stimulus_set_registry

_NOT_FITTED = "the metric fits nothing, so there are no training stimuli"

CATEGORIES = (*GROUPS, "condition")
"""Coordinates within which the order of presentations is tested."""

_LEVEL = 0.05

Codes = NDArray[np.intp]
Array = NDArray[np.float64]


class Parts(NamedTuple):
    """What of a benchmark is examined: test recordings, then training recordings, if any."""

    name: str
    benchmark: Any
    neural: bool
    recordings: list[DataAssembly]
    stimuli: StimulusSet | None
    notes: tuple[str, ...] = ()


def split_findings(benchmark: Any) -> list[Finding]:
    """Check that splits do not divide stimuli that are equal, nearly equal, or of one group.

    Nothing is scored. Empty if splits keep such stimuli together, if nothing is fitted, or if the benchmark states in
    ``ungrouped_splits`` why they may be divided. Errors as of :func:`audit`.
    """
    parts = parts_of(benchmark)
    if not parts.neural or isinstance(getattr(benchmark, "ungrouped_splits", None), str):
        return []
    fixed = len(parts.recordings) > 1
    if not fixed and _cross_validation(parts) is None:
        return []
    table, duplicates = stimulus_table(parts)
    codes = groups_of(table, duplicates)
    splits, reason = splits_of(parts, table)
    findings = []
    for overlap in find_overlaps(codes, duplicates.pair_numbers, splits, reason):
        if not overlap.across:
            continue
        coord = overlap.kind if overlap.pairs is None else "group"
        together = f"crossvalidation_kwargs=dict(group_coord={coord!r}, stratification_coord=None)"
        if fixed:
            remedy = "leave these stimuli out of the training stimuli"
        elif overlap.pairs is None:
            remedy = f"keep them together: {together}"
        else:
            remedy = f"give similar stimuli the same value of a coordinate 'group', and keep them together: {together}"
        findings.append(finding_of(overlap, remedy))
    return findings


def parts_of(benchmark: Any) -> Parts:
    """Recordings of a benchmark, or its stimuli; UserError if they are not known."""
    name = str(getattr(benchmark, "identifier", type(benchmark).__name__))
    if isinstance(benchmark, KFoldNeuralBenchmark | MultiSubjectNeuralBenchmark):
        first = parts_of(benchmark.first_part())
        return first._replace(name=name, notes=(f"only {first.name!r} was examined", *first.notes))
    measurements = measurements_of(benchmark)
    measured = measurements.averaged()
    if measurements.compares == "recordings":
        parts = [without_single_time_bin(content_of(assembly)) for assembly in measurements.parts]
        return Parts(name, benchmark, True, parts, None)
    stimuli = measured if isinstance(measured, StimulusSet) else getattr(measured, "stimulus_set", None)
    if isinstance(stimuli, StimulusSet):
        note = f"only the pictures were examined: the benchmark compares {measurements.compares}, not recordings"
        return Parts(name, benchmark, False, [], _with_files(stimuli), (note,))
    raise UserError(f"the stimuli of {name!r} are not known", remedy="audit a benchmark whose data have a stimulus set")


def _with_files(stimuli: StimulusSet) -> StimulusSet:
    """The registered stimulus set of the same name, if this one has no files."""
    if stimuli.stimulus_paths or stimuli.identifier is None or stimuli.identifier not in stimulus_set_registry:
        return stimuli
    return load_stimulus_set(stimuli.identifier)


def stimulus_table(parts: Parts) -> tuple[pd.DataFrame, Duplicates]:
    """One row a stimulus with its groups (those of the test recordings first), and its duplicates."""
    tables, paths = [], {}
    for number, recordings in enumerate(parts.recordings):
        ids = coord_values(recordings, "stimulus_id", role="recordings")
        columns = {
            name: np.asarray(recordings[name].values)
            for name in ORIGINS
            if name in recordings.coords and recordings[name].dims == ("presentation",)
        }
        table = pd.DataFrame({"stimulus_id": ids, "part": number, **columns})
        stimuli = recordings.attrs.get("stimulus_set")
        if stimuli is not None:
            of_stimulus = stimuli.drop_duplicates("stimulus_id").set_index("stimulus_id")
            for name in ORIGINS:
                if name in of_stimulus.columns and name not in table:
                    table[name] = of_stimulus[name].reindex(ids).to_numpy()
            paths.update(_with_files(stimuli).stimulus_paths)
        tables.append(table)
    if parts.stimuli is not None:
        names = ["stimulus_id", *(name for name in ORIGINS if name in parts.stimuli.columns)]
        tables.append(pd.DataFrame(parts.stimuli[names]).assign(part=0))
        paths.update(parts.stimuli.stimulus_paths)
    table = pd.concat(tables, ignore_index=True).drop_duplicates(["stimulus_id", "part"], ignore_index=True)
    distinct = table["stimulus_id"].unique().tolist()
    duplicates = find_duplicates(distinct, paths)
    row = pd.Index(distinct).get_indexer(table["stimulus_id"])
    pixels = None if duplicates.pixels is None else duplicates.pixels[row]
    of_rows = replace(duplicates, equal=duplicates.equal[row], alike=duplicates.alike[row], pixels=pixels)
    return table, of_rows


def groups_of(table: pd.DataFrame, duplicates: Duplicates) -> dict[str, Codes]:
    """Group of each stimulus, by what groups it; only what groups any."""
    of_pictures = {"equal files": duplicates.equal, "near-duplicates": duplicates.alike}
    groups = {kind: codes for kind, codes in of_pictures.items() if duplicates.pair_numbers[kind]}
    for name in ORIGINS:
        if name in table:
            codes, values = pd.factorize(table[name], use_na_sentinel=True)
            single = codes < 0
            codes[single] = len(values) + np.arange(single.sum())
            if FEWEST_GROUPS <= len(values) < (~single).sum():
                groups[name] = np.asarray(codes, dtype=np.intp)
    return groups


def grouping_of_parts(parts: Parts) -> Grouping:
    """Groups of the test stimuli of a benchmark, as its metric finds them."""
    groups = getattr(fitted_metric(parts.benchmark), "stimulus_groups", DECLARED)
    try:
        return grouping_of(parts.recordings[0], groups) if parts.recordings else Grouping()
    except KeyError:
        return Grouping()


def fitted_metric(benchmark: Any) -> Any:
    """The metric of a benchmark; None if it compares in a way of its own."""
    return measurements_of(benchmark).metric


def _cross_validation(parts: Parts) -> CrossValidation | None:
    validation = measurements_of(parts.benchmark).splits
    return validation if isinstance(validation, CrossValidation) else None


def splits_of(parts: Parts, table: pd.DataFrame) -> tuple[list[SplitRows], str | None]:
    """Splits as rows of the table; a reason if there are none."""
    if not parts.neural:
        return [], "the benchmark makes no splits of its stimuli that are known here"
    if len(parts.recordings) > 1:
        side = table["part"].to_numpy()
        return [SplitRows(np.flatnonzero(side == 1), np.flatnonzero(side == 0))], None
    validation = _cross_validation(parts)
    if validation is None:
        return [], _NOT_FITTED
    target = parts.recordings[0]
    row = pd.Index(table["stimulus_id"]).get_indexer(coord_values(target, "stimulus_id", role="recordings"))
    try:
        splits = validation.split_rows(target, target)
    except UserError as error:
        return [], error.message
    return [SplitRows(np.unique(row[split.train]), np.unique(row[split.test])) for split in splits], None


def repetitions_of(parts: Parts) -> tuple[list[DataAssembly], str | None]:
    """Single repetitions as a list of one assembly; an empty list and a reason if they are not known."""
    if not parts.neural:
        return [], None
    try:
        repeated = measurements_of(parts.benchmark).single_repetitions()
    except UserError as error:
        return [], error.message
    if "presentation" not in repeated.dims or "stimulus_id" not in repeated.coords:
        return [], "they are not presentations"
    return [without_single_time_bin(repeated)], None


@dataclass(frozen=True)
class SerialTest:
    """A permutation test of responses over the order of presentations."""

    kind: str  # 'autocorrelation' or 'drift'; correlation of successive responses; trend over the order
    recordings: str  # 'averaged' or 'repetitions'
    order: str  # coordinate with the order
    within: str  # coordinate within whose values responses were permuted; empty if it was all of them
    # Mean correlation of successive responses, or root mean square over neuroids of the correlation with the order
    value: float
    # p and p_corrected: one-sided p-value, and the same by Holm's method over all tests of the audit
    p: float
    p_corrected: float
    presentations: int

    @property
    def found(self) -> bool:
        """Whether the corrected p-value is at most 0.05."""
        return self.p_corrected <= _LEVEL


class Order(NamedTuple):
    """When the stimuli of the table were presented."""

    ids: NDArray[Any]
    place: Codes
    sequence: Codes


def find_dependence(parts: Parts, seed: int) -> tuple[tuple[SerialTest, ...], Order | None, list[str]]:
    """Tests of averaged responses within categories, and of repetitions within stimuli."""
    tests: list[SerialTest] = []
    order = None
    candidates = [("averaged", parts.recordings[:1]), ("repetitions", repetitions_of(parts)[0])]
    for kind, recordings in candidates:
        for assembly in recordings:
            coord = next((name for name in ORDERS if is_order(assembly, name)), None)
            if coord is None:
                continue
            ids = coord_values(assembly, "stimulus_id", role="recordings")
            time = numbers_of(assembly[coord].values)
            sequence = _crossed(assembly, SEQUENCES)
            if kind == "averaged":
                within, strata = _categories(assembly)
                position = np.empty(len(ids), dtype=np.intp)
                position[np.lexsort((time, sequence))] = np.arange(len(ids))
                order = Order(ids, position, sequence)
            else:
                within, strata = "stimulus_id", pd.factorize(pd.Series(ids))[0]
            values = serial_tests(responses_of(assembly), time, strata=strata, sequence=sequence, seed=seed)
            tests += [
                SerialTest(name, kind, coord, within, value, p, math.nan, len(ids))
                for name, (value, p) in zip(("autocorrelation", "drift"), values, strict=True)
                if not math.isnan(p)
            ]
    notes = [] if tests or not parts.neural else ["dependence over time was not tested: no coordinate tells the order"]
    adjusted = zip(tests, corrected([test.p for test in tests]), strict=True)
    return tuple(replace(test, p_corrected=float(p)) for test, p in adjusted), order, notes


def _crossed(assembly: DataAssembly, names: Sequence[str]) -> Codes:
    """Number of the combination of values of these coordinates, for each presentation."""
    columns = {
        name: np.asarray(assembly[name].values)
        for name in names
        if name in assembly.coords and assembly[name].dims == ("presentation",)
    }
    if not columns:
        return np.zeros(assembly.sizes["presentation"], dtype=np.intp)
    return np.asarray(pd.DataFrame(columns).groupby(list(columns), dropna=False).ngroup(), dtype=np.intp)


def _categories(assembly: DataAssembly) -> tuple[str, Codes]:
    """The finest coordinate of categories most of whose values have at least four presentations."""
    best, name = np.zeros(assembly.sizes["presentation"], dtype=np.intp), ""
    for candidate in CATEGORIES:
        if candidate not in assembly.coords or candidate in SEQUENCES or assembly[candidate].dims != ("presentation",):
            continue
        codes = np.asarray(pd.factorize(pd.Series(assembly[candidate].values), use_na_sentinel=False)[0], dtype=np.intp)
        if (np.bincount(codes)[codes] >= 4).mean() >= 0.8 and codes.max() > best.max():
            best, name = codes, candidate
    return name, best


def responses_of(assembly: DataAssembly) -> Array:
    """Responses, presentations × neuroids; time bins count as neuroids."""
    values = np.asarray(assembly.transpose("presentation", ...).values, dtype=np.float64)
    return values.reshape(len(values), -1)
