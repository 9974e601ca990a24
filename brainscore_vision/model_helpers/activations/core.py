"""Extraction of activations: each stimulus passes the model once for all layers, and results are stored."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from brainscore_core.activation_store import ActivationStore, default_store
from brainscore_core.errors import UserError
from brainscore_core.provenance import note, timed
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.images import naming_stimuli
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import stimulus_files, warn_of_small_stimuli
from brainscore_vision.model_helpers.activations.assemblies import (
    EXTENT_DEGREES,
    LayerUnits,
    Presentations,
    ShownStimuli,
    make_assembly,
    spiral,
    with_stimulus_columns,
)
from brainscore_vision.model_helpers.activations.fingerprints import Unhashable, calling_plugin, fingerprint
from brainscore_vision.model_helpers.activations.layouts import Layout
from brainscore_vision.model_helpers.activations.passes import (
    Loader,
    OutputFormat,
    Pass,
    Recorder,
    Timeline,
    Workers,
    plain_recorder,
    stack_images,
)
from brainscore_vision.model_helpers.activations.recording import RecordedLayers, Recording, first_responses
from brainscore_vision.model_helpers.activations.reduction import Pooling, make_reduction
from brainscore_vision.model_helpers.activations.repeatability import known_causes

VERSION = 2  # increase it whenever values change for the same model and stimuli
_logger = logging.getLogger(__name__)


class HookHandle:
    """A registered hook, which can be removed or temporarily disabled.

    Examples
    --------
    >>> hooks = {}
    >>> handle = HookHandle(hooks, print)
    >>> handle.disable()
    >>> hooks
    {}
    >>> handle.enable()
    >>> list(hooks.values())
    [<built-in function print>]
    """

    _next = 0

    def __init__(self, hooks: dict[int, Callable[[Any], Any]], hook: Callable[[Any], Any]) -> None:
        self._hooks = hooks
        self._hook = hook
        self.id = HookHandle._next
        HookHandle._next += 1
        hooks[self.id] = hook

    def remove(self) -> Callable[[Any], Any]:
        """Remove the hook and return it."""
        self._hooks.pop(self.id, None)
        return self._hook

    def disable(self) -> None:
        """Disable the hook until :meth:`enable`."""
        self.remove()

    def enable(self) -> None:
        """Enable the hook again."""
        self._hooks[self.id] = self._hook


@dataclass(frozen=True)
class LayerReader:
    """What a wrapper tells the extractor about reading the layers of its model."""

    # Returns a dictionary of plain values that changes whenever responses would. By default a hash of the code and
    # state of `get_activations`; if these cannot be hashed, activations are not stored.
    fingerprint: Callable[[], Mapping[str, Any]] | None = None
    # Instead of `get_activations`: called once per extraction, it returns a
    # :data:`~brainscore_vision.model_helpers.activations.passes.Recorder`, so that outputs need not be kept in memory
    # together
    recorder: Callable[[], Recorder] | None = None
    resolve: Callable[[Sequence[str]], list[str]] | None = None  # list of requested layers → list of their names
    canonical: Callable[[str], str] = str  # name → the name under which a layer with several names is stored
    # Largest number of stimuli of a batch that pass the model together. By default the whole batch.
    at_once: int | None = None
    device: Any = None  # GPU to which batches of images are copied while the stimuli after them are read
    by_path: bool = False  # whether the model sees the file names, so that files of equal content may differ
    # Name of a layer, and shape of its output for one stimulus → its layout. By default channels of feature maps are
    # the first axis.
    layout: Callable[[str, tuple[int, ...]], Layout] | None = None
    # Whether the model computes in half precision. By default it follows from its outputs.
    half: Callable[[], bool] | None = None


class _Request(NamedTuple):
    """Arguments of :meth:`ActivationsExtractorHelper.__call__`."""

    stimuli: StimulusSet | Sequence[Any]
    layers: Sequence[str] | None
    stimuli_identifier: str | Literal[False] | None
    trials: int
    vary: bool

    @property
    def paths(self) -> Mapping[str, Path]:
        """Files of the stimuli by their names; empty if they have none."""
        return getattr(self.stimuli, "stimulus_paths", None) or {}


class ActivationsExtractorHelper:
    """Runs stimuli through a model in batches and records the outputs of its layers.

    Parameters
    ----------
    get_activations : callable
        ``(inputs, layer_names)`` → dictionary from layer to its output, an array or tensor, stimuli first.
    preprocessing : callable or None
        List of paths → inputs, one per path. None: the model takes paths.
    identifier : str or False
        Name of the model, in the coordinates. False: activations are not stored.
    batch_size : int
        Number of stimuli in a batch; halved whenever memory runs out.
    store : ActivationStore or None, optional
        Where activations are stored. None: they are not stored. By default the user's store.
    dtype : numpy dtype, optional
        Type of the activations. By default that of the model's outputs.
    pooling : Pooling, optional
        Pooling of token and feature maps. By default everything is recorded.
    reduction : {'projection', 'gaussian', 'pca', 'auto'}, optional
        Reduce features by random projection or principal components to 1000 or, for example with ``'pca:300'``, 300;
        see :func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction`. Components are learned from
        the stimuli that are shown. ``'auto'``: a projection, only if memory or disk do not suffice.
    max_memory : int or str, optional
        Memory limit, such as ``'8GB'``; by default ``BRAINSCORE_MAX_MEMORY``, else 80 % of the available memory.
    timeline : optional
        Object that adds a time axis to outputs: ``arrange(layer, output)`` returns stimuli × time × …, ``bins(steps)``
        the time bins in milliseconds.
    variance : {'microsaccades', 'repeat'}
        Effect of ``require_variance`` on a deterministic model: displace the input slightly in each trial, or return
        the same response in each trial.
    workers, loader : int and {'threads', 'processes'}, optional
        Number and kind of workers that read stimuli; by default one per core. They read ahead where that helps.
    reader : LayerReader, optional
        How layers are read, if there is more to it than calling `get_activations`.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> path = Path(tempfile.mkdtemp()) / "red.png"
    >>> Image.new("RGB", (4, 4), (255, 0, 0)).save(path)
    >>> extractor = ActivationsExtractorHelper(
    ...     get_activations=lambda images, layers: {layer: images.mean(axis=(2, 3)) for layer in layers},
    ...     preprocessing=lambda paths: np.stack([np.moveaxis(np.asarray(Image.open(p)), 2, 0) for p in paths]),
    ...     identifier="mean-colour",
    ... )
    >>> extractor([path], layers=["colour"]).values
    array([[255.,   0.,   0.]])
    """

    def __init__(
        self,
        get_activations: Callable[[Any, list[str]], Mapping[str, Any]],
        preprocessing: Callable[[Sequence[Any]], Any] | None,
        identifier: str | Literal[False] = False,
        batch_size: int = 64,
        *,
        store: ActivationStore | Literal["default"] | None = "default",
        dtype: DTypeLike | None = None,
        pooling: Pooling | None = None,
        reduction: str | None = None,
        max_memory: int | str | None = None,
        timeline: Timeline | None = None,
        variance: Literal["microsaccades", "repeat"] = "microsaccades",
        workers: int | None = None,
        loader: Workers = "threads",
        reader: LayerReader | None = None,
    ) -> None:
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}", remedy="pass 1 or more")
        if reduction not in (None, "auto"):
            make_reduction(reduction)  # raises an error if unknown
        self.identifier = identifier
        self.get_activations = get_activations
        self.preprocess = preprocessing if preprocessing is not None else _paths
        self.reader = reader or LayerReader()
        self._batch_size = batch_size
        self.store = store
        self._dtype = None if dtype is None else np.dtype(dtype)
        self._format = OutputFormat(pooling or Pooling(), timeline, self.reader.layout)
        self._reduction = reduction
        self._max_memory = max_memory
        self._variance = variance
        self._loader = Loader(self.preprocess, workers=workers, kind=loader, device=self.reader.device)
        self._plugin = calling_plugin()
        self._repeats = True
        self._compared: set[str] = set()  # keys of stored layers
        self._visual_degrees: float | None = None
        self._stimulus_set_hooks: dict[int, Callable[[Any], Any]] = {}
        self._batch_hooks: dict[int, Callable[[Any], Any]] = {}

    def __call__(
        self,
        stimuli: StimulusSet | Sequence[Any],
        layers: Sequence[str] | None,
        stimuli_identifier: str | Literal[False] | None = None,
        number_of_trials: int = 1,
        require_variance: bool = False,
    ) -> NeuroidAssembly:
        """Extract activations of some layers.

        Parameters
        ----------
        stimuli : StimulusSet or list of path
            Stimuli to show. Files of equal content pass the model once.
        layers : list of str
            Layers to record; None: ``['logits']``.
        stimuli_identifier : str or False, optional
            Name of the stimuli, in the store's listing. False: activations are not stored.
        number_of_trials : int
            How often each stimulus is shown. Without `require_variance`, a model responds once.
        require_variance : bool
            Whether to return the response of every trial, each with another small eye movement (0.05° at most).

        Returns
        -------
        NeuroidAssembly
            presentation × neuroid, ordered by stimulus, then by trial. ``presentation`` has every column of a
            stimulus set (``stimulus_path`` for a list of paths), ``microsaccade_shift_{x,y}_{pixels,degrees}`` and,
            if there are several trials, ``repetition``. ``neuroid`` has ``neuroid_num``, ``model``, ``layer``,
            ``neuroid_id``, and positions in the layer: ``channel`` with ``channel_x`` and ``channel_y``, or with
            ``embedding``. A single layer is read-only, and read into memory only when its values are used.

        Raises
        ------
        UserError
            If a layer or a file does not exist or cannot be read, or a required visual angle is not known.
        """
        options: dict[str, Any] = {
            "layers": layers,
            "stimuli_identifier": stimuli_identifier,
            "number_of_trials": number_of_trials,
            "require_variance": require_variance,
        }
        if isinstance(stimuli, StimulusSet):
            return self.from_stimulus_set(stimuli, **options)
        return self.from_paths(stimuli, **options)

    def _extracted(self, request: _Request) -> NeuroidAssembly:
        with timed("extraction"), naming_stimuli(request.paths):
            shown, (first, values) = self._recorded(request, together=True)
        blocks = [values[layer] for layer in first]
        side_by_side = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-1)
        return self._assembled(shown, [response.units for response in first.values()], side_by_side)

    def by_layer(
        self,
        stimuli: StimulusSet | Sequence[Any],
        layers: Sequence[str] | None,
        stimuli_identifier: str | Literal[False] | None = None,
        number_of_trials: int = 1,
        require_variance: bool = False,
    ) -> dict[str, NeuroidAssembly]:
        """Extract activations as one assembly per layer, in one pass; arguments as of :meth:`__call__`.

        With a store, a layer is read into memory only when its values are used.
        """
        request = _Request(stimuli, layers, stimuli_identifier, number_of_trials, require_variance)
        with timed("extraction"), naming_stimuli(request.paths):
            shown, (first, values) = self._recorded(request, together=False)
        return {layer: self._assembled(shown, [response.units], values[layer]) for layer, response in first.items()}

    def from_stimulus_set(
        self,
        stimulus_set: StimulusSet,
        layers: Sequence[str] | None,
        stimuli_identifier: str | Literal[False] | None = None,
        require_variance: bool = False,
        number_of_trials: int = 1,
    ) -> NeuroidAssembly:
        """Extract activations for a stimulus set; see :meth:`__call__`.

        If a subclass overrides :meth:`from_paths`, as in brain-score 2.x, the stimulus set's columns are added to the
        result of that method.
        """
        if not self._overrides_from_paths:
            request = _Request(stimulus_set, layers, stimuli_identifier, number_of_trials, require_variance)
            return self._extracted(request)
        for hook in tuple(self._stimulus_set_hooks.values()):
            stimulus_set = hook(stimulus_set)
        files = stimulus_files(stimulus_set)
        activations = self.from_paths(
            [str(files[stimulus_id]) for stimulus_id in stimulus_set["stimulus_id"]],
            layers=layers,
            stimuli_identifier=stimulus_set.identifier if stimuli_identifier is None else stimuli_identifier,
            require_variance=require_variance,
            number_of_trials=number_of_trials,
        )
        return with_stimulus_columns(activations, stimulus_set, files)

    def from_paths(
        self,
        stimuli_paths: Sequence[Any],
        layers: Sequence[str] | None,
        stimuli_identifier: str | Literal[False] | None = None,
        require_variance: bool = False,
        number_of_trials: int = 1,
    ) -> NeuroidAssembly:
        """Extract activations for files; see :meth:`__call__`."""
        request = _Request(stimuli_paths, layers, stimuli_identifier, number_of_trials, require_variance)
        return self._extracted(request)

    @property
    def _overrides_from_paths(self) -> bool:
        return type(self).from_paths is not ActivationsExtractorHelper.from_paths

    def register_batch_activations_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Call ``hook(activations)`` on each batch, a dictionary from layer to array; it returns a replacement.

        While a hook is registered, nothing is stored, since the effect of a hook is not part of the key.
        """
        return HookHandle(self._batch_hooks, hook)

    def register_stimulus_set_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Call ``hook(stimulus_set)`` on each stimulus set; it returns the stimulus set to show instead."""
        return HookHandle(self._stimulus_set_hooks, hook)

    def insert_attrs(self, wrapper: Any) -> None:
        """Add this extractor's methods to a wrapper."""
        for name in (
            "by_layer",
            "from_stimulus_set",
            "from_paths",
            "keeps_activations",
            "register_batch_activations_hook",
            "register_stimulus_set_hook",
            "set_visual_degrees",
        ):
            setattr(wrapper, name, getattr(self, name))

    def set_visual_degrees(self, visual_degrees: float) -> None:
        """Set the visual angle that the model's input spans, in degrees, which eye movements depend on."""
        self._visual_degrees = visual_degrees

    def _assembled(self, shown: ShownStimuli, units: Sequence[LayerUnits], values: NDArray[Any]) -> NeuroidAssembly:
        timeline = self._format.timeline
        bins = None if timeline is None else timeline.bins(values.shape[1])
        if timeline is None and self.reader.layout is not None:
            units = [unit.in_layout(self.reader.layout) for unit in units]
        return make_assembly(str(self.identifier), shown, units, values, bins)

    def _recorded(self, request: _Request, *, together: bool) -> tuple[ShownStimuli, RecordedLayers]:
        """The stimuli shown, and the layers' responses to them; `together`: the layers will be one assembly."""
        stimuli, layers, stimuli_identifier, trials, vary = request
        names = self._layer_names(layers)
        if trials < 1:
            raise UserError(f"number_of_trials is {trials}", remedy="show each stimulus at least once")
        if isinstance(stimuli, StimulusSet):
            for hook in tuple(self._stimulus_set_hooks.values()):
                stimuli = hook(stimuli)
        presentations = Presentations.of(stimuli, stimuli_identifier or None, by_path=self.reader.by_path)
        if not presentations.paths:
            raise UserError("there are no stimuli", remedy="pass at least one")
        trials = trials if vary else 1
        moving = trials > 1 and self._variance == "microsaccades"
        new_recorder = self.reader.recorder or (lambda: plain_recorder(self.get_activations))
        at_once = self._batch_size if self.reader.at_once is None else self.reader.at_once
        run = Pass(new_recorder, self._loader, self._batch_size, at_once, self._format, self._batch_hooks)
        image = run.inputs([presentations.distinct[presentations.sample]])
        side = _side_of(image)
        if side is not None and isinstance(stimuli, StimulusSet):
            warn_of_small_stimuli(stimuli, side)
        first = run.sample(image, names)
        height = stack_images(image).shape[-2] if moving else 1
        shifts = spiral(trials if moving else 1, height=height, visual_degrees=self._visual_degrees)
        shown = ShownStimuli(presentations, trials, shifts, moving)
        responses = first_responses(first, self._dtype, timed=self._format.timeline is not None)
        store = self._open_store() if stimuli_identifier is not False else None
        if store is None and self.reader.fingerprint is not None:
            with suppress(Unhashable):
                _note_model(str(self.identifier), self.reader.fingerprint())
        key_parts = None if store is None else self._key_parts(shown, list(responses))
        recording = Recording(
            run,
            shown,
            str(self.identifier),
            batch_size=self._batch_size,
            input_bytes=_bytes_of(image),
            together=together,
            max_memory=self._max_memory,
            store=None if key_parts is None else store,
            key_parts=key_parts,
            half=self.reader.half is not None and self.reader.half(),
            causes=partial(known_causes, self.preprocess, self.get_activations),
            compared=self._compared,
        )
        recorded = recording.layers(responses, self._reduction)
        self._repeats = recording.repeats
        return shown, recorded

    def _layer_names(self, layers: Sequence[str] | None) -> list[str]:
        if isinstance(layers, str):
            raise UserError(f"layers is {layers!r}", remedy=f"pass a list: [{layers!r}]")
        names = list(dict.fromkeys(["logits"] if layers is None else layers))
        if not names:
            raise UserError("layers is empty", remedy="pass a list of at least one layer")
        return self.reader.resolve(names) if self.reader.resolve is not None else names

    def keeps_activations(self) -> bool:
        """Whether activations are stored: there is a store, the model can be hashed, and its last responses repeat."""
        if self._open_store() is None or self._overrides_from_paths or not self._repeats:
            return False
        try:
            self._model_parts()
        except Unhashable:
            return False
        return True

    def _open_store(self) -> ActivationStore | None:
        if not self.identifier or self._batch_hooks:
            return None
        return default_store() if self.store == "default" else self.store

    def _key_parts(self, shown: ShownStimuli, layers: Sequence[str]) -> dict[str, dict[str, Any]] | None:
        """Parts of each layer's key that do not depend on its responses; None if the model cannot be hashed."""
        try:
            common = {**self._model_parts(), "stimuli": shown.presentations.fingerprint, "trials": 1}
        except Unhashable as error:
            _logger.info("activations of %s are not stored: %s", self.identifier, error)
            return None
        _note_model(str(self.identifier), common["model"])
        if shown.moving:
            assert self._visual_degrees is not None  # displacements need it
            degrees = float(self._visual_degrees)
            common["trials"] = {"number": shown.trials, "extent": EXTENT_DEGREES, "visual_degrees": degrees}
        return {layer: {**common, "layer": self.reader.canonical(layer)} for layer in layers}

    def _model_parts(self) -> dict[str, Any]:
        """Parts of a layer's key that depend on the model alone."""
        own_fingerprint, timeline = self.reader.fingerprint, self._format.timeline
        return {
            "extractor": VERSION,
            "model": {"code": fingerprint(self.get_activations)}
            if own_fingerprint is None
            else dict(own_fingerprint()),
            "plugin": self._plugin,
            "preprocessing": fingerprint(self.preprocess),
            "pooling": self._format.pooling.described,
            "timeline": None if timeline is None else fingerprint(timeline),
        }


class ExtractedModel:
    """An activations model whose layers an extractor reads."""

    _extractor: ActivationsExtractorHelper

    @property
    def identifier(self) -> Any:
        """Name of the model."""
        return self._extractor.identifier

    @identifier.setter
    def identifier(self, identifier: str) -> None:
        self._extractor.identifier = identifier

    def __call__(self, *args: Any, **kwargs: Any) -> NeuroidAssembly:
        """Return activations; see :meth:`ActivationsExtractorHelper.__call__`."""
        return self._extractor(*args, **kwargs)


def flatten(layer_output: NDArray[Any], return_index: bool = False) -> Any:
    """Flatten the output of a layer to one row per stimulus.

    With `return_index` the position of each feature in the layer (features × axes), too.

    Examples
    --------
    >>> features, places = flatten(np.zeros((5, 2, 3)), return_index=True)
    >>> features.shape, places[4].tolist()
    ((5, 6), [1, 1])
    """
    rows = layer_output.reshape(len(layer_output), -1)
    if not return_index:
        return rows
    shape = layer_output.shape[1:]
    return rows, np.indices(shape).reshape(len(shape), -1).T


def _bytes_of(images: Any) -> int:
    """Size of preprocessed inputs, an array, a tensor or a list of them."""
    return sum(map(_bytes_of, images)) if isinstance(images, list | tuple) else int(getattr(images, "nbytes", 0))


def _side_of(images: Any) -> int | None:
    """Shorter side in pixels of the first preprocessed input; None if it is not an image."""
    if not isinstance(images, list | tuple) and not hasattr(images, "shape"):
        return None
    shape = getattr(images[0], "shape", ())
    return int(sorted(shape)[-2]) if len(shape) > 1 else None  # rows and columns are longer than channels


def _note_model(identifier: str, fingerprint: Mapping[str, Any]) -> None:
    if "weights" in fingerprint:
        note("weights", identifier=identifier, sha256=fingerprint["weights"])
    if "device" in fingerprint:
        note("device", name=str(fingerprint["device"]))


def _paths(paths: Sequence[Path]) -> list[Path]:
    """Input of a model without preprocessing."""
    return list(paths)
