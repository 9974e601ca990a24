"""The odd stimulus of each triplet."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation._activations import ActivationsModel
from brainscore_vision.model_interface import BrainModel

__all__ = ["OddOneOut", "Similarity", "odd_one_out"]

Similarity = Literal["dot", "cosine"]
_SIMILARITIES = ("dot", "cosine")


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
        similarity: Similarity = "dot",
    ) -> None:
        self._identifier = identifier
        self.activations_model = activations_model
        self._layers = [layer] if isinstance(layer, str) else list(layer)
        self.similarity_measure = similarity

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    @property
    def similarity_measure(self) -> Similarity:
        """How two stimuli are compared: ``'dot'`` or ``'cosine'``."""
        return self._similarity

    @similarity_measure.setter
    def similarity_measure(self, similarity: Similarity) -> None:
        if similarity not in _SIMILARITIES:
            raise ValueError(f"similarity is {similarity!r}; known: 'dot', 'cosine'")
        self._similarity = similarity

    def set_similarity_measure(self, similarity_measure: Similarity) -> None:
        """Compare by ``'dot'`` product or ``'cosine'`` from now on; the same as setting `similarity_measure`."""
        self.similarity_measure = similarity_measure

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
        features = self.activations_model(unique, layers=self._layers).transpose("presentation", "neuroid")
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
