"""Models that are functions of an image, without torch, weights or time course."""

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
    """A model whose layers are functions of images.

    Parameters
    ----------
    identifier : str
        Unique name of the model.
    layers : dict of str to callable
        Name → function that takes a list of stimuli (results of `load`; without `load`: file paths) and returns their
        features, stimuli × any dimensions; all dimensions after the first are flattened.
    region_layer_map : dict of str to str or list of str, optional
        Region (V1, V2, V4, IT) → its layer or layers. By default a single layer serves all regions; of several layers,
        those of a region are selected (:class:`ModelCommitment`).
    visual_degrees : float
        Visual angle that the model's input spans, in degrees.
    load : callable, optional
        Reads one file. Called once per file for all layers.
    behavioral_readout_layer : str, optional
        Layer for the tasks ``probabilities`` and ``odd_one_out``; by default the last of `layers`.
    similarity : {'dot', 'cosine'}
        Similarity that determines the odd one out.
    batch_size : int
        Number of stimuli in memory together.
    dtype : numpy dtype
        Type of the recorded features.

    Raises
    ------
    UserError
        If a region is mapped to an unknown layer.

    Notes
    -----
    A :class:`ModelCommitment` of a
    :class:`~brainscore_vision.model_helpers.activations.callables.CallableWrapper`. The model is
    deterministic: whatever ``number_of_trials`` is, it responds once. With ``require_variance`` all trials are returned
    with equal responses.
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
