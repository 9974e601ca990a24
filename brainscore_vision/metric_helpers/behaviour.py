"""Helpers for metrics of choices."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import respelled, spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_core.metric_helpers.uncertainty import Units, unit_ids, units_of_stimuli
from brainscore_core.metrics import Score
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

_NO_ANSWER: Final = ("", "na", "n/a", "nan", "none")
"""Texts that stand for a missing answer, unless they are labels."""

_REMEDY: Final = "name the labels alike on both sides"
_UNLIKELY: Final = 0.001
"""With a smaller probability, it is not a coincidence that all answers are wrong."""
_FEW_ANSWERS: Final = 10
_FEW_LABELS: Final = 3
"""With fewer answers, or fewer labels on one side, different labels may be a coincidence."""


class Choices(NamedTuple):
    """Choices of one or several observers, one per trial."""

    values: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    """The requested coordinates."""

    def codes(self, name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Code of each trial's value of a coordinate, and the values, sorted."""
        codes, values = pd.factorize(self.columns[name], sort=True)
        return np.asarray(codes, dtype=np.intp), np.asarray(values)


def choices_of(assembly: DataAssembly, *coords: str, role: str) -> Choices:
    """Choices and the coordinates named.

    Raises
    ------
    MetricInputError
        If there are none, or a coordinate is missing or has missing values.
    """
    assembly = as_table(assembly, ("presentation",), role=role)
    if assembly.sizes["presentation"] == 0:
        raise MetricInputError(f"the {role} has no trials", remedy="check the selection before it")
    columns = {name: coord_values(assembly, name, role=role) for name in coords}
    for name, values in columns.items():
        if pd.isna(values).any():
            raise MetricInputError(
                f"coordinate {name!r} of the {role} has missing values", remedy="fill them in, or drop these trials"
            )
    return Choices(np.asarray(assembly.values), columns)


def matched_choices(source: DataAssembly, stimuli: NDArray[Any]) -> NDArray[Any]:
    """The source's choice for each of `stimuli`.

    Raises
    ------
    MetricInputError
        If the source has several choices for a stimulus, or none.
    """
    source = as_table(source, ("presentation",), role="source")
    index = pd.Index(coord_values(source, "stimulus_id", role="source"))
    if not index.is_unique:
        raise MetricInputError(
            f"the source has several choices for {listed(index[index.duplicated()][:1])}",
            remedy="keep one choice per stimulus: average the probabilities over trials before choosing",
        )
    rows = index.get_indexer(pd.Index(stimuli))
    if (rows < 0).any():
        missing = pd.unique(pd.Series(stimuli[rows < 0]))
        raise MetricInputError(
            f"the source has no choice for {len(missing)} stimuli of the target, such as {listed(missing)}; it has "
            f"choices for {listed(index)}",
            remedy=spelling_hint(missing, index)
            or "show the model the target's stimuli; stimuli are matched by 'stimulus_id'",
        )
    return np.asarray(source.values)[rows]


class RightChoices(NamedTuple):
    """Whether choices are right."""

    correct: NDArray[np.bool_]
    """A missing choice is wrong."""
    others: list[Any]
    """Choices that are not a right label, nor one in another spelling."""
    remark: str
    """Warning of :func:`check_labels`, or ``''``."""


def right_choices(
    chosen: ArrayLike,
    truth: ArrayLike,
    *,
    role: str = "source",
    others: Iterable[Any] = (),
    offered: Iterable[Any] = (),
    stimuli: ArrayLike | None = None,
) -> RightChoices:
    """Compare choices with the right ones, after :func:`check_labels`.

    If all are labels, but so many are wrong that guesses would not be, this is a warning, too.

    Several right answers to one of the `stimuli` are a warning. A MetricInputError as of :func:`check_labels`, or if
    right answers are missing.

    Examples
    --------
    >>> right_choices(["cat", None, "dog"], ["cat", "cat", "cat"], others=["dog"]).correct
    array([ True, False, False])
    """
    answers, labels = (np.asarray(side, dtype=object) for side in (chosen, truth))
    if (unknown := pd.isna(labels)).any():
        raise MetricInputError(
            f"the right answer is missing in {unknown.sum()} trials, first in trial {unknown.argmax()}",
            remedy="fill them in, or drop these trials",
        )
    warning = check_labels(answers, labels, role=role, others=others, offered=offered)
    answered = ~pd.isna(answers)
    correct = np.zeros(answers.shape, dtype=np.bool_)
    correct[answered] = answers[answered] == labels[answered]
    label_counts, chosen_labels = _counts(labels), _counts(answers)
    by_chance = 1 / max(1, len({*label_counts, *others, *offered}))
    if not warning and not correct.any() and (1 - by_chance) ** answered.sum() < _UNLIKELY:
        example = f"{listed(answers[answered][:1])} where {listed(labels[answered][:1])} is right"
        warning = remark(f"no answer of the {role} is right, such as {example}; check that labels are not shifted")
    if stimuli is not None:
        pairs = pd.DataFrame({"stimulus": np.asarray(stimuli), "label": labels}).drop_duplicates()
        if len(several := pairs["stimulus"][pairs["stimulus"].duplicated()].unique()):
            text = remark(f"{len(several)} stimuli of the {role} have several right answers, such as {listed(several)}")
            warning = "; ".join(filter(None, [warning, text]))
    other_spellings = respelled(chosen_labels, label_counts)
    new = [label for label in chosen_labels if label not in label_counts and label not in other_spellings]
    return RightChoices(correct, new, warning)


