"""Models that are functions of an image: no torch, no weights, no time course."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.model_helpers._packaging import presentation_coords, repeat_over_time
from brainscore_vision.model_helpers.brain_transformation.behavior import OddOneOut, ProbabilitiesMapping
from brainscore_vision.model_interface import BrainModel

__all__ = ["FeatureModel"]

_SHOW_PROGRESS_FROM = 1000  # images


class FeatureModel(BrainModel):
    """A model whose layers are functions of images, made a subject.

    Parameters
    ----------
    identifier : str
        Unique name of the model.
    layers : dict of str to callable
        Name → function that takes a list of stimuli (what `load` returned; without `load`: file paths) and returns
        their features, stimuli × anything; what follows the first axis is flattened.
    region_layer_map : dict of str to str or list of str, optional
        Region (V1, V2, V4, IT) → its layer or layers. Left out where the model has one layer: that one for each region.
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
    ValueError
        If a region is mapped to a layer that there is not.

    Notes
    -----
    The model is deterministic: it looks once, whatever ``number_of_trials`` is. With ``require_variance`` every trial
    is returned, all of them equal. Features are computed anew each time; nothing is kept that could become stale.

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
        similarity: Literal["dot", "cosine"] = "dot",
        batch_size: int = 32,
        dtype: type[np.number] = np.float32,
    ) -> None:
        if not layers:
            raise ValueError(f"model {identifier!r} has no layers")
        self._identifier = identifier
        self._layers = dict(layers)
        self._regions = _regions(identifier, list(layers), region_layer_map)
        self._visual_degrees = visual_degrees
        self._load = load
        self._batch_size = batch_size
        self._dtype = np.dtype(dtype)
        readout = behavioral_readout_layer or list(layers)[-1]
        _check_layers(identifier, [readout], list(layers))
        self._behaviours: dict[str, ProbabilitiesMapping | OddOneOut] = {
            BrainModel.Task.probabilities: ProbabilitiesMapping(identifier, self.activations, readout),
            BrainModel.Task.odd_one_out: OddOneOut(identifier, self.activations, readout, similarity=similarity),
        }
        self._look: Callable[[StimulusSet, int, bool], Any] | None = None

    @property
    def identifier(self) -> str:
        """Unique name of the model."""
        return self._identifier

    @property
    def layers(self) -> list[str]:
        """Names of the layers."""
        return list(self._layers)

    @property
    def region_layer_map(self) -> dict[str, list[str]]:
        """The layers of each region."""
        return {region: list(layers) for region, layers in self._regions.items()}

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        return self._visual_degrees

    def start_task(self, task: str, fitting_stimuli: StimulusSet | Sequence[str] | str | None = None) -> None:
        """Instruct the model; see :meth:`BrainModel.start_task`.

        ``passive`` keeps recordings running. ``label`` is not applicable: the model has no logits.
        """
        if task == BrainModel.Task.passive:
            return
        if task not in self._behaviours:
            raise NotApplicable(
                f"{self.identifier!r} cannot do the task {str(task)!r}: "
                + (
                    "it has no logits to name stimuli with"
                    if task == BrainModel.Task.label
                    else "it knows no such task"
                )
            )
        behaviour = self._behaviours[task]
        behaviour.start_task(task, fitting_stimuli)
        self._look = behaviour.look_at

    def start_recording(
        self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None, **kwargs: Any
    ) -> None:
        """Record from a region; see :meth:`BrainModel.start_recording`. Without time bins there is one of no length."""
        region = str(recording_target)
        if region not in self._regions:
            raise NotApplicable(
                f"{self.identifier!r} has no region {region!r}; it has {', '.join(self._regions) or 'none'}"
            )
        bins = None if time_bins is None else [(int(start), int(end)) for start, end in time_bins]

        def look(stimuli: StimulusSet, number_of_trials: int, require_variance: bool) -> NeuroidAssembly:
            return repeat_over_time(
                self.activations(
                    stimuli,
                    layers=self._regions[region],
                    number_of_trials=number_of_trials,
                    require_variance=require_variance,
                    region=region,
                ),
                bins,
            )

        self._look = look

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Show stimuli; see :meth:`BrainModel.look_at`.

        Recordings are presentation × neuroid, with × time_bin where several time bins are recorded: the same response
        in each, not copied, so not to be written to. ``presentation`` has every column of `stimuli`; ``neuroid`` has
        ``neuroid_num`` (number in its layer), ``model``, ``layer``, ``neuroid_id`` (``model.layer.number``) and
        ``region``.

        Raises
        ------
        UserError
            If neither a task nor a recording was started, or a stimulus has no readable file.
        """
        if self._look is None:
            raise UserError(
                f"{self.identifier!r} was not told what to do",
                remedy="call start_recording(region, time_bins) or start_task(task, fitting_stimuli) before look_at",
            )
        return self._look(stimuli, number_of_trials, require_variance)

    def activations(
        self,
        stimuli: StimulusSet,
        layers: Sequence[str],
        *,
        number_of_trials: int = 1,
        require_variance: bool = False,
        region: str | None = None,
    ) -> NeuroidAssembly:
        """Features of some layers, as an assembly.

        Parameters
        ----------
        stimuli : StimulusSet
            What to look at.
        layers : list of str
            Which layers.
        number_of_trials, require_variance
            See :meth:`BrainModel.look_at`.
        region : str, optional
            Written into the coordinate ``region`` of ``neuroid``.

        Returns
        -------
        NeuroidAssembly
            presentation × neuroid.
        """
        _check_layers(self.identifier, layers, self.layers)
        if number_of_trials < 1:
            raise UserError(f"number_of_trials is {number_of_trials}", remedy="show each stimulus at least once")
        paths = stimulus_files(stimuli)
        ids = list(stimuli["stimulus_id"])
        files = list(dict.fromkeys(paths.values()))  # a file of several stimuli is read once
        features = self._features(files, layers)
        rows = None
        if len(files) < len(ids):
            row_of = {path: row for row, path in enumerate(files)}
            rows = np.array([row_of[paths[identifier]] for identifier in ids])
        values = [features[layer] if rows is None else features[layer][rows] for layer in layers]
        sizes = [array.shape[1] for array in values]
        numbers = np.concatenate([np.arange(size) for size in sizes])
        names = np.repeat(np.array(layers, dtype=object), sizes)
        data = values[0] if len(values) == 1 else np.concatenate(values, axis=1)
        presentation = presentation_coords(stimuli)
        if require_variance and number_of_trials > 1:
            # stimulus by stimulus, trial by trial; the labels are repeated in the same way as the responses
            trials = np.tile(np.arange(number_of_trials), len(ids))
            presentation = {
                name: (dim, np.repeat(column, number_of_trials)) for name, (dim, column) in presentation.items()
            } | {"repetition": ("presentation", trials)}
            data = np.repeat(data, number_of_trials, axis=0)
        coords: dict[str, Any] = dict(presentation)
        coords["neuroid_num"] = ("neuroid", numbers)
        coords["model"] = ("neuroid", np.full(len(numbers), self.identifier, dtype=object))
        coords["layer"] = ("neuroid", names)
        coords["neuroid_id"] = (
            "neuroid",
            np.array([f"{self.identifier}.{layer}.{number}" for layer, number in zip(names, numbers, strict=True)]),
        )
        if region is not None:
            coords["region"] = ("neuroid", np.full(len(numbers), region, dtype=object))
        attrs = {"stimulus_set_identifier": stimuli.identifier}
        return NeuroidAssembly(data, coords=coords, dims=["presentation", "neuroid"], attrs=attrs)

    def _features(self, files: list[Path], layers: Sequence[str]) -> dict[str, NDArray[np.number]]:
        """Features of each layer, files × features, filled batch by batch."""
        results: dict[str, NDArray[np.number]] = {}
        for start in _progress(range(0, len(files), self._batch_size), len(files), self.identifier):
            batch = files[start : start + self._batch_size]
            loaded = [self._load(path) for path in batch] if self._load else batch
            for layer in layers:
                features = np.asarray(self._layers[layer](loaded))
                if features.shape[:1] != (len(batch),):
                    raise ValueError(
                        f"layer {layer!r} of {self.identifier!r} gave features of shape {features.shape} for "
                        f"{len(batch)} stimuli; their first axis must be the stimuli"
                    )
                features = features.reshape(len(batch), -1)
                if layer not in results:
                    results[layer] = np.empty((len(files), features.shape[1]), dtype=self._dtype)
                results[layer][start : start + len(batch)] = features
        return results


def _regions(
    identifier: str, layers: list[str], region_layer_map: Mapping[str, str | Sequence[str]] | None
) -> dict[str, list[str]]:
    if region_layer_map is None:
        if len(layers) > 1:
            raise ValueError(
                f"model {identifier!r} has several layers ({', '.join(layers)}): pass region_layer_map, "
                "such as {'V1': 'first', 'IT': 'last'}"
            )
        return {str(region): list(layers) for region in BrainModel.RecordingTarget}
    regions = {}
    for region, mapped in region_layer_map.items():
        regions[str(region)] = [mapped] if isinstance(mapped, str) else list(mapped)
        _check_layers(identifier, regions[str(region)], layers)
    return regions


def _check_layers(identifier: str, wanted: Sequence[str], known: list[str]) -> None:
    unknown = [layer for layer in wanted if layer not in known]
    if unknown or not wanted:
        raise ValueError(f"model {identifier!r} has no layer {', '.join(unknown)}; it has {', '.join(known)}")


def _progress(batches: range, stimuli: int, identifier: str) -> Iterator[int]:
    """Go through `batches`; a run long enough to wait for shows how far it is, in a terminal only."""
    import sys

    if stimuli < _SHOW_PROGRESS_FROM or not sys.stderr.isatty():
        yield from batches
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(batches, description=f"{identifier}: {stimuli} stimuli", console=Console(stderr=True))
