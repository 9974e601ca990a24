"""The experiment: subjects, stimuli, task."""

import inspect
from typing import Any, Final

import numpy as np
import pandas as pd

from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.metric_helpers.alignment import listed
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel

BASELINE_CONDITION: Final = "vernier_only"
CONDITIONS: Final = ("short2", "short4", "short6", "short8", "short16", "equal2", "long2", "equal16", "long16")
"""Length of the flankers relative to the vernier, and how many there are."""

THRESHOLD_ACCURACY: Final = 0.75
VISUAL_DEGREES: Final = 2.986667
NUMBER_OF_TRIALS: Final = 10
"""Of each test stimulus; with a model's microsaccades they make its accuracy finer."""

FITTING_TRIALS: Final = 2
"""Of each stimulus that the task is learned from."""

_LABELS, _OFFSET = "image_label", "vernier_offset_arcsec"
_POINTS = 3  # without as many strengths, no psychometric function can be fitted


def load_thresholds(condition: str) -> dict[str, DataAssembly]:
    """Thresholds of the subjects who took part with these flankers and without any.

    `condition`: one of :data:`CONDITIONS`. Result: ``baseline_assembly`` and ``condition_assembly``, each with
    dimension ``subject``, in arc seconds; the same subjects in the same order.
    """
    baseline, measured = (load_dataset(f"Malania2007.{name}") for name in (BASELINE_CONDITION, condition))
    took_part = [
        set(assembly["subject"].values[~np.isnan(assembly.values)].tolist()) for assembly in (baseline, measured)
    ]
    both = [subject for subject in baseline["subject"].values.tolist() if subject in took_part[0] & took_part[1]]
    subjects = (
        f"{listed(took_part[1])} have a threshold in {condition!r}, {listed(took_part[0])} in {BASELINE_CONDITION!r}"
    )
    if not both:
        raise UserError(
            f"no subject has a threshold in both conditions: {subjects}",
            remedy=spelling_hint(took_part[1], took_part[0]) or "check the coordinate 'subject' of the two data sets",
        )
    if 2 * len(both) < min(map(len, took_part)):
        remark(f"only {len(both)} subjects have a threshold in both conditions: {subjects}")
    return {"baseline_assembly": _of(baseline, both), "condition_assembly": _of(measured, both)}


def _of(assembly: DataAssembly, subjects: list[Any]) -> DataAssembly:
    rows = pd.Index(assembly["subject"].values).get_indexer(pd.Index(subjects))
    return assembly.isel(subject=rows)


def load_test_stimuli(condition: str) -> StimulusSet:
    """Stimuli that people were tested with; offsets without their sign, as how large they are is what matters.

    `condition`: one of :data:`CONDITIONS`, or :data:`BASELINE_CONDITION`.
    """
    stimuli = load_stimulus_set(f"Malania2007.{condition}")
    stimuli[_OFFSET] = stimuli[_OFFSET].abs()
    return stimuli


def independent_variable(stimuli: StimulusSet) -> str:
    """Column with the strength of test stimuli.

    Published is ``image_label``. That can be fitted where labels are strengths; where they say left or right, the
    strength is what the experiment varied, ``vernier_offset_arcsec``.

    Examples
    --------
    >>> independent_variable(StimulusSet({"image_label": ["left", "right"], "vernier_offset_arcsec": [20.0, 20.0]}))
    'vernier_offset_arcsec'
    """
    numbers = pd.to_numeric(stimuli[_LABELS], errors="coerce")
    return _LABELS if numbers.notna().all() and numbers.nunique() >= _POINTS else _OFFSET


def start(candidate: BrainModel, condition: str) -> None:
    """Let a model learn left from right with the fitting stimuli of a condition.

    `candidate`: if its ``start_task`` supports it, the trials of each fitting stimulus are kept apart. `condition`: one
    of :data:`CONDITIONS`.
    """
    fitting = _on_screen(load_stimulus_set(f"Malania2007.{condition}_fit"), candidate)
    parameters = inspect.signature(candidate.start_task).parameters.values()
    accepted = {parameter.name for parameter in parameters}
    preferred: dict[str, Any] = {"number_of_trials": FITTING_TRIALS, "require_variance": True}
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    options = {name: value for name, value in preferred.items() if takes_any or name in accepted}
    candidate.start_task(BrainModel.Task.probabilities, fitting_stimuli=fitting, **options)


def look(candidate: BrainModel, stimuli: StimulusSet) -> DataAssembly:
    """Show test stimuli.

    `candidate`: has learned the task. `stimuli`: as they were shown to people. Result: presentation × choice:
    probabilities, one row a trial.
    """
    return candidate.look_at(_on_screen(stimuli, candidate), number_of_trials=NUMBER_OF_TRIALS, require_variance=True)


def _on_screen(stimuli: StimulusSet, candidate: BrainModel) -> StimulusSet:
    return place_on_screen(
        stimuli, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=VISUAL_DEGREES
    )
