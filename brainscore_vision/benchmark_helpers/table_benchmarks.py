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

from brainscore_core.benchmarks import Benchmark, BenchmarkBase, bound_score, normalise
from brainscore_core.errors import UserError, nearest
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.plugins.tables import table_row
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    average_repetition,
    filter_reliable_neuroids,
    of_region,
    single_time_bin,
)
from brainscore_vision.benchmark_helpers.metadata import TABLE, BenchmarkRow
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, RSABenchmark, TrainTestNeuralBenchmark
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import load_ceiling, load_dataset, load_metric, load_stimulus_set, metric_registry
from brainscore_vision.stimuli.labels import imagenet_synsets
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
        known = name in metric_registry or (column == "ceiling" and (name in ceilings or _is_number(name)))
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


def constant_ceiling(
    value: float, *, error: float | None = None, meaning: str = "human-human", reason: str | None = None
) -> Score:
    """A ceiling that was published as a number.

    `value`: the ceiling. `error`: its published error. `meaning`: ``'human-human'``, ``'reliability'`` or ``'upper
    bound'``. `reason`: why the error is unknown, if it is.

    Examples
    --------
    >>> constant_ceiling(0.883, error=0.078).attrs["error"]
    0.078
    """
    score = Score(value)
    score.attrs["meaning"] = meaning
    if error is not None:
        reason = "the ceiling was published as a number with its error alone"
    return attach_uncertainty(
        score, error=error, reason=reason or "the ceiling was published as a number without an error"
    )


def _recordings(row: BenchmarkRow, prepare: Prepare, position: int = 0) -> LazyLoad[DataAssembly]:
    return LazyLoad(lambda: prepare(load_dataset(row.data[position]), row))


def _averaged(recordings: LazyLoad[DataAssembly]) -> Any:
    return LazyLoad(lambda: average_repetition(recordings.content))


def _ceiling_of(row: BenchmarkRow, recordings: LazyLoad[DataAssembly]) -> Callable[[], Score]:
    """The row's ceiling, from recordings with their repetitions."""
    if row.ceiling == "reliability coordinate":
        return lambda: _median_reliability(recordings.content, row.reliability)
    return lambda: load_ceiling(row.ceiling)(recordings.content)


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
        identifier=row.identifier,
        version=row.version,
        train_assembly=_averaged(train),
        test_assembly=_averaged(test),
        similarity_metric=load_metric(row.metric, **metric_options),
        ceiling_func=_ceiling_of(row, test),
        repetitions=test,
        visual_degrees=_degrees(row),
        number_of_trials=row.number_of_trials,
        alpha_coord="subject",
        parent=row.parent,
        bibtex=bibtex,
        timebins=timebins,
    )


def _cross_validated(
    row: BenchmarkRow, bibtex: str | None, prepare: Prepare, *, splitting: Mapping[str, Any] | None = None
) -> Benchmark:
    recordings = _recordings(row, prepare)
    return NeuralBenchmark(
        identifier=row.identifier,
        version=row.version,
        assembly=_averaged(recordings),
        similarity_metric=load_metric(
            row.metric, crossvalidation_kwargs={"stratification_coord": row.stratification, **(splitting or {})}
        ),
        ceiling_func=_ceiling_of(row, recordings),
        repetitions=recordings,
        visual_degrees=_degrees(row),
        number_of_trials=row.number_of_trials,
        parent=row.parent,
        bibtex=bibtex,
    )


def _rsa(row: BenchmarkRow, bibtex: str | None, prepare: Prepare) -> Benchmark:
    def joined() -> DataAssembly:
        parts = [average_repetition(_recordings(row, prepare, k).content) for k in range(len(row.data))]
        return parts[0] if len(parts) == 1 else _concatenated(parts, f"{row.data[0]}--full")

    return RSABenchmark(
        identifier=row.identifier,
        version=row.version,
        assembly=LazyLoad(joined),  # type: ignore[arg-type] # stands for one
        ceiler=load_ceiling(row.ceiling, rank=False),  # as published: dissimilarities are averaged as they are
        region=row.region,
        visual_degrees=_degrees(row),
        number_of_trials=row.number_of_trials,
        parent=row.parent,
        bibtex=bibtex,
    )


