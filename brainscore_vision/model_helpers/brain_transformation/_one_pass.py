"""Activations of many layers from one pass, given out layer by layer."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from brainscore_core.errors import BrainScoreError
from brainscore_core.files import file_digest
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.model_helpers.brain_transformation._activations import ActivationsModel

__all__ = ["OnePass", "Recorded", "SeesScored", "contents_of", "digest_of"]

_CHUNK = 1 << 26  # bytes that are hashed at once
_ROWS = 256  # that are reduced at once

Key = tuple[str, int, bool]


class Recorded(BrainScoreError):
    """Ends a benchmark when the activations that it asked for are there."""


class SeesScored(BrainScoreError):
    """The benchmark shows stimuli that must not be seen."""


class OnePass:
    """An activations model that runs all of its layers on stimuli when the first of them is asked for.

    Parameters
    ----------
    activations_model : callable
        What runs.
    layers : sequence of str
        All layers that will be asked for.
    components : int, optional
        Layers of more features than this are reduced to as many principal components, where there are more stimuli.
    avoid : frozenset of str
        Hashes of files (:func:`contents_of`) that must not be shown.
    """

    def __init__(
        self,
        activations_model: ActivationsModel,
        layers: Sequence[str],
        *,
        components: int | None = None,
        avoid: frozenset[str] = frozenset(),
    ) -> None:
        self._activations_model = activations_model
        self._layers = list(layers)
        self._components = components
        self._avoid = avoid
        self._seen: dict[Key, dict[str, NeuroidAssembly]] = {}
        self.contents: frozenset[str] = frozenset()
        self.features: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self.only_record = False

    def layers(self) -> list[str]:
        """Names of the layers."""
        return list(self._layers)

    def set_visual_degrees(self, visual_degrees: float) -> None:
        """Tell the network the visual angle that its input spans."""
        set_degrees = getattr(self._activations_model, "set_visual_degrees", None)
        if callable(set_degrees):
            set_degrees(visual_degrees)

    def __call__(
        self, stimuli: StimulusSet, layers: Sequence[str], *, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly:
        """Activations of one layer.

        Raises
        ------
        SeesScored
            Before anything runs, if the stimuli are among those to avoid.
        Recorded
            With `only_record`, once all layers ran.
        """
        contents = contents_of(stimuli)
        if not self._avoid.isdisjoint(contents):
            raise SeesScored(f"{stimuli.identifier!r} has stimuli that are being scored")
        self.contents |= contents
        key = (_key_of(stimuli), number_of_trials if require_variance else 1, require_variance)
        if key not in self._seen:
            self._seen[key] = self._run(stimuli, number_of_trials, require_variance)
        if self.only_record:
            raise Recorded("the activations are recorded")
        (layer,) = layers
        return self._seen[key][layer]

    def last(self, layer: str) -> NeuroidAssembly:
        """Activations of a layer for the stimuli that were shown last."""
        return next(reversed(self._seen.values()))[layer]

    def _run(self, stimuli: StimulusSet, number_of_trials: int, require_variance: bool) -> dict[str, NeuroidAssembly]:
        options: dict[str, Any] = {"number_of_trials": number_of_trials, "require_variance": require_variance}
        by_layer = getattr(self._activations_model, "by_layer", None)
        if callable(by_layer):
            found = by_layer(stimuli, layers=self._layers, **options)
        else:
            found = _split(self._activations_model(stimuli, layers=self._layers, **options), self._layers)
        first = not self.digests
        for layer in self._layers:
            self.features[layer] = found[layer].sizes["neuroid"]
            if first:
                self.digests[layer] = digest_of(found[layer].values)
            if self._components is not None:
                found[layer] = _reduced(found[layer], layer, self._components)
        return found


def contents_of(stimuli: StimulusSet) -> frozenset[str]:
    """Hashes of the stimuli's files, as they were before they were placed on a screen."""
    original = stimuli.__dict__.get("original_paths")
    paths = stimulus_files(stimuli) if original is None else original
    return frozenset(file_digest(path, "sha256") for path in set(paths.values()))


def digest_of(values: np.ndarray) -> str:
    """Hash of an array's shape, type and bytes, read piece by piece."""
    digest = hashlib.sha256(f"{values.shape} {values.dtype.str}".encode())
    rows = max(1, _CHUNK // max(1, values[:1].nbytes))
    for start in range(0, len(values), rows):
        digest.update(np.ascontiguousarray(values[start : start + rows]).data)
    return digest.hexdigest()


def _key_of(stimuli: StimulusSet) -> str:
    files = stimulus_files(stimuli)
    shown = [f"{name}\0{file_digest(files[name], 'sha256')}" for name in stimuli["stimulus_id"]]
    columns = stimuli.to_csv(index=False)  # other columns are coordinates of what comes back
    return hashlib.sha256("\n".join([*shown, columns]).encode("utf-8", "surrogateescape")).hexdigest()


def _split(activations: NeuroidAssembly, layers: Sequence[str]) -> dict[str, NeuroidAssembly]:
    names = activations["layer"].values.astype(str)
    parts = {}
    for layer in layers:
        places = np.flatnonzero(names == layer)
        whole = len(places) and places[-1] - places[0] + 1 == len(places)
        # a slice, where it is one, copies nothing
        parts[layer] = activations.isel(neuroid=slice(places[0], places[-1] + 1) if whole else places)
    return parts


def _reduced(activations: NeuroidAssembly, layer: str, components: int) -> NeuroidAssembly:
    if min(activations.sizes["presentation"], activations.sizes["neuroid"]) <= components:
        return activations
    from brainscore_core.supported_data_standards.brainio.assemblies import coords_for_dim
    from brainscore_vision.model_helpers.activations.reduction import IncrementalPCA

    values = activations.transpose("presentation", "neuroid").values
    pca = IncrementalPCA(components)
    parts = [slice(start, start + _ROWS) for start in range(0, len(values), _ROWS)]
    for part in parts:
        pca.fit_batch(values[part])
    reduced = np.concatenate([pca.transform(values[part]) for part in parts])
    coords: dict[str, Any] = dict(coords_for_dim(activations, "presentation"))
    coords["neuroid_num"] = ("neuroid", np.arange(reduced.shape[1]))
    coords["layer"] = ("neuroid", np.full(reduced.shape[1], layer, dtype=object))
    coords["neuroid_id"] = ("neuroid", [f"{layer}.pc{number}" for number in range(reduced.shape[1])])
    return NeuroidAssembly(reduced, coords=coords, dims=["presentation", "neuroid"], attrs=activations.attrs)
