"""The task of the experiments: name each image with one of sixteen categories."""

from collections.abc import Callable
from typing import cast

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel

__all__ = ["label", "only_shown", "say_coverage"]


def label(
    candidate: BrainModel,
    assembly: BehavioralAssembly,
    *,
    load_stimuli: Callable[[], StimulusSet],
    visual_degrees: float,
    number_of_trials: int,
) -> BehavioralAssembly:
    """Let a model name the stimuli of an experiment.

    Parameters
    ----------
    candidate : BrainModel
        Is asked to label first, and only then are stimuli fetched. Recorded decisions are asked about all stimuli of
        the experiment, whether or not their files are at hand: they go by ``stimulus_id``.
    assembly : BehavioralAssembly
        People's trials, with ``truth`` and their ``stimulus_set``.
    load_stimuli : callable
        Returns the stimuli with their files, as many as there are.
    visual_degrees : float
        Visual angle of the stimuli in the experiment.
    number_of_trials : int
        How often each is shown.

    Returns
    -------
    BehavioralAssembly
        The model's labels.
    """
    choices = sorted({str(truth) for truth in assembly["truth"].values})
    candidate.start_task(BrainModel.Task.label, choices)
    stimuli = assembly.attrs["stimulus_set"]
    if isinstance(candidate, RecordedDecisions | PrecomputedFeatures):
        return cast("BehavioralAssembly", candidate.look_at(stimuli, number_of_trials=number_of_trials))
    at_hand = load_stimuli()
    shown = at_hand[at_hand["stimulus_id"].isin(stimuli["stimulus_id"])].reset_index(drop=True)
    on_screen = place_on_screen(
        shown, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=visual_degrees
    )
    return cast("BehavioralAssembly", candidate.look_at(on_screen, number_of_trials=number_of_trials))


def only_shown(assembly: BehavioralAssembly, labels: BehavioralAssembly) -> BehavioralAssembly:
    """People's trials on the stimuli that the model named.

    Parameters
    ----------
    assembly : BehavioralAssembly
        People's trials.
    labels : BehavioralAssembly
        The model's labels.
    """
    shown = np.isin(assembly["stimulus_id"].values.astype(str), labels["stimulus_id"].values.astype(str))
    if shown.all():
        return assembly
    part = assembly[{"presentation": shown}]
    part.attrs = dict(assembly.attrs)
    return part


def say_coverage(score: Score, labels: BehavioralAssembly, assembly: BehavioralAssembly) -> Score:
    """Write into a score on how many of the experiment's stimuli it rests.

    Parameters
    ----------
    score : Score
        Changed in place.
    labels : BehavioralAssembly
        The model's labels.
    assembly : BehavioralAssembly
        People's trials.
    """
    shown = len(np.unique(labels["stimulus_id"].values.astype(str)))
    total = len(np.unique(assembly["stimulus_id"].values.astype(str)))
    score.attrs["stimuli_shown"], score.attrs["stimuli_of_experiment"] = shown, total
    if shown < total:
        score.attrs["comment"] = (
            f"scored on {shown} of the experiment's {total} stimuli, those that are at hand; "
            "the ceiling rests on all of them"
        )
    return score
