"""How activations become behaviour."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_interface import BrainModel

__all__ = ["BehaviorArbiter", "OddOneOut", "ProbabilitiesMapping"]


class ActivationsModel(Protocol):
    """What gives activations: presentation × neuroid, presentations in the order of the stimuli."""

    def __call__(
        self, stimuli: StimulusSet, layers: Sequence[str], *, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly: ...


class Behaviour(Protocol):
    """What does one task."""

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None: ...

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

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None:
        """Start `task`; `NotApplicable` where nothing does it."""
        if str(task) not in self.mapping:
            raise NotApplicable(f"the task {str(task)!r} is not among {', '.join(self.mapping) or 'none'}")
        executor = self.mapping[str(task)]
        executor.start_task(task, fitting_stimuli)
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
        self._activations_model = activations_model
        self._layers = _layers(layer)
        self._readout: _LogisticReadout | None = None

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None:
        """Learn the labels of `fitting_stimuli`.

        Parameters
        ----------
        task : str
            ``'probabilities'``.
        fitting_stimuli : StimulusSet
            With a column ``image_label``.
        """
        if task != BrainModel.Task.probabilities:
            raise NotApplicable(f"{self._identifier!r}: this readout gives probabilities, not {str(task)!r}")
        if not isinstance(fitting_stimuli, StimulusSet) or "image_label" not in fitting_stimuli.columns:
            raise UserError(
                "the task 'probabilities' needs stimuli to learn labels from",
                remedy="pass a StimulusSet with a column 'image_label' as fitting_stimuli",
            )
        labels = fitting_stimuli["image_label"].to_numpy()
        if np.any([label is None or label != label for label in labels]):
            raise UserError("some fitting stimuli have no 'image_label'", remedy="label them or leave them out")
        features = self._activations_model(fitting_stimuli, layers=self._layers)
        self._readout = _LogisticReadout(features.transpose("presentation", "neuroid").values, labels)

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
        features = self._activations_model(
            stimuli, layers=self._layers, number_of_trials=number_of_trials, require_variance=require_variance
        ).transpose("presentation", "neuroid")
        probabilities = self._readout.probabilities(features.values)
        names = [*map(str, stimuli.columns)] + (["repetition"] if "repetition" in features.coords else [])
        coords: dict[str, Any] = {name: ("presentation", features[name].values) for name in names}
        coords["choice"] = ("choice", self._readout.labels)
        return BehavioralAssembly(probabilities, coords=coords, dims=["presentation", "choice"])


class OddOneOut:
    """The odd stimulus of each triplet: the one that is not in the most similar pair (Hebart et al. 2020 [1]_).

    Parameters
    ----------
    identifier : str
        Name of the model, for messages.
    activations_model : callable
        ``(stimuli, layers=[layer])`` → presentation × neuroid.
    layer : str or list of str
        Layer or layers whose activations are compared.
    similarity : {'dot', 'cosine'}
        How two stimuli are compared.

    References
    ----------
    .. [1] https://doi.org/10.1038/s41562-020-00951-3
    """

    def __init__(
        self,
        identifier: str,
        activations_model: ActivationsModel,
        layer: str | Sequence[str],
        *,
        similarity: Literal["dot", "cosine"] = "dot",
    ) -> None:
        if similarity not in ("dot", "cosine"):
            raise ValueError(f"similarity is {similarity!r}; known: 'dot', 'cosine'")
        self._identifier = identifier
        self._activations_model = activations_model
        self._layers = _layers(layer)
        self._similarity = similarity

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None:
        """Nothing has to be learned; `fitting_stimuli` is unused."""
        if task != BrainModel.Task.odd_one_out:
            raise NotApplicable(f"{self._identifier!r}: this finds odd stimuli, it cannot do {str(task)!r}")

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly:
        """Index of the odd stimulus of each triplet.

        Parameters
        ----------
        stimuli : StimulusSet
            Rows 0–2 are the first triplet, rows 3–5 the second …; a stimulus may occur in many.
        number_of_trials, require_variance
            Unused: there is one choice a triplet.

        Returns
        -------
        BehavioralAssembly
            One-dimensional (presentation): 0, 1 or 2. Coordinates ``stimulus_id`` (the three ids, joined by ``|``) and
            ``stimulus_id_0`` … ``stimulus_id_2``. Of equally similar pairs the first counts.
        """
        ids = stimuli["stimulus_id"].to_numpy()
        if len(ids) % 3 or not len(ids):
            raise UserError(f"{len(ids)} stimuli make no triplets", remedy="give the stimuli in rows of three")
        unique = stimuli.drop_duplicates("stimulus_id").sort_values("stimulus_id")
        features = self._activations_model(unique, layers=self._layers).transpose("presentation", "neuroid")
        rows = {identifier: row for row, identifier in enumerate(features["stimulus_id"].values)}
        triplets = np.array([rows[identifier] for identifier in ids]).reshape(-1, 3)
        choices = odd_one_out(features.values, triplets, cosine=self._similarity == "cosine")
        shown = ids.reshape(-1, 3)
        coords: dict[str, Any] = {"stimulus_id": ("presentation", ["|".join(map(str, triplet)) for triplet in shown])}
        coords |= {f"stimulus_id_{position}": ("presentation", shown[:, position]) for position in range(3)}
        return BehavioralAssembly(choices, coords=coords, dims=["presentation"])


def odd_one_out(features: ArrayLike, triplets: NDArray[np.integer], *, cosine: bool = False) -> NDArray[np.int64]:
    """Position of the odd row of each triplet.

    Parameters
    ----------
    features : array_like, stimuli × features
        Compared by dot product.
    triplets : ndarray of int, triplets × 3
        Rows of `features`.
    cosine : bool
        Divide by the lengths.

    Returns
    -------
    ndarray of int, triplets
        0, 1 or 2.

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


class _LogisticReadout:
    """Standardisation and multinomial logistic regression."""

    def __init__(self, features: NDArray[Any], labels: NDArray[Any]) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        self.labels = np.array(list(dict.fromkeys(labels)), dtype=object)
        if len(self.labels) < 2:
            raise UserError(
                f"all fitting stimuli have the label {self.labels[0]!r}" if len(labels) else "no fitting stimuli",
                remedy="give stimuli of at least two labels",
            )
        index = {label: number for number, label in enumerate(self.labels)}
        penalty = 1e-3 * (2 if len(self.labels) == 2 else 1)  # see Notes of ProbabilitiesMapping
        self._scaler = StandardScaler()
        self._regression = LogisticRegression(solver="newton-cg", C=penalty)
        self._regression.fit(
            self._scaler.fit_transform(features.astype(np.float64)), np.array([index[label] for label in labels])
        )

    def probabilities(self, features: NDArray[Any]) -> NDArray[np.float64]:
        return self._regression.predict_proba(self._scaler.transform(features.astype(np.float64)))


def _layers(layer: str | Sequence[str]) -> list[str]:
    return [layer] if isinstance(layer, str) else list(layer)
