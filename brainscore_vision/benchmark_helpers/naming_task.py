"""The task of the experiments: name each image with one of sixteen categories."""

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.measurements import rows_with
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel


class Answers(NamedTuple):
    """What a model was shown, and how it named that."""

    labels: BehavioralAssembly
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
    the model's angle is. `number_of_trials`: how often each is shown. Result: the model's labels, and what it was
    shown.
    """
    choices = sorted({str(truth) for truth in assembly["truth"].values})
    candidate.start_task(BrainModel.Task.label, choices)
    stimuli = assembly.attrs["stimulus_set"]
    by_name = isinstance(candidate, RecordedDecisions | PrecomputedFeatures)
    if by_name or getattr(candidate, "looks_at_files", True) is False:  # the latter of one in another process
        return _answers(candidate, stimuli, number_of_trials)
    at_hand = load_stimuli()
    shown = at_hand.iloc[rows_with(at_hand, "stimulus_id", stimuli["stimulus_id"])].reset_index(drop=True)
    if visual_degrees is not None:
        shown = place_on_screen(
            shown, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=visual_degrees
        )
    return _answers(candidate, shown, number_of_trials)


def _answers(candidate: BrainModel, shown: StimulusSet, number_of_trials: int) -> Answers:
    return Answers(cast("BehavioralAssembly", candidate.look_at(shown, number_of_trials=number_of_trials)), shown)


def only_shown(assembly: DataAssembly, shown: StimulusSet) -> DataAssembly:
    """People's trials on the stimuli that a model was shown; `assembly` itself where it was shown all.

    `shown`: what the model was shown, whether or not it answered.
    """
    chosen = np.isin(assembly["stimulus_id"].values.astype(str), shown["stimulus_id"].to_numpy().astype(str))
    return assembly if chosen.all() else assembly[{"presentation": chosen}]


def say_coverage(score: Score, shown: StimulusSet, assembly: DataAssembly) -> Score:
    """Write into a score on how many of the experiment's stimuli it rests."""
    total = len(assembly.attrs["stimulus_set"])
    score.attrs["stimuli_shown"], score.attrs["stimuli_of_experiment"] = len(shown), total
    if len(shown) < total:
        score.attrs["comment"] = (
            f"scored on {len(shown)} of the experiment's {total} stimuli, those that are at hand; so is the ceiling"
        )
    return score