def _degrees(row: BenchmarkRow) -> float:
    if row.visual_degrees is None:
        raise UserError("it has no visual_degrees", remedy="add them to the row")
    return row.visual_degrees


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
    names = ["stimulus_id"]
    if any(not np.array_equal(part["neuroid_id"].values, first["neuroid_id"].values) for part in parts):
        raise UserError(
            f"the assemblies of {identifier!r} are of different neuroids", remedy="check their coordinate 'neuroid_id'"
        )
    sets = [part.attrs["stimulus_set"] for part in parts]
    table = pd.concat([pd.DataFrame(one) for one in sets], ignore_index=True)
    stimuli = StimulusSet(table.drop_duplicates("stimulus_id").reset_index(drop=True))
    stimuli.stimulus_paths = {name: path for one in sets for name, path in one.stimulus_paths.items()}
    stimuli.identifier = identifier
    coords: dict[str, Any] = {
        name: ("presentation", np.concatenate([part[name].values for part in parts])) for name in names
    }
    coords |= {
        str(name): ("neuroid", first[name].values) for name in first.coords if first[name].dims == ("neuroid",)
    } | {str(name): first[name].item() for name in first.coords if not first[name].dims}
    coords.pop("neuroid", None)
    values = np.concatenate([part.transpose("presentation", "neuroid").values for part in parts])
    joined = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
    joined.attrs = {
        "identifier": identifier,
        "stimulus_set": stimuli,
        "stimulus_set_identifier": identifier,
    }
    return joined


