"""Benchmarks as rows of a table: those of one kind differ only in data, metric, region, visual angle and the like.

The table is ``benchmarks.csv`` in the plugin's folder; its columns are those of
:class:`~brainscore_vision.benchmark_helpers.metadata.BenchmarkRow`. See ``docs/benchmark_plugins.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.benchmarks import Benchmark, BenchmarkBase
from brainscore_core.errors import UserError, nearest
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import table_row
from brainscore_core.supported_data_standards.brainio.assemblies import (
    DataAssembly,
    NeuroidAssembly,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling
from brainscore_vision.benchmark_helpers.choices import ChoiceBenchmark, is_number
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    average_repetition,
    filter_reliable_neuroids,
    of_region,
    single_time_bin,
)
from brainscore_vision.benchmark_helpers.metadata import TABLE, BenchmarkRow
from brainscore_vision.benchmark_helpers.neural_common import (
    RSABenchmark,
    TrainTestNeuralBenchmark,
    benchmark_of_repetitions,
)
from brainscore_vision.registries import load_ceiling, load_dataset, load_metric, metric_registry
from brainscore_vision.utils import LazyLoad

Prepare = Callable[[DataAssembly, BenchmarkRow], DataAssembly]


def make_benchmark(
    plugin_file: str,
    benchmark: str,
    *,
    bibtex: str | None,
    prepare: Prepare | None = None,
    kinds: Mapping[str, Callable[..., Benchmark]] | None = None,
    **options: Any,
) -> Benchmark:
    """Make the benchmark of a row; its data are loaded when they are first needed.

    `plugin_file`: ``__file__`` of the plugin, next to whose file the table is. `benchmark`: first column of the row.
    `bibtex`: citation. `prepare`: function of a loaded assembly and the row that returns what is compared, with
    repetitions; by default :func:`prepare_recordings`. `kinds`: kinds of the plugin's own: name → function of the row
    and the citation that makes the benchmark. `**options`: further arguments of the kind, such as the `alphas` of a
    regression. A UserError if the row names an unknown kind or ceiling, or a cell is malformed.
    """
    cells = table_row(plugin_file, TABLE, benchmark)
    try:
        row = BenchmarkRow.of(cells)
        if row.kind in (kinds or {}):
            return (kinds or {})[row.kind](row, bibtex)
        _check(row, [*_KINDS, *(kinds or {})])
        return _KINDS[row.kind](row, bibtex, prepare or prepare_recordings, **options)
    except UserError as error:
        file = Path(plugin_file).parent / TABLE
        error.message = f"row {benchmark!r} of {file}: {error.message}"
        raise  # with its type: data that cannot be fetched are not a fault of the row


class RowBenchmark(BenchmarkBase):
    """A benchmark of a plugin's own kind, which is a row of its table; by default, its ceiling is 1."""

    def __init__(self, row: BenchmarkRow, bibtex: str, ceiling_func: Callable[[], Score] | None = None) -> None:
        self._row = row
        super().__init__(row.identifier, ceiling_func or _one, row.version, row.parent, bibtex)

    def _measurements(self, measured: Any, compares: str, time_bin: tuple[int, int]) -> VisualMeasurements:
        """Measurements of the row's region in one time bin."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=measured,
            compares=compares,
            region=self._row.region,
            time_bins=(time_bin,),
            number_of_trials=self._row.number_of_trials,
            visual_degrees=self._row.visual_degrees,
        )


def _one() -> Score:
    return constant_ceiling(1, meaning="upper bound", reason="an upper bound by definition")


def _check(row: BenchmarkRow, kinds: Sequence[str]) -> None:
    """Raise an error for names that are unknown, before data are loaded."""
    if row.kind not in _KINDS:
        raise UserError(f"it has the kind {row.kind!r}", remedy=f"the kinds are {', '.join(kinds)}")
    if row.further:
        name = next(iter(row.further))
        columns = [one.name for one in fields(BenchmarkRow) if one.name != "further"]
        near = nearest(name, columns, limit=1)
        raise UserError(
            f"the kind {row.kind!r} does not use the column {name!r}",
            remedy=f"rename it to {near[0]!r}" if near else f"the columns are {', '.join(columns)}",
        )
    ceilings = ("metric", "reliability coordinate")
    named = {"metric": row.metric, "ceiling": row.ceiling}
    for column, name in named.items():
        known = name in metric_registry or (column == "ceiling" and (name in ceilings or is_number(name)))
        if not known:
            near = nearest(name, list(metric_registry), limit=3)
            raise UserError(
                f"its {column} {name!r} is not registered",
                remedy=f"did you mean {' or '.join(near)}?" if near else "see brainscore list metrics",
            )


def prepare_recordings(assembly: DataAssembly, row: BenchmarkRow) -> DataAssembly:
    """Select the row's region, its reliable neuroids and the first time bin.

    `assembly`: recordings with ``region`` on ``neuroid``. `row`: region, reliability and threshold. Result:
    presentation × neuroid.
    """
    assembly = of_region(assembly, row.region)
    if row.reliability:
        assembly = filter_reliable_neuroids(assembly, row.threshold, row.reliability)
    return first_time_bin(assembly)


def first_time_bin(assembly: DataAssembly) -> DataAssembly:
    """Select the time bin that is numbered 0 in ``time_bin_id``; without these numbers, there must be only one.

    `assembly`: recordings. Result: without the dimension ``time_bin``.

    Examples
    --------
    >>> assembly = NeuroidAssembly([[[1.0, 2.0]]], dims=["presentation", "neuroid", "time_bin"], coords={
    ...     "stimulus_id": ("presentation", ["a"]), "repetition": ("presentation", [0]),
    ...     "neuroid_id": ("neuroid", [0]), "region": ("neuroid", ["IT"]),
    ...     "time_bin_id": ("time_bin", [1, 0]), "time_bin_start": ("time_bin", [170, 70])})
    >>> first_time_bin(assembly).values.tolist()
    [[2.0]]
    """
    if "time_bin" in assembly.dims and "time_bin_id" in assembly.coords:
        attrs = dict(assembly.attrs)
        assembly = assembly.isel(time_bin=np.flatnonzero(assembly["time_bin_id"].values == 0))
        assembly.attrs = attrs
    return single_time_bin(assembly)


def _recordings(row: BenchmarkRow, prepare: Prepare, position: int = 0) -> LazyLoad[DataAssembly]:
    return LazyLoad(lambda: prepare(load_dataset(row.data[position]), row))


def _averaged(recordings: LazyLoad[DataAssembly]) -> Any:
    return LazyLoad(lambda: average_repetition(recordings.content))


def _ceiling_of(row: BenchmarkRow) -> Callable[[DataAssembly], Score]:
    """The row's ceiling, of recordings with their repetitions."""
    if row.ceiling == "reliability coordinate":
        return lambda recordings: _median_reliability(recordings, row.reliability)
    return lambda recordings: load_ceiling(row.ceiling)(recordings)


