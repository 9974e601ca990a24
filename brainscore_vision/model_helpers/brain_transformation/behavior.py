"""Behavior from activations: labels, probabilities, and odd-one-out choices."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.provenance import note, remark
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    NeuroidAssembly,
    coords_for_dim,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation.layers import ActivationsModel, logits_width
from brainscore_vision.model_helpers.brain_transformation.readout import (
    Aggregation,
    ChoiceLabels,
    FittedReadout,
    LogisticReadout,
    ReadoutStimuli,
    aggregated,
    require_labels,
)
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.stimuli.labels import (
    NUMBER_OF_CLASSES,
    imagenet_synsets,
    index_lists,
    plain_label,
)

__all__ = [
    "BehaviorArbiter",
    "LabelBehavior",
    "LogitsBehavior",
    "OddOneOut",
    "ProbabilitiesMapping",
    "ReadoutStimuli",
    "Similarity",
    "label_probabilities",
    "odd_one_out",
]

LOGITS = "logits"
_logger = logging.getLogger(__name__)


class _TaskOnLayers:
    """Performs one task with the activations of some layers."""

    task: ClassVar[str]

    def __init__(self, identifier: str, activations_model: ActivationsModel, layer: str | Sequence[str] = ()) -> None:
        self._identifier = identifier
        self.activations_model = activations_model  # subclasses of ModelCommitment replace it
        self._layers = [layer] if isinstance(layer, str) else list(layer)

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def _require(self, task: str) -> None:
        if task != self.task:
            raise NotApplicable(f"{self._identifier!r}: this does the task {self.task!r}, not {str(task)!r}")

    def _features(self, stimuli: StimulusSet, **options: Any) -> NeuroidAssembly:
        return self.activations_model(stimuli, layers=self._layers, **options).transpose("presentation", "neuroid")


class LabelBehavior(_TaskOnLayers):
    """Labels of stimuli, from 1,000 ImageNet logits: the output of the network.

    ``'imagenet'``: the synset of the largest logit. A list of labels: softmax over all logits, then the mean over the
    classes of each label; the label with the largest mean is chosen (Geirhos et al. 2018 [1]_).

    A model without these logits is *not applicable*, unless there are labelled images: a linear readout (the logistic
    regression of :class:`ProbabilitiesMapping`) of the behavioral layer is then fitted on them. The result has
    ``attrs['readout']``, which score and receipt repeat: ``'fitted readout: …'``.

    Parameters
    ----------
    identifier : str
        Name of the model, for messages.
    activations_model : callable
        ``(stimuli, layers=['logits'])`` → presentation × neuroid, 1,000 of them.
    layer : str or list of str, optional
        Layer or layers for a fitted readout.
    readout_stimuli : StimulusSet, str or callable, optional
        Images with a column ``image_label`` for models without 1,000 logits: a stimulus set, the name of a registered
        one, or a function that returns one. Image labels are the labels to choose from, or synsets of ImageNet, which
        are then mapped to labels like logits. With 1,000 logits the images are not used.

    References
    ----------
    .. [1] https://doi.org/10.48550/arXiv.1808.08750
    """

    task = BrainModel.Task.label

    def __init__(
        self,
        identifier: str,
        activations_model: ActivationsModel,
        layer: str | Sequence[str] = (),
        readout_stimuli: ReadoutStimuli | None = None,
    ) -> None:
        super().__init__(identifier, activations_model, layer)
        self._labels: ChoiceLabels | None = None
        self._aggregation: Aggregation = "mean"
        self._readout = (
            None
            if readout_stimuli is None
            else FittedReadout(identifier, self._features, self._layers, readout_stimuli)
        )
        self._fits = False
        self._of_imagenet = False

    def start_task(
        self,
        task: str,
        choice_labels: ChoiceLabels | None = None,
        aggregation: Aggregation = "mean",
        *,
        fitting_stimuli: ChoiceLabels | None = None,
    ) -> None:
        """Set the labels to choose from.

        Parameters
        ----------
        task : str
            ``'label'``.
        choice_labels : 'imagenet', list of str, or dict of str to list of int
            Labels to choose from: synsets; labels of published lists
            (:func:`~brainscore_vision.stimuli.labels.known_labels`); or labels with the
            indices of their logits.
        aggregation : {'mean', 'max'}
            Aggregation over the classes of a label.
        fitting_stimuli
            Another name of `choice_labels`, which :meth:`BrainModel.start_task` uses.

        Raises
        ------
        NotApplicable
            If the model is known to have no 1,000 logits before it runs, and no readout can be fitted.
        UserError
            If the classes of a label are not known.
        """
        self._require(task)
        self._fits = not self._has_logits(logits_width(self.activations_model, LOGITS))
        labels = fitting_stimuli if choice_labels is None else choice_labels
        if labels is None:
            raise UserError("the task 'label' needs labels to choose from", remedy="pass a list of them, or 'imagenet'")
        if aggregation not in ("mean", "max"):
            raise UserError(f"aggregation is {aggregation!r}", remedy="known: 'mean', 'max'")
        self._of_imagenet = isinstance(labels, str) and labels == "imagenet"
        if not (self._fits or self._of_imagenet):
            index_lists(labels)  # an unknown label raises an error before anything is shown
        self._labels, self._aggregation = labels, aggregation

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
        if self._labels is None:
            raise UserError("there are no labels to choose from yet", remedy="call start_task('label', labels) first")
        options: dict[str, Any] = {"number_of_trials": number_of_trials, "require_variance": require_variance}
        if not self._fits:
            logits = self.activations_model(stimuli, layers=[LOGITS], **options).transpose("presentation", "neuroid")
            self._fits = not self._has_logits(logits.sizes["neuroid"])
        if self._fits and self._readout is not None:
            chosen = self._readout.choose(self._labels, stimuli, self._aggregation, **options)
            answer = self._answer(chosen.labels, dict(coords_for_dim(chosen.features, "presentation")))
            answer.attrs["readout"] = chosen.description
            return answer
        if source := getattr(self.activations_model, "logits_source", ""):
            note("remark", text=f"labels are chosen from the logits in {source}")
        values = logits.values
        undefined = ~np.isfinite(values).all(axis=1)
        if undefined.any():
            name = logits["stimulus_id"].values[undefined.argmax()]
            raise UserError(
                f"{self._identifier!r} returned logits that are not finite for {int(undefined.sum())} presentations, "
                f"such as of {name!r}",
                remedy="check the model's weights and preprocessing, or compute in float32",
            )
        coords: dict[str, Any] = dict(coords_for_dim(logits, "presentation"))
        if self._of_imagenet:
            choices = np.array(imagenet_synsets(), dtype=object)[values.argmax(axis=1)]
        else:
            lists = index_lists(self._labels)
            best = label_probabilities(values, list(lists.values()), self._aggregation).argmax(axis=1)
            choices = np.array(list(lists), dtype=object)[best]
        return self._answer(choices, coords)

    def _answer(self, choices: NDArray[Any], coords: dict[str, Any]) -> BehavioralAssembly:
        if self._of_imagenet:
            index = {synset: number for number, synset in enumerate(imagenet_synsets())}
            logits = np.array([index[choice] for choice in choices])
            coords |= {"synset": ("presentation", choices), "logit": ("presentation", logits)}
        coords["label"] = ("presentation", choices)
        coords["choice"] = ("choice", [str(BrainModel.Task.label)])
        return BehavioralAssembly(choices[:, np.newaxis], coords=coords, dims=["presentation", "choice"])

    def _has_logits(self, width: int | None) -> bool:
        """Whether there are the logits of ImageNet; True if the `width` is not known yet (None)."""
        if width is None or width == NUMBER_OF_CLASSES:
            return True
        if self._readout is not None:
            return False
        raise NotApplicable(
            f"{self._identifier!r} cannot do the task 'label': it has "
            + ("no logits to name stimuli with" if width == 0 else f"{width} logits, not the 1,000 of ImageNet")
            + self._described_logits()
            + "; ModelCommitment(readout_stimuli=…) fits a readout on labelled images"
        )

    def _described_logits(self) -> str:
        """Description of the network's logits, in brackets."""
        describe = getattr(self.activations_model, "describe_layers", None)
        try:
            return f" ({describe([LOGITS])[-1]})" if callable(describe) else ""
        except Exception as error:  # noqa: BLE001 - the model may not take a grey image
            _logger.info("the logits of %s are not described: %s", self._identifier, error)
            return ""


