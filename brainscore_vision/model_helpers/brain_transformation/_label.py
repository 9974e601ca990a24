"""Naming what is on a picture, from the logits of a network that was trained on ImageNet."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation._activations import ActivationsModel, logits_width
from brainscore_vision.model_helpers.brain_transformation.labels import (
    NUMBER_OF_CLASSES,
    imagenet_synsets,
    index_lists,
)
from brainscore_vision.model_interface import BrainModel

__all__ = ["LabelBehavior", "label_probabilities"]

ChoiceLabels = str | Sequence[str] | Mapping[str, Sequence[int]]
Aggregation = Literal["mean", "max"]
LOGITS = "logits"


class LabelBehavior:
    """The label of each stimulus, from 1,000 ImageNet logits.

    ``'imagenet'``: the synset of the largest logit. A list of labels: softmax over all logits, the mean over the
    classes that each label stands for, the label with the largest (Geirhos et al. 2018 [1]_).

    Parameters
    ----------
    identifier : str
        Name of the model, for messages.
    activations_model : callable
        ``(stimuli, layers=['logits'])`` → presentation × neuroid, 1,000 of them.

    References
    ----------
    .. [1] https://doi.org/10.48550/arXiv.1808.08750
    """

    def __init__(self, identifier: str, activations_model: ActivationsModel) -> None:
        self._identifier = identifier
        self.activations_model = activations_model
        self._lists: dict[str, list[int]] | None = None
        self._aggregation: Aggregation = "mean"
        self._started = False

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def start_task(
        self,
        task: str,
        choice_labels: ChoiceLabels | None = None,
        aggregation: Aggregation = "mean",
        *,
        fitting_stimuli: ChoiceLabels | None = None,
    ) -> None:
        """Choose among these labels from now on.

        Parameters
        ----------
        task : str
            ``'label'``.
        choice_labels : 'imagenet', list of str, or dict of str to list of int
            What to choose from: synsets; labels of published lists
            (:func:`~brainscore_vision.model_helpers.brain_transformation.labels.known_labels`); or labels with the
            indices of the logits that each stands for.
        aggregation : {'mean', 'max'}
            Over the classes of a label.
        fitting_stimuli
            Another name of `choice_labels`: what :meth:`BrainModel.start_task` calls it.

        Raises
        ------
        NotApplicable
            If the model has no 1,000 logits, as far as can be told before it runs.
        UserError
            If the classes of a label are not known.
        """
        if task != BrainModel.Task.label:
            raise NotApplicable(f"{self._identifier!r}: this names stimuli, it cannot do {str(task)!r}")
        _check_width(self._identifier, logits_width(self.activations_model, LOGITS))
        labels = fitting_stimuli if choice_labels is None else choice_labels
        if labels is None:
            raise UserError("the task 'label' needs labels to choose from", remedy="pass a list of them, or 'imagenet'")
        if aggregation not in ("mean", "max"):
            raise UserError(f"aggregation is {aggregation!r}", remedy="known: 'mean', 'max'")
        self._lists = None if isinstance(labels, str) and labels == "imagenet" else index_lists(labels)
        self._aggregation, self._started = aggregation, True

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Label of each stimulus.

        Returns
        -------
        BehavioralAssembly
            presentation × choice, one choice. ``presentation`` has the columns of `stimuli` and ``label``; with
            ``'imagenet'`` also ``synset`` and ``logit`` (the index of the class).
        """
        if not self._started:
            raise UserError("no labels were given yet", remedy="call start_task('label', labels) first")
        logits = self.activations_model(
            stimuli, layers=[LOGITS], number_of_trials=number_of_trials, require_variance=require_variance
        ).transpose("presentation", "neuroid")
        _check_width(self._identifier, logits.sizes["neuroid"])
        values = logits.values
        undefined = ~np.isfinite(values).all(axis=1)
        if undefined.any():
            name = logits["stimulus_id"].values[undefined.argmax()]
            raise UserError(
                f"{self._identifier!r} gives logits that are not finite for {int(undefined.sum())} presentations, "
                f"such as of {name!r}",
                remedy="check the model's weights and preprocessing, or compute in float32",
            )
        coords: dict[str, Any] = dict(coords_for_dim(logits, "presentation"))
        if self._lists is None:
            indices = values.argmax(axis=1)
            choices = np.array(imagenet_synsets(), dtype=object)[indices]
            coords |= {"synset": ("presentation", choices), "logit": ("presentation", indices)}
        else:
            best = label_probabilities(values, list(self._lists.values()), self._aggregation).argmax(axis=1)
            choices = np.array(list(self._lists), dtype=object)[best]
        coords["label"] = ("presentation", choices)
        coords["choice"] = ("choice", [str(BrainModel.Task.label)])
        return BehavioralAssembly(choices[:, np.newaxis], coords=coords, dims=["presentation", "choice"])


def label_probabilities(
    logits: ArrayLike, lists: Sequence[Sequence[int]], aggregation: Aggregation = "mean"
) -> NDArray[np.float64]:
    """Softmax of logits, aggregated over lists of classes.

    Parameters
    ----------
    logits : array_like, stimuli × classes
        Of any size: the maximum is subtracted first.
    lists : sequence of sequences of int
        Classes of each label.
    aggregation : {'mean', 'max'}
        Over the classes of a label.

    Returns
    -------
    ndarray, stimuli × labels
        Means do not sum to 1: each class counts within its own label only.

    Examples
    --------
    >>> label_probabilities([[1000.0, 1000.0, -1000.0]], [[0], [1, 2]])
    array([[0.5 , 0.25]])
    """
    values = np.asarray(logits, dtype=np.float64)
    exponentials = np.exp(values - values.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    reduce = np.mean if aggregation == "mean" else np.max
    return np.stack([reduce(probabilities[:, list(indices)], axis=1) for indices in lists], axis=1)


def _check_width(identifier: str, width: int | None) -> None:
    if width is None or width == NUMBER_OF_CLASSES:
        return
    raise NotApplicable(
        f"{identifier!r} cannot do the task 'label': it has "
        + ("no logits to name stimuli with" if width == 0 else f"{width} logits, not the 1,000 of ImageNet")
    )