def _train_test(
    row: BenchmarkRow,
    bibtex: str | None,
    prepare: Prepare,
    *,
    timebins: Sequence[tuple[int, int]] | None = None,
    **metric_options: Any,
) -> Benchmark:
    train, test = (_recordings(row, prepare, position) for position in (0, 1))
    return TrainTestNeuralBenchmark(
        train_assembly=_averaged(train),
        test_assembly=_averaged(test),
        similarity_metric=load_metric(row.metric, **metric_options),
        ceiling_func=lambda: _ceiling_of(row)(test.content),
        repetitions=test,
        alpha_coord="subject",
        **row.about(bibtex),
        timebins=timebins,
    )


def _cross_validated(
    row: BenchmarkRow, bibtex: str | None, prepare: Prepare, *, splitting: Mapping[str, Any] | None = None
) -> Benchmark:
    splits = {"stratification_coord": row.stratification, **(splitting or {})}
    return benchmark_of_repetitions(
        lambda: prepare(load_dataset(row.data[0]), row),
        load_metric(row.metric, crossvalidation_kwargs=splits),
        _ceiling_of(row),
        **row.about(bibtex),
    )


def _rsa(row: BenchmarkRow, bibtex: str | None, prepare: Prepare) -> Benchmark:
    def joined() -> DataAssembly:
        parts = [average_repetition(_recordings(row, prepare, k).content) for k in range(len(row.data))]
        return parts[0] if len(parts) == 1 else _concatenated(parts, f"{row.data[0]}--full")

    return RSABenchmark(
        assembly=LazyLoad(joined),  # type: ignore[arg-type] # stands for one
        ceiler=load_ceiling(row.ceiling, rank=False),  # as published: dissimilarities are averaged as they are
        region=row.region,
        **row.about(bibtex),
    )


def _median_reliability(recordings: DataAssembly, coord: str) -> Score:
    """Median over neuroids of a reliability that is stored with them; error from resampled neuroids."""
    values = np.asarray(recordings[coord].values, dtype=np.float64)
    known = values[np.isfinite(values)]
    rng = np.random.RandomState(0)
    medians = [np.median(rng.choice(known, size=known.size)) for _ in range(1000)]
    score = Score(float(np.median(known)))
    ids = {"neuroid_id": ("neuroid", recordings["neuroid_id"].values)}
    low, high = np.quantile(medians, [0.025, 0.975])
    score.attrs.update(
        {
            Score.RAW_VALUES_KEY: Score(values, coords=ids, dims=["neuroid"]),
            "meaning": "reliability",
            "error": float(np.std(medians)),
            "ci": (float(low), float(high)),
            "ci_estimates": f"new neuroids; {known.size:,} neuroids; median over neuroids",
        }
    )
    return score


def _concatenated(parts: Sequence[DataAssembly], identifier: str) -> DataAssembly:
    """Presentations of several assemblies of the same neuroids, with their stimuli."""
    first = parts[0]
    if any(not np.array_equal(part["neuroid_id"].values, first["neuroid_id"].values) for part in parts):
        raise UserError(
            f"the assemblies of {identifier!r} are of different neuroids", remedy="check their coordinate 'neuroid_id'"
        )
    sets = [part.attrs["stimulus_set"] for part in parts]
    table = pd.concat([pd.DataFrame(stimuli) for stimuli in sets], ignore_index=True)
    joined_set = StimulusSet(table.drop_duplicates("stimulus_id").reset_index(drop=True))
    joined_set.stimulus_paths = {name: path for stimuli in sets for name, path in stimuli.stimulus_paths.items()}
    joined_set.identifier = identifier
    coords: dict[str, Any] = {
        "stimulus_id": ("presentation", np.concatenate([part["stimulus_id"].values for part in parts])),
        **{name: (dims, values) for name, dims, values in walk_coords(first) if dims in (("neuroid",), ())},
    }
    return NeuroidAssembly(
        np.concatenate([part.transpose("presentation", "neuroid").values for part in parts]),
        coords=coords,
        dims=["presentation", "neuroid"],
        attrs={"identifier": identifier, "stimulus_set": joined_set, "stimulus_set_identifier": identifier},
    )


def _choices(row: BenchmarkRow, bibtex: str | None, prepare: Prepare, **options: Any) -> Benchmark:
    return ChoiceBenchmark(row, bibtex, **options)


_KINDS: dict[str, Callable[..., Benchmark]] = {
    "train-test": _train_test,
    "cross-validated": _cross_validated,
    "rsa": _rsa,
    "label": _choices,
    "probabilities": _choices,
}
