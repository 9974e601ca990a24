"""Experiments in which models name stimuli, or learn categories, and are compared with people or with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_core.errors import UserError
from brainscore_core.lazy import LazyLoad
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, choices_of, rows_with
from brainscore_vision.benchmark_helpers.metadata import TABLE, BenchmarkRow
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.stimuli.labels import imagenet_synsets


def on_screen(stimuli: StimulusSet, candidate: BrainModel, visual_degrees: float | None) -> StimulusSet:
    """Stimuli at the visual angle of the experiment on a model's screen; as they are if it is None."""
    if visual_degrees is None:
        return stimuli
    return place_on_screen(
        stimuli, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=visual_degrees
    )


class ChoiceExperiment(BenchmarkBase):
    """An experiment whose choices of people a subclass compares with those of a model.

    `load`: returns people's choices, and is called when they are first needed. `metric`: a metric of choices;
    `ceiling_func` by default is its ceiling of people's choices. `visual_degrees` and `number_of_trials`: of the
    stimuli. `fitting_stimuli`: name of the stimulus set from which models learn categories. All others as for
    :class:`~brainscore_core.benchmarks.BenchmarkBase`.
    """

    def __init__(
        self,
        identifier: str,
        *,
        load: Callable[[], Any],
        metric: Any,
        visual_degrees: float | None,
        number_of_trials: int = 1,
        version: int = 1,
        parent: str | None = None,
        bibtex: str | None = None,
        ceiling_func: Callable[[], Score] | None = None,
        fitting_stimuli: str = "",
    ) -> None:
        self._metric = metric
        self._assembly: LazyLoad[DataAssembly] = LazyLoad(load)
        self._fitting_stimuli: LazyLoad[StimulusSet] = LazyLoad(lambda: load_stimulus_set(fitting_stimuli))
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        ceiling_func = ceiling_func or (lambda: self._metric.ceiling(self._assembly.content))
        super().__init__(
            identifier=identifier, ceiling_func=ceiling_func, version=version, parent=parent, bibtex=bibtex
        )

    def measurements(self) -> VisualMeasurements:
        """Choices of people; the comparison with them is the benchmark's own."""
        return choices_of(self, self._assembly, self._visual_degrees, self._number_of_trials)

    def _look(self, candidate: BrainModel, stimuli: StimulusSet) -> DataAssembly:
        """What a model with a task answers to stimuli."""
        shown = on_screen(stimuli, candidate, self._visual_degrees)
        return cast("DataAssembly", candidate.look_at(shown, number_of_trials=self._number_of_trials))

    def _learn(self, candidate: BrainModel) -> None:
        """Let a model learn the categories of the fitting stimuli."""
        fitting = on_screen(self._fitting_stimuli.content, candidate, self._visual_degrees)
        candidate.start_task(BrainModel.Task.probabilities, fitting)


class Answers(NamedTuple):
    """A model's names of the stimuli that it was shown, and these."""

    labels: DataAssembly
    shown: StimulusSet


def label(
    candidate: BrainModel,
    assembly: DataAssembly,
    *,
    load_stimuli: Callable[[], StimulusSet],
    visual_degrees: float | None,
    number_of_trials: int,
) -> Answers:
    """Let a model name the stimuli of an experiment.

    `candidate`: is asked to label first, and only then are stimuli fetched. Recorded decisions are asked about all
    stimuli of the experiment, whether or not their files are at hand: they go by ``stimulus_id``. `assembly`: people's
    trials, with ``truth`` and their ``stimulus_set``. `load_stimuli`: returns the stimuli with their files, as many as
    there are. `visual_degrees`: visual angle of the stimuli in the experiment; None shows them as they are, whatever
    the model's angle is. `number_of_trials`: how often each is shown.
    """
    candidate.start_task(BrainModel.Task.label, sorted({str(truth) for truth in assembly["truth"].values}))
    shown = assembly.attrs["stimulus_set"]
    by_name = isinstance(candidate, RecordedDecisions | PrecomputedFeatures)
    if not by_name and getattr(candidate, "looks_at_files", True) is not False:  # of one in another process
        at_hand = load_stimuli()
        shown = at_hand.iloc[rows_with(at_hand, "stimulus_id", shown["stimulus_id"])].reset_index(drop=True)
        shown = on_screen(shown, candidate, visual_degrees)
    return Answers(cast("DataAssembly", candidate.look_at(shown, number_of_trials=number_of_trials)), shown)


def note_coverage(score: Score, shown: StimulusSet, assembly: DataAssembly) -> Score:
    """Write into a score on how many of the experiment's stimuli it rests."""
    total = len(assembly.attrs["stimulus_set"])
    score.attrs["stimuli_shown"], score.attrs["stimuli_of_experiment"] = len(shown), total
    if len(shown) < total:
        score.attrs["comment"] = (
            f"scored on {len(shown)} of the experiment's {total} stimuli, those that are at hand; so is the ceiling"
        )
    return score


