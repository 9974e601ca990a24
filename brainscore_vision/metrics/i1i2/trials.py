"""Trials of a choice between two objects, as codes."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import spelling_hint
from brainscore_core.metric_helpers.alignment import (
    PUBLISHED_ORDER,
    MetricInputError,
    as_table,
    coord_values,
    listed,
)
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

SUBJECT = "subject"
"""Coordinate of the subjects that may be missing."""

_ALIASES = {"sample_obj": "sample_object", "dist_obj": "distractor_object"}


class Trials(NamedTuple):
    """Names of stimuli and objects, and what happened in each trial.

    Trials are sorted by the coordinate ``published_order``, if there is one, otherwise by stimulus, objects and choice,
    so that random halves do not depend on the order in which they are given.
    """

    stimuli: NDArray[Any]
    objects: NDArray[Any]
    truth: NDArray[np.intp]
    """Code of each stimulus' object."""
    stimulus: NDArray[np.intp]
    """Code of each trial's stimulus; so the next two."""
    chosen: NDArray[np.intp]
    distractor: NDArray[np.intp]
    subject: NDArray[np.intp] | None = None
    """Code of each trial's subject, if known; so the names."""
    subjects: NDArray[Any] | None = None


def trials_of(target: DataAssembly, subject_coord: str | None = None) -> Trials:
    """Read the trials of a two-alternative task; see :class:`brainscore_vision.metrics.i1i2.metric.I2n`."""
    target = as_table(target, ("presentation",), role="target")
    columns = {"stimulus_id": coord_values(target, "stimulus_id", role="target")}
    for name, alias in _ALIASES.items():
        present = alias if alias in target.coords and name not in target.coords else name
        columns[name] = coord_values(target, present, role="target")
    columns["choice"] = np.asarray(target.values)
    if target.sizes["presentation"] < 2:
        raise MetricInputError(
            f"the target has {target.sizes['presentation']} trials; two halves are needed",
            remedy="check the selection before it",
        )
    for name, values in columns.items():
        missing = pd.isna(values)
        if missing.any():
            raise MetricInputError(
                f"{name!r} is missing in {int(missing.sum())} trials of the target, first in trial "
                f"{int(missing.argmax())}",
                remedy="drop these trials",
            )
    stimulus, stimuli = pd.factorize(columns["stimulus_id"], sort=True)
    codes, objects = pd.factorize(np.concatenate([columns["sample_obj"], columns["dist_obj"]]), sort=True)
    sample, distractor = np.split(np.asarray(codes, dtype=np.intp), 2)
    _refuse(sample == distractor, columns, "offer the same object twice", "correct 'sample_obj' and 'dist_obj'")
    wrong = np.where(columns["choice"] == columns["dist_obj"], distractor, -1)
    chosen = np.where(columns["choice"] == columns["sample_obj"], sample, wrong)
    hint = spelling_hint(columns["choice"][chosen < 0], objects)
    _refuse(chosen < 0, columns, "chose neither of the two objects offered", hint or "drop trials without an answer")
    truth = np.empty(len(stimuli), dtype=np.intp)
    truth[stimulus] = sample
    several = "show a stimulus that has another 'sample_obj' in other trials"
    _refuse(truth[stimulus] != sample, columns, several, "give each stimulus one object")
    if "truth" in target.coords:
        differing = coord_values(target, "truth", role="target") != columns["sample_obj"]
        _refuse(differing, columns, "have a 'truth' other than 'sample_obj'", "make the two agree, or drop 'truth'")
    trials = Trials(
        np.asarray(stimuli), np.asarray(objects), truth, np.asarray(stimulus, dtype=np.intp), chosen, distractor
    )
    if subject_coord is None or (subject_coord == SUBJECT and SUBJECT not in target.coords):
        return _sorted(trials, target)
    subject, subjects = pd.factorize(coord_values(target, subject_coord, role="target"), sort=True)
    if (subject < 0).any():
        raise MetricInputError(
            f"{subject_coord!r} is missing in {int((subject < 0).sum())} trials of the target",
            remedy="drop these trials, or pass subject_coord=None",
        )
    trials = trials._replace(subject=np.asarray(subject, dtype=np.intp), subjects=np.asarray(subjects))
    return _sorted(trials, target)


def _sorted(trials: Trials, target: DataAssembly) -> Trials:
    keys = [trials.chosen, trials.distractor, trials.stimulus]
    if trials.subject is not None:
        keys.insert(0, trials.subject)
    if PUBLISHED_ORDER in target.coords:
        keys.append(coord_values(target, PUBLISHED_ORDER, role="target"))
    order = np.lexsort(keys)  # by the last key first
    return trials._replace(
        stimulus=trials.stimulus[order],
        chosen=trials.chosen[order],
        distractor=trials.distractor[order],
        subject=None if trials.subject is None else trials.subject[order],
    )


def probabilities(source: DataAssembly, trials: Trials) -> NDArray[np.float64]:
    """The model's probabilities as stimuli × objects in the order of `trials`."""
    source = as_table(source, ("presentation", "choice"), role="source")
    values = np.asarray(source.values)
    stimuli = pd.Index(coord_values(source, "stimulus_id", role="source"))
    choices = pd.Index(coord_values(source, "choice", role="source", dim="choice"))
    for index, name in ((stimuli, "stimulus_id"), (choices, "choice")):
        if not index.is_unique:
            raise MetricInputError(
                f"{listed(index[index.duplicated()].unique())} of {name!r} occurs more than once in the source",
                remedy="average the probabilities over trials first",
            )
    positions = []
    for index, needed, name in ((stimuli, trials.stimuli, "stimuli"), (choices, trials.objects, "choices")):
        position = index.get_indexer(pd.Index(needed))
        if (position < 0).any():
            missing = needed[position < 0]
            raise MetricInputError(
                f"the source lacks {len(missing)} {name} of the target, such as {listed(missing)}; it has "
                f"{listed(index)}",
                remedy=spelling_hint(missing, index)
                or "show the model the target's stimuli, and fit its choices on stimuli with the target's objects",
            )
        positions.append(position)
    if values.dtype.kind not in "fiub":
        raise MetricInputError(
            f"the source holds values of type {values.dtype}; probabilities are needed",
            remedy="start the model's task 'probabilities'",
        )
    values = np.asarray(values[np.ix_(*positions)], dtype=np.float64)
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise MetricInputError(
            f"the source holds {int(bad.sum())} negative, missing or infinite probabilities, the first for stimulus "
            f"{listed([trials.stimuli[bad.any(axis=1).argmax()]])}",
            remedy="pass probabilities (after a softmax), not scores",
        )
    return values


def _refuse(wrong: NDArray[np.bool_], columns: dict[str, NDArray[Any]], problem: str, remedy: str) -> None:
    if wrong.any():
        first = int(wrong.argmax())
        shown = ", ".join(f"{name} {listed([values[first]])}" for name, values in columns.items())
        raise MetricInputError(f"{int(wrong.sum())} trials of the target {problem}, first {shown}", remedy=remedy)