def label_probabilities(
    logits: ArrayLike, lists: Sequence[Sequence[int]], aggregation: Aggregation = "mean"
) -> NDArray[np.float64]:
    """Softmax of logits, aggregated over lists of classes.

    `logits` (stimuli × classes) are of any size: the maximum is subtracted first. Means do not sum to 1, since each is
    over the classes of its own label only.

    Examples
    --------
    >>> label_probabilities([[1000.0, 1000.0, -1000.0]], [[0], [1, 2]])
    array([[0.5 , 0.25]])
    """
    values = np.asarray(logits, dtype=np.float64)
    exponentials = np.exp(values - values.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    return aggregated(probabilities, lists, aggregation)


Similarity = Literal["dot", "cosine"]
_SIMILARITIES = ("dot", "cosine")


class OddOneOut(_TaskOnLayers):
    """Odd-one-out choices: the stimulus of each triplet that is not in the most similar pair (Hebart et al. 2020 [1]_).

    Parameters
    ----------
    identifier : str
        Name of the model, for messages.
    activations_model : callable
        ``(stimuli, layers=[layer])`` → presentation × neuroid.
    layer : str or list of str
        Layer or layers whose activations are compared.
    similarity : {'dot', 'cosine'}
        Similarity of two stimuli.

    References
    ----------
    .. [1] https://doi.org/10.1038/s41562-020-00951-3
    """

    task = BrainModel.Task.odd_one_out

    def __init__(
        self,
        identifier: str,
        activations_model: ActivationsModel,
        layer: str | Sequence[str],
        *,
        similarity: Similarity = "dot",
    ) -> None:
        super().__init__(identifier, activations_model, layer)
        self.similarity_measure = similarity

    @property
    def similarity_measure(self) -> Similarity:
        """Similarity of two stimuli: ``'dot'`` or ``'cosine'``."""
        return self._similarity

    @similarity_measure.setter
    def similarity_measure(self, similarity: Similarity) -> None:
        if similarity not in _SIMILARITIES:
            raise ValueError(f"similarity is {similarity!r}; known: 'dot', 'cosine'")
        self._similarity = similarity

    def set_similarity_measure(self, similarity_measure: Similarity) -> None:
        """Set `similarity_measure` to ``'dot'`` or ``'cosine'``."""
        self.similarity_measure = similarity_measure

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None:
        """Check the task; `fitting_stimuli` is unused."""
        self._require(task)

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Find the index of the odd stimulus of each triplet.

        Parameters
        ----------
        stimuli : StimulusSet
            Rows 0–2 are the first triplet, rows 3–5 the second …; a stimulus may occur in many triplets.
        number_of_trials, require_variance
            Unused: there is one choice per triplet.

        Returns
        -------
        BehavioralAssembly
            One-dimensional (presentation): 0, 1 or 2. Coordinates ``stimulus_id`` (the three ids, joined by ``|``) and
            ``stimulus_id_0`` … ``stimulus_id_2``. Of equally similar pairs, the first is used.
        """
        ids = stimuli["stimulus_id"].to_numpy()
        if len(ids) % 3 or not len(ids):
            raise UserError(f"{len(ids)} stimuli are not triplets", remedy="pass the stimuli in rows of three")
        unique = stimuli.drop_duplicates("stimulus_id").sort_values("stimulus_id")
        features = self._features(unique)
        rows = {identifier: row for row, identifier in enumerate(features["stimulus_id"].values)}
        triplets = np.array([rows[identifier] for identifier in ids]).reshape(-1, 3)
        choices = odd_one_out(features.values, triplets, cosine=self._similarity == "cosine")
        shown = ids.reshape(-1, 3)
        coords: dict[str, Any] = {"stimulus_id": ("presentation", ["|".join(map(str, triplet)) for triplet in shown])}
        coords |= {f"stimulus_id_{position}": ("presentation", shown[:, position]) for position in range(3)}
        return BehavioralAssembly(choices, coords=coords, dims=["presentation"])


def odd_one_out(features: ArrayLike, triplets: NDArray[np.integer], *, cosine: bool = False) -> NDArray[np.int64]:
    """Find the position of the odd row of each triplet.

    Rows are compared by dot product, with `cosine` divided by their lengths.

    Examples
    --------
    >>> import numpy as np
    >>> odd_one_out([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], np.array([[0, 1, 2]]))
    array([1])
    """
    values = np.asarray(features, dtype=np.float64)
    if cosine:
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        values = values / np.where(lengths == 0, 1, lengths)
    similarity = values @ values.T
    first, second, third = triplets.T
    pairs = np.stack([similarity[first, second], similarity[first, third], similarity[second, third]])
    return 2 - pairs.argmax(axis=0)


LogitsBehavior = LabelBehavior
"""Earlier name of :class:`LabelBehavior`."""


class TaskBehavior(Protocol):
    """Performs one task."""

    def start_task(self, task: str, *args: Any, **kwargs: Any) -> None: ...

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly: ...


class BehaviorArbiter:
    """Delegates each task to the object that performs it.

    Parameters
    ----------
    mapping : dict of str to TaskBehavior
        Task → object with ``start_task`` and ``look_at``.
    """

    def __init__(self, mapping: Mapping[str, TaskBehavior]) -> None:
        self.mapping = {str(task): behavior for task, behavior in mapping.items()}
        self.current_executor: TaskBehavior | None = None

    def start_task(self, task: str, *args: Any, **kwargs: Any) -> None:
        """Start `task` with its further arguments; raises `NotApplicable` if no object performs it."""
        if str(task) not in self.mapping:
            raise NotApplicable(f"the task {str(task)!r} is not among {', '.join(self.mapping) or 'none'}")
        executor = self.mapping[str(task)]
        executor.start_task(task, *args, **kwargs)
        self.current_executor = executor

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Show stimuli to the object that performs the current task."""
        if self.current_executor is None:
            raise UserError("no task was started", remedy="call start_task before look_at")
        return self.current_executor.look_at(
            stimuli, number_of_trials=number_of_trials, require_variance=require_variance
        )


class ProbabilitiesMapping(_TaskOnLayers):
    """Probabilities of labels, by logistic regression on the activations of one layer.

    Features are standardised (mean and standard deviation over the fitting stimuli), then a multinomial logistic
    regression with L2 penalty (C = 1e-3, intercept not penalised) is fitted, as published for Rajalingham et al. 2018
    (https://doi.org/10.1523/JNEUROSCI.0388-18.2018).

    Parameters
    ----------
    identifier : str
        Name of the model, for messages.
    activations_model : callable
        ``(stimuli, layers=[layer])`` → presentation × neuroid.
    layer : str or list of str
        Layer or layers to read out from.

    Notes
    -----
    For two labels, scikit-learn fits a binary regression. A multinomial regression with C has exactly the probabilities
    of a binary regression with 2 C, which is therefore fitted: the multinomial weights are ± half of the binary ones,
    and their penalty is half as large.
    """

    task = BrainModel.Task.probabilities

    def __init__(self, identifier: str, activations_model: ActivationsModel, layer: str | Sequence[str]) -> None:
        super().__init__(identifier, activations_model, layer)
        self._readout: LogisticReadout | None = None

    def start_task(
        self, task: str, fitting_stimuli: Any = None, number_of_trials: int = 1, require_variance: bool = False
    ) -> None:
        """Learn the labels of `fitting_stimuli`.

        Parameters
        ----------
        task : str
            ``'probabilities'``.
        fitting_stimuli : StimulusSet
            Stimuli with a column ``image_label``.
        number_of_trials, require_variance
            How the fitting stimuli are shown; see :meth:`BrainModel.look_at`.
        """
        self._require(task)
        require_labels(
            fitting_stimuli,
            "the task 'probabilities' needs stimuli to learn labels from",
            "pass a StimulusSet with a column 'image_label' as fitting_stimuli",
        )
        by_name: dict[str, object] = {}
        for label in fitting_stimuli["image_label"].unique():
            earlier = by_name.setdefault(plain_label(label), label)
            if earlier != label:
                remark(f"fitting stimuli have the labels {earlier!r} and {label!r}, which count as different")
        features = self._features(fitting_stimuli, number_of_trials=number_of_trials, require_variance=require_variance)
        self._readout = LogisticReadout(features.values, features["image_label"].values)

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Compute the probability of each label for each stimulus.

        Returns
        -------
        BehavioralAssembly
            presentation × choice, labels in order of first appearance; rows sum to 1.
        """
        if self._readout is None:
            raise UserError("nothing was learned yet", remedy="call start_task('probabilities', fitting_stimuli) first")
        features = self._features(stimuli, number_of_trials=number_of_trials, require_variance=require_variance)
        probabilities = self._readout.probabilities(features.values)
        coords: dict[str, Any] = dict(coords_for_dim(features, "presentation"))
        coords["choice"] = ("choice", self._readout.labels)
        return BehavioralAssembly(probabilities, coords=coords, dims=["presentation", "choice"])
