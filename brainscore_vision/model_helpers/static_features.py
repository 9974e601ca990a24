"""Models that are functions of stimuli, without torch, weights or time course."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper, ExtractedModel, LayerReader
from brainscore_vision.model_helpers.activations.fingerprints import fingerprint
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.behavior import Similarity


class FeatureError(UserError, ValueError):
    """Functions that do not return the features of a layer."""


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
    A :class:`ModelCommitment` of a :class:`CallableWrapper`. The model is deterministic: whatever ``number_of_trials``
    is, it responds once. With ``require_variance`` all trials are returned with equal responses.
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
        visual_degrees: float | None = None,
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


class CallableWrapper(ExtractedModel):
    """An activations model of functions: called with stimuli and layers, it returns activations.

    Parameters
    ----------
    layers : dict of str to callable, or callable
        Name → function that takes a list of stimuli (results of `load`; without `load`: file paths) and returns their
        features, stimuli × any dimensions. A single function returns a dictionary from layer to features for the
        layers in `layer_names`.
    identifier : str
        Name of the model.
    load : callable, optional
        Reads one file. Called once per file for all layers.
    layer_names : list of str, optional
        Layers of a single function.
    batch_size : int
        Number of stimuli in memory together.
    variance : {'repeat', 'microsaccades'}
        Effect of ``require_variance``: the same response in each trial, or responses to slightly displaced images,
        for which `load` must return arrays, channels × height × width.
    workers : int
        Threads that read ahead; 0 if `load` is not thread-safe.
    **options
        Options of :class:`~brainscore_vision.model_helpers.activations.core.ActivationsExtractorHelper`: ``store``,
        ``dtype``, ``pooling``.

    Notes
    -----
    Features are kept in the activation store, under a hash of the functions' code, defaults and closures, and of the
    source of their module. Pass ``store=None`` for functions that depend on anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_vision.model_helpers.images import load_rgb
    >>> def mean_colour(images):
    ...     return np.stack([image.mean(axis=(0, 1)) for image in images])
    >>> activations_model = CallableWrapper({"colour": mean_colour}, "mean-colour", load=load_rgb)
    >>> activations_model.layers()
    ['colour']
    """

    def __init__(
        self,
        layers: Mapping[str, Callable[[Sequence[Any]], ArrayLike]] | Callable[[Sequence[Any]], Mapping[str, ArrayLike]],
        identifier: str,
        *,
        load: Callable[[Path], Any] | None = None,
        layer_names: Sequence[str] | None = None,
        batch_size: int = 32,
        variance: Literal["repeat", "microsaccades"] = "repeat",
        workers: int = 0,
        **options: Any,
    ) -> None:
        if not isinstance(layers, Mapping) and not layer_names:
            raise ValueError(f"{identifier!r} is a single function: pass layer_names, the keys of its result")
        self._functions = layers
        self._names = list(layers) if isinstance(layers, Mapping) else list(layer_names or ())
        if not self._names:
            raise ValueError(f"model {identifier!r} has no layers")
        self._extractor = ActivationsExtractorHelper(
            identifier=identifier,
            get_activations=self.get_activations,
            preprocessing=None if load is None else _Reader(load),
            batch_size=batch_size,
            variance=variance,
            workers=workers,
            reader=LayerReader(fingerprint=self._fingerprint, resolve=self._resolve, by_path=load is None),
            **options,
        )
        self._extractor.insert_attrs(self)

    def layers(self) -> list[str]:
        """Names of the layers."""
        return list(self._names)

    def get_activations(self, inputs: Sequence[Any], layer_names: Sequence[str]) -> dict[str, np.ndarray]:
        """Compute the features of some layers for loaded stimuli."""
        if isinstance(self._functions, Mapping):
            activations = {name: self._features(name, self._functions[name](inputs), inputs) for name in layer_names}
        else:
            returned = self._functions(inputs)
            missing = [name for name in layer_names if name not in returned]
            if missing:
                raise UserError(
                    f"{self.identifier!r} returned no {', '.join(missing)}",
                    remedy=f"its function returns {', '.join(map(str, returned))}: pass these as layer_names",
                )
            activations = {name: self._features(name, returned[name], inputs) for name in layer_names}
        return activations

    def _features(self, layer: str, returned: Any, inputs: Sequence[Any]) -> NDArray[Any]:
        """Features as an array of numbers, stimuli first."""
        name = f"layer {layer!r} of {self.identifier!r} returned"
        try:
            features = np.asarray(returned)
        except ValueError as error:
            message = f"{name} features of different lengths"
            raise FeatureError(message, remedy="return as many for each stimulus") from error
        if features.shape[:1] != (len(inputs),):
            raise FeatureError(
                f"{name} features of shape {features.shape} for {len(inputs)} stimuli; their first axis must be the "
                "stimuli"
            )
        if features.dtype.kind not in "fiub":
            raise FeatureError(f"{name} features of type {features.dtype}", remedy="return real numbers")
        return features

    def _resolve(self, layers: Sequence[str]) -> list[str]:
        unknown = [layer for layer in layers if layer not in self._names]
        if unknown:
            raise FeatureError(
                f"model {self.identifier!r} has no layer {', '.join(unknown)}; it has {', '.join(self._names)}"
            )
        return list(layers)

    def _fingerprint(self) -> dict[str, Any]:
        return {"functions": fingerprint(self._functions), "wrapper": fingerprint(type(self))}


class _Reader:
    """Reads files one by one; separate from the wrapper, so that its fingerprint depends on `load` alone."""

    def __init__(self, load: Callable[[Path], Any]) -> None:
        self._load = load

    def __call__(self, paths: Sequence[Path]) -> list[Any]:
        return [self._load(path) for path in paths]
