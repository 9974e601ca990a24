"""How activations become behaviour."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation._activations import ActivationsModel
from brainscore_vision.model_helpers.brain_transformation._label import LabelBehavior
from brainscore_vision.model_helpers.brain_transformation._odd_one_out import OddOneOut, Similarity, odd_one_out
from brainscore_vision.model_helpers.brain_transformation._readout import LogisticReadout, ReadoutStimuli
from brainscore_vision.model_interface import BrainModel

__all__ = [
    "BehaviorArbiter",
    "LabelBehavior",
    "LogitsBehavior",
    "OddOneOut",
    "ProbabilitiesMapping",
    "ReadoutStimuli",
    "Similarity",
    "odd_one_out",
]

LogitsBehavior = LabelBehavior
"""Earlier name of :class:`LabelBehavior`."""


class Behaviour(Protocol):
    """What does one task."""

    def start_task(self, task: str, *args: Any, **kwargs: Any) -> None: ...

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly: ...


class BehaviorArbiter:
    """Hands each task to what can do it.

    Parameters
    ----------
    mapping : dict of str to behaviour
        Task → object with ``start_task`` and ``look_at``.
    """

    def __init__(self, mapping: Mapping[str, Behaviour]) -> None:
        self.mapping = {str(task): behaviour for task, behaviour in mapping.items()}
        self.current_executor: Behaviour | None = None

    def start_task(self, task: str, *args: Any, **kwargs: Any) -> None:
        """Start `task` with whatever else it takes; `NotApplicable` where nothing does it."""
        if str(task) not in self.mapping:
            raise NotApplicable(f"the task {str(task)!r} is not among {', '.join(self.mapping) or 'none'}")
        executor = self.mapping[str(task)]
        executor.start_task(task, *args, **kwargs)
        self.current_executor = executor

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Show stimuli to what does the current task."""
        if self.current_executor is None:
            raise UserError("no task was started", remedy="call start_task before look_at")
        return self.current_executor.look_at(
            stimuli, number_of_trials=number_of_trials, require_variance=require_variance
        )


class ProbabilitiesMapping:
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
        What to read out from.

    Notes
    -----
    For two labels scikit-learn fits a binary regression. A multinomial one with C has exactly the probabilities of a
    binary one with 2 C, so that is what is fitted: the multinomial weights are ± half of the binary ones, and their
    penalty therefore half as large.
    """

    def __init__(self, identifier: str, activations_model: ActivationsModel, layer: str | Sequence[str]) -> None:
        self._identifier = identifier
        self.activations_model = activations_model
        self._layers = [layer] if isinstance(layer, str) else list(layer)
        self._readout: LogisticReadout | None = None

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def start_task(
        self, task: str, fitting_stimuli: Any = None, number_of_trials: int = 1, require_variance: bool = False
    ) -> None:
        """Learn the labels of `fitting_stimuli`.

        Parameters
        ----------
        task : str
            ``'probabilities'``.
        fitting_stimuli : StimulusSet
            With a column ``image_label``.
        number_of_trials, require_variance
            How the fitting stimuli are shown; see :meth:`BrainModel.look_at`.
        """
        if task != BrainModel.Task.probabilities:
            raise NotApplicable(f"{self._identifier!r}: this readout gives probabilities, not {str(task)!r}")
        if not isinstance(fitting_stimuli, StimulusSet) or "image_label" not in fitting_stimuli.columns:
            raise UserError(
                "the task 'probabilities' needs stimuli to learn labels from",
                remedy="pass a StimulusSet with a column 'image_label' as fitting_stimuli",
            )
        if np.any([label is None or label != label for label in fitting_stimuli["image_label"]]):
            raise UserError("some fitting stimuli have no 'image_label'", remedy="label them or leave them out")
        features = self.activations_model(
            fitting_stimuli,
            layers=self._layers,
            number_of_trials=number_of_trials,
            require_variance=require_variance,
        ).transpose("presentation", "neuroid")
        self._readout = LogisticReadout(features.values, features["image_label"].values)

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Probability of each label for each stimulus.

        Returns
        -------
        BehavioralAssembly
            presentation × choice, labels in order of first appearance; rows sum to 1.
        """
        if self._readout is None:
            raise UserError("nothing was learned yet", remedy="call start_task('probabilities', fitting_stimuli) first")
        features = self.activations_model(
            stimuli, layers=self._layers, number_of_trials=number_of_trials, require_variance=require_variance
        ).transpose("presentation", "neuroid")
        probabilities = self._readout.probabilities(features.values)
        coords: dict[str, Any] = dict(coords_for_dim(features, "presentation"))
        coords["choice"] = ("choice", self._readout.labels)
        return BehavioralAssembly(probabilities, coords=coords, dims=["presentation", "choice"])