def check_labels(
    answers: ArrayLike,
    labels: ArrayLike,
    *,
    role: str = "source",
    others: Iterable[Any] = (),
    offered: Iterable[Any] = (),
) -> str:
    """Check that answers are labels, and not the same labels in another spelling, or numbers in place of names.

    Missing answers (None, NaN, ``'na'``) are not compared. With fewer than ten answers, or fewer than three different
    ones on one side, other labels may be a coincidence, such as a model that is wrong throughout: this is a warning,
    if spelling does not explain it.

    `others` are further labels that are not mistakes, such as people's answers; `offered` all labels that the answers
    were chosen from, if these are known: if none of them is among `labels`, this is not a coincidence. Returns the
    warning, or ``''``; it is also issued, and noted in the receipt. A MetricInputError, which shows both, if no answer
    is a label.

    Examples
    --------
    >>> check_labels(["cat", "dog", "cat"], ["cat", "dog"])
    ''
    >>> check_labels(["CAT", "DOG"], ["cat", "dog"])
    Traceback (most recent call last):
        ...
    brainscore_core.metric_helpers.alignment.MetricInputError: no answer of the source is among the labels: its \
answers are 'CAT', 'DOG', the labels are 'cat', 'dog'
    'CAT' and 'cat' differ in capitals; name the labels alike on both sides
    """
    answer_counts, label_counts = _counts(answers), _counts(labels)
    further, choices = set(others), set(offered)
    for answer in list(answer_counts):
        if str(answer).strip().casefold() in _NO_ANSWER and answer not in label_counts:
            del answer_counts[answer]
    if not answer_counts:
        return remark(f"the {role} has no answer: all are missing and count as wrong")
    total = sum(answer_counts.values())
    valid = sum(count for answer, count in answer_counts.items() if answer in label_counts or answer in further)
    differing = [answer for answer in answer_counts if answer not in label_counts and answer not in further]
    hint = spelling_hint(differing, label_counts)
    if not valid:
        message = f"no answer of the {role} is among the labels: its answers are {listed(answer_counts)}, "
        message += f"the labels are {listed(label_counts)}"
        many = total >= _FEW_ANSWERS and min(len(answer_counts), len({*label_counts, *further})) >= _FEW_LABELS
        if hint or many or (choices and choices.isdisjoint(label_counts)):
            raise MetricInputError(message, remedy=f"{hint}; {_REMEDY}" if hint else _REMEDY)
        return remark(message)
    if others_spelled := respelled(differing, label_counts):
        count = sum(answer_counts[answer] for answer in others_spelled)
        return remark(
            f"{count} of {total} answers of the {role} count as wrong, as labels are spelled otherwise: {hint}"
        )
    if 2 * valid < total:
        return remark(
            f"{total - valid} of {total} answers of the {role} are not among the labels, such as {listed(differing)}; "
            f"the labels are {listed(label_counts)}"
        )
    return ""


def attach_remarks(score: Score, *remarks: str) -> Score:
    """Set ``attrs['comment']`` of a score to the remarks that are not empty."""
    if comment := "; ".join(filter(None, dict.fromkeys(remarks))):
        score.attrs["comment"] = comment
    return score


def _counts(labels: ArrayLike) -> dict[Any, int]:
    """How often each label occurs; missing ones are left out."""
    return dict(pd.Series(np.ravel(np.asarray(labels, dtype=object))).value_counts(sort=False))


class Images(NamedTuple):
    """Images, or groups of images, that vary from one experiment to the next."""

    units: Units  # of the images
    codes: NDArray[np.intp]  # unit of each trial
    name: str  # ``'stimuli'``, or the coordinate of the groups
    ids: NDArray[Any]  # units: which units these are


def images_of(assembly: xr.DataArray, groups: str | None = DECLARED) -> Images:
    """Find which units of images vary, from trials with ``stimulus_id``; several may show the same image.

    Without `groups` (:func:`~brainscore_core.metric_helpers.uncertainty.units_of_stimuli`), only coordinates that are
    the same in all trials of an image can group images. A MetricInputError if the named coordinate is missing.
    """
    assembly = as_table(assembly, ("presentation",), role="target")
    stimulus, names = pd.factorize(coord_values(assembly, "stimulus_id", role="target"), sort=True)
    first = np.empty(len(names), dtype=np.intp)
    first[stimulus[::-1]] = np.arange(len(stimulus))[::-1]
    coords = {}
    for name, coord in coords_for_dim(assembly, "presentation").items():
        values = np.asarray(coord.values)
        if name == groups or len(first) == len(values) or np.array_equal(values, values[first][stimulus]):
            coords[str(name)] = ("presentation", values[first])
    images = xr.DataArray(names, coords=coords, dims=["presentation"], attrs=assembly.attrs)
    units = units_of_stimuli(images, groups)
    units = units._replace(
        plural=units.plural.replace("stimuli", "images"), details=units.details.replace("stimuli", "images")
    )
    return Images(
        units, units.codes[stimulus], str(units.group) if units.grouped else "stimuli", unit_ids(units, names)
    )
