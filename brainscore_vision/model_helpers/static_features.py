"""Models that are functions of an image: no torch, no weights, no time course."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from brainscore_vision.model_helpers.activations.callables import CallableWrapper
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.behavior import Similarity

__all__ = ["FeatureModel"]


class FeatureModel(ModelCommitment):
    """A model whose layers are functions of images, made a subject.

    Parameters
    ----------
    identifier : str
        Unique name of the model.
    layers : dict of str to callable
        Name → function that takes a list of stimuli (what `load` returned; without `load`: file paths) and returns
        their features, stimuli × anything; what follows the first axis is flattened.
    region_layer_map : dict of str to str or list of str, optional
        Region (V1, V2, V4, IT) → its layer or layers. Where it is left out, a single layer is each region; of several,
        the layers of a region are selected (:class:`ModelCommitment`).
    visual_degrees : float
        Visual angle that the model's input spans, in degrees.
    load : callable, optional
        Reads one file. Called once a file, however many layers use what it returns.
    behavioral_readout_layer : str, optional
        Layer for the tasks ``probabilities`` and ``odd_one_out``; by default the last of `layers`.
    similarity : {'dot', 'cosine'}
        Similarity by which the odd one out is found.
    batch_size : int
        Stimuli that are in memory at once.
    dtype : numpy dtype
        Of the recorded features.

    Raises
    ------
    UserError
        If a region is mapped to a layer that there is not.

    Notes
    -----
    A :class:`ModelCommitment` of a
    :class:`~brainscore_vision.model_helpers.activations.callables.CallableWrapper`. The model is deterministic: it
    looks once, whatever ``number_of_trials`` is. With ``require_variance`` every trial is returned, all of them equal.
    A layer called ``logits`` with the 1,000 classes of ImageNet makes the task ``label`` possible.

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_vision.model_helpers.images import load_rgb
    >>> def mean_colour(images):
    ...     return np.stack([image.mean(axis=(0, 1)) for image in images])
    >>> model = FeatureModel("mean-colour", layers={"colour": mean_colour}, load=load_rgb)
    >>> model.start_recording("V1", time_bins=[(70, 170)])
    >>> recordings = model.look_at(stimuli)  # doctest: +SKIP
    """

    def __init__(
        self,
        identifier: str,
        layers: Mapping[str, Callable[[Sequence[Any]], ArrayLike]],
        region_layer_map: Mapping[str, str | Sequence[str]] | None = None,
        *,
        visual_degrees: float = 8,
        load: Callable[[Path], Any] | None = None,
        behavioral_readout_layer: str | None = None,
        similarity: Similarity = "dot",
        batch_size: int = 32,
        dtype: type[np.number] = np.float32,
    ) -> None:
        super().__init__(
            identifier,
            CallableWrapper(layers, identifier, load=load, batch_size=batch_size, dtype=dtype),
            layers=list(layers),
            behavioral_readout_layer=behavioral_readout_layer,
            region_layer_map=region_layer_map,
            visual_degrees=visual_degrees,
            similarity=similarity,
        )