class ChoiceBenchmark(BenchmarkBase):
    """A model chooses a category for each stimulus, and is compared with people, or with the truth.

    `row`: with the kind ``'label'`` (the model names stimuli with the categories in the column `truth`, or with
    ImageNet's classes) or ``'probabilities'`` (it learns the categories from ``fitting_stimuli``). `bibtex`: citation.
    `truth`: column of the stimulus set with the right category. It is hidden from the model for ImageNet's classes.
    `choices`: categories to choose from; by default all values of `truth`. `as_choices`: whether the metric compares
    choices; otherwise it takes probabilities. `translate`: function of the model's answers and the people's that
    returns what the metric takes instead of the former.

    Notes
    -----
    The metrics ``accuracy`` compares with the truth, all others with the people of the assembly. A ceiling that is a
    number divides the raw score.
    """

    def __init__(
        self,
        row: BenchmarkRow,
        bibtex: str | None = None,
        *,
        truth: str = "truth",
        choices: Sequence[str] | str | None = None,
        as_choices: bool = True,
        translate: Callable[[DataAssembly, DataAssembly], DataAssembly] | None = None,
    ) -> None:
        self._row = row
        self._truth = truth
        self._choices = choices
        self._as_choices = as_choices
        self._translate = translate
        self._metric: Any = LazyLoad(lambda: load_metric(row.metric))
        self._people: LazyLoad[DataAssembly] = LazyLoad(lambda: load_dataset(row.data[0]))
        super().__init__(
            identifier=row.identifier,
            version=row.version,
            ceiling_func=self._estimate_ceiling,
            parent=row.parent,
            bibtex=bibtex,
        )

    def measurements(self) -> VisualMeasurements:
        """Choices of people; without data, the right ones."""
        row = self._row
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._people if row.data else LazyLoad(lambda: self._right(self._stimuli())),
            compares="choices",
            metric=self._metric,
            number_of_trials=row.number_of_trials,
            visual_degrees=row.visual_degrees,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` choose.

        Result: in [0, 1]. A NotApplicable if the candidate cannot do the task.
        """
        row = self._row
        if self._choices == "imagenet":
            candidate.start_task(BrainModel.Task.label, "imagenet")
        stimuli = self._stimuli()
        target = self._right(stimuli) if row.metric == "accuracy" else self._people.content
        if row.kind == "probabilities":
            fitting = load_stimulus_set(row.fitting_stimuli)
            candidate.start_task(BrainModel.Task.probabilities, self._shown(fitting, candidate))
        elif self._choices != "imagenet":
            candidate.start_task(BrainModel.Task.label, sorted({str(one) for one in stimuli[self._truth]}))
        shown = self._shown(stimuli, candidate)
        answers: DataAssembly = candidate.look_at(shown, number_of_trials=row.number_of_trials)
        if row.kind == "probabilities" and self._as_choices:
            answers = most_probable(answers)
        if self._translate is not None:
            answers = self._translate(answers, target)
        return bound_score(normalise(self._metric(answers, target), self.ceiling))

    def _stimuli(self) -> StimulusSet:
        people = self._people.content if self._row.data else None  # missing data are noticed before the model looks
        if self._row.stimuli:
            return load_stimulus_set(self._row.stimuli)
        if people is None:
            raise UserError(f"{self.identifier!r} has neither data nor stimuli", remedy=f"name them in {TABLE}")
        stimuli: StimulusSet = people.attrs["stimulus_set"]
        return stimuli

    def _shown(self, stimuli: StimulusSet, candidate: BrainModel) -> StimulusSet:
        if self._choices == "imagenet":
            hidden = stimuli.drop(columns=self._truth)
            hidden.stimulus_paths, hidden.identifier = stimuli.stimulus_paths, stimuli.identifier
            stimuli = hidden
        if self._row.visual_degrees is None:
            return stimuli
        return place_on_screen(
            stimuli,
            target_visual_degrees=candidate.visual_degrees(),
            source_visual_degrees=self._row.visual_degrees,
        )

    def _right(self, stimuli: StimulusSet) -> BehavioralAssembly:
        return BehavioralAssembly(
            stimuli[self._truth].to_numpy().astype(str),
            coords={"stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy())},
            dims=["presentation"],
            attrs={ATTRIBUTE: "truth"} | ({"choices": imagenet_synsets()} if self._choices == "imagenet" else {}),
        )

    def _estimate_ceiling(self) -> Score:
        if self._row.metric == "accuracy":
            ceiling: Score = self._metric.ceiling()
            return ceiling
        if _is_number(self._row.ceiling):
            return constant_ceiling(float(self._row.ceiling))
        of_people: Score = self._metric.ceiling(self._people.content)
        return of_people


def most_probable(probabilities: DataAssembly) -> BehavioralAssembly:
    """The most probable choice for each stimulus.

    `probabilities`: as a model returns them for the task ``probabilities``. Result: with the presentation's
    coordinates.

    Examples
    --------
    >>> most_probable(BehavioralAssembly([[0.2, 0.8]], dims=["presentation", "choice"], coords={
    ...     "stimulus_id": ("presentation", ["a"]), "choice": ("choice", ["cat", "dog"])})).values.tolist()
    ['dog']
    """
    table = probabilities.transpose("presentation", "choice")
    chosen = np.asarray(table["choice"].values)[np.asarray(table.values).argmax(axis=1)]
    coords = {
        str(name): ("presentation", table[name].values)
        for name in table.coords
        if table[name].dims == ("presentation",) and name != "presentation"
    }
    return BehavioralAssembly(chosen, coords=coords, dims=["presentation"])


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _choice(row: BenchmarkRow, bibtex: str | None, prepare: Prepare, **options: Any) -> Benchmark:
    return ChoiceBenchmark(row, bibtex, **options)


_KINDS: dict[str, Callable[..., Benchmark]] = {
    "train-test": _train_test,
    "cross-validated": _cross_validated,
    "rsa": _rsa,
    "label": _choice,
    "probabilities": _choice,
}