def truth_of(stimuli: StimulusSet, column: str, *, choices: Iterable[str] | None = None) -> BehavioralAssembly:
    """The right choices, in a column of stimuli; `choices`: all that models choose from, if not all are right once."""
    return BehavioralAssembly(
        stimuli[column].to_numpy().astype(str),
        coords={"stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy())},
        dims=["presentation"],
        attrs={ATTRIBUTE: "truth", "stimulus_set": stimuli} | ({} if choices is None else {"choices": choices}),
    )


class NamingBenchmark(ChoiceExperiment):
    """A model names the stimuli of an experiment whose files are at hand, and is compared with people on these.

    `load_stimuli` returns the stimuli with their files; all others as for :class:`ChoiceExperiment`.
    """

    def __init__(self, identifier: str, *, load_stimuli: Callable[[], StimulusSet], **experiment: Any) -> None:
        self._load_stimuli = load_stimuli
        super().__init__(identifier, **experiment)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the stimuli.

        Result: in [0, 1], with the numbers of stimuli in ``attrs``. A NotApplicable if `candidate` does not label.
        """
        assembly = self._assembly.content
        labels, shown = self._labels(candidate, self._visual_degrees)
        chosen = np.isin(assembly["stimulus_id"].values.astype(str), shown["stimulus_id"].to_numpy().astype(str))
        people = assembly if chosen.all() else assembly[{"presentation": chosen}]
        raw = self._metric(labels, people)
        ceiling = self.ceiling if chosen.all() else self._metric.ceiling(people)
        return note_coverage(bound_score(normalise(raw, ceiling)), shown, assembly)

    def _labels(self, candidate: BrainModel, visual_degrees: float | None) -> Answers:
        return label(
            candidate,
            self._assembly.content,
            load_stimuli=self._load_stimuli,
            visual_degrees=visual_degrees,
            number_of_trials=self._number_of_trials,
        )


class ChoiceBenchmark(ChoiceExperiment):
    """A model chooses a category for each stimulus, and is compared with people, or with the truth.

    `row`: with the kind ``'label'`` (the model names stimuli with the categories in the column `truth`, or with
    ImageNet's classes) or ``'probabilities'`` (it learns the categories from ``fitting_stimuli``). `bibtex`: citation.
    `truth`: column of the stimulus set with the right category. It is hidden from the model for ImageNet's classes.
    `choices`: ``'imagenet'``, or None for all values of `truth`. `as_choices`: whether the metric compares choices;
    otherwise it takes probabilities. `translate`: function of the model's answers and the people's that returns what
    the metric takes instead of the former. `load_stimuli`: returns the stimuli if they are not registered.

    Notes
    -----
    The metric ``accuracy`` compares with the truth, all others with the people of the assembly. A ceiling that is a
    number divides the raw score.
    """

    def __init__(
        self,
        row: BenchmarkRow,
        bibtex: str | None = None,
        *,
        truth: str = "truth",
        choices: str | None = None,
        as_choices: bool = True,
        translate: Callable[[DataAssembly, DataAssembly], DataAssembly] | None = None,
        load_stimuli: Callable[[], StimulusSet] | None = None,
    ) -> None:
        self._row = row
        self._truth = truth
        self._imagenet = choices == "imagenet"
        self._as_choices = as_choices and row.kind == "probabilities"
        self._translate = translate
        self._stimuli: LazyLoad[StimulusSet] = LazyLoad(load_stimuli or self._registered_stimuli)
        super().__init__(
            row.identifier,
            load=lambda: load_dataset(row.data[0]) if row.data else self._right(self._stimuli.content),
            metric=LazyLoad(lambda: load_metric(row.metric)),
            visual_degrees=row.visual_degrees,
            number_of_trials=row.number_of_trials,
            version=row.version,
            parent=row.parent,
            bibtex=bibtex,
            ceiling_func=self._estimate_ceiling,
            fitting_stimuli=row.fitting_stimuli,
        )

    def measurements(self) -> VisualMeasurements:
        """Choices of people; without data, the right ones."""
        return replace(super().measurements(), metric=self._metric)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` choose.

        Result: in [0, 1]. A NotApplicable if the candidate cannot do the task.
        """
        row = self._row
        if self._imagenet:
            candidate.start_task(BrainModel.Task.label, "imagenet")
        people = self._assembly.content  # missing data are noticed before the model looks
        stimuli = self._stimuli.content
        target = self._right(stimuli) if row.metric == "accuracy" else people
        if row.kind == "probabilities":
            self._learn(candidate)
        elif not self._imagenet:
            candidate.start_task(BrainModel.Task.label, sorted({str(name) for name in stimuli[self._truth]}))
        answers = self._look(candidate, self._without_truth(stimuli) if self._imagenet else stimuli)
        if self._as_choices:
            answers = most_probable(answers)
        if self._translate is not None:
            answers = self._translate(answers, target)
        return bound_score(normalise(self._metric(answers, target), self.ceiling))

    def _registered_stimuli(self) -> StimulusSet:
        if self._row.stimuli:
            return load_stimulus_set(self._row.stimuli)
        if not self._row.data:
            raise UserError(f"{self.identifier!r} has neither data nor stimuli", remedy=f"name them in {TABLE}")
        stimuli: StimulusSet = self._assembly.content.attrs["stimulus_set"]
        return stimuli

    def _without_truth(self, stimuli: StimulusSet) -> StimulusSet:
        hidden = stimuli.drop(columns=self._truth)
        hidden.stimulus_paths, hidden.identifier = stimuli.stimulus_paths, stimuli.identifier
        return hidden

    def _right(self, stimuli: StimulusSet) -> BehavioralAssembly:
        return truth_of(stimuli, self._truth, choices=imagenet_synsets() if self._imagenet else None)

    def _estimate_ceiling(self) -> Score:
        if self._row.metric == "accuracy":
            return cast("Score", self._metric.ceiling())
        if is_number(self._row.ceiling):
            return constant_ceiling(float(self._row.ceiling))
        return cast("Score", self._metric.ceiling(self._assembly.content))


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


def is_number(text: str) -> bool:
    """Whether a cell of a table is a number."""
    return text.replace(".", "", 1).isdigit()
