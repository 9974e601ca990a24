"""Models made from networks: layers committed to regions, and readouts for behavior."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.formatting import first_few
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.precomputed import note_features
from brainscore_vision.model_helpers.activations.assemblies import with_level
from brainscore_vision.model_helpers.brain_transformation.behavior import (
    BehaviorArbiter,
    LabelBehavior,
    OddOneOut,
    ProbabilitiesMapping,
    ReadoutStimuli,
    Similarity,
)
from brainscore_vision.model_helpers.brain_transformation.layers import (
    ActivationsModel,
    RegionLayerMap,
    layer_names,
    layers_of_regions,
    resolve_layers,
    time_step,
)
from brainscore_vision.model_helpers.brain_transformation.selection import (
    SelectedLayer,
    recorded_measurements,
    select_layers,
)
from brainscore_vision.model_helpers.brain_transformation.temporal import (
    TimeBins,
    checked_time_bins,
    in_time_bins,
    steps_for,
    steps_in_time,
)
from brainscore_vision.model_interface import DEFAULT_VISUAL_DEGREES, BrainModel

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

_logger = logging.getLogger(__name__)

_REGIONS = [str(region) for region in BrainModel.RecordingTarget]  # in the order of the ventral stream

TimeMapping = Mapping[str, Mapping[int, tuple[float, float]]]
Look = Callable[[StimulusSet, int, bool], Any]


class ModelCommitment(BrainModel):
    """A model made from a network: the layers of each region, readouts for tasks, and the visual angle of the input.

    Parameters
    ----------
    identifier : str
        Unique name of the model.
    activations_model : callable
        ``(stimuli, layers, number_of_trials=…, require_variance=…)`` → presentation × neuroid[ × time_bin], such as a
        `PytorchWrapper`. Names and patterns are checked against its ``layers()``, if available.
    layers : sequence of str, optional
        Layers to select from, in order; names or patterns (``'blocks.*'``). None: the layers in `region_layer_map` or
        in the file of the model's plugin.
    behavioral_readout_layer : str or list of str, optional
        Layer for the tasks ``probabilities`` and ``odd_one_out``; by default the last of `layers`.
    region_layer_map : mapping of str to str or list of str, optional
        Region → layer or layers. By default that in the file ``region_layer_map/<identifier>.json`` of the model's
        plugin; without the file, layers are selected when a region is first recorded (see Notes).
    visual_degrees : float, optional
        Visual angle that the model's input spans, in degrees. Scores depend on it, so state it; without it, 8 is
        taken, and receipts say that the model does not state its angle.
    time_mapping : mapping of str to mapping of int to (start, end), optional
        For recurrent models: region → time step → milliseconds. Layers of such a region have their step in their name,
        as in ``'IT.output-t1'``. Each requested time bin gets the step with the nearest start.
    similarity : {'dot', 'cosine'}
        Similarity that determines the odd one out.
    readout_stimuli : StimulusSet, str or callable, optional
        Labelled images for models without the 1,000 logits of ImageNet: the task ``label`` then uses a readout that is
        fitted on them; see :class:`LabelBehavior`. A stimulus set with a column ``image_label``, the name of a
        registered one, or a function that returns one.
    selection_benchmarks : mapping of str to sequence of (str or Benchmark), optional
        Region → benchmarks to select its layer on; the first one with available data is used. By default, and for other
        regions: :data:`~brainscore_vision.model_helpers.brain_transformation.selection.SELECTION_BENCHMARKS`.

    Raises
    ------
    UserError
        If a layer is not in the network; the message lists the nearest names.

    Notes
    -----
    *The last call of* ``start_task`` *and* ``start_recording`` *determines* what ``look_at`` returns; ``passive`` ends
    a task.

    *Time.* Without a time course, all time bins have the same response; it is not copied, so do not write to it. A time
    course of the activations is averaged into the time bins (weights: the share of each source bin). A single time bin
    is squeezed. An activations model with ``set_recorded_time((start, end))``, such as one of a network that takes
    clips, receives the time that the bins span.

    *Selection.* The layer with the highest score on the selection benchmark of the region. Measurements of the stimuli
    that are being shown are never used: if the benchmark has these stimuli, the next benchmark is used. A warning names
    the benchmark if it is not the published one.

    Examples
    --------
    >>> model = ModelCommitment("alexnet", activations_model, layers=["features.2", "features.12"],
    ...                         region_layer_map={"V1": "features.2", "IT": "features.12"})  # doctest: +SKIP
    >>> model.start_recording("IT", time_bins=[(70, 170)])  # doctest: +SKIP
    >>> recordings = model.look_at(stimuli)  # doctest: +SKIP
    """

    remarks: tuple[str, ...] = ()
    """Choices that were made automatically."""

    def __init__(
        self,
        identifier: str,
        activations_model: ActivationsModel,
        layers: str | Sequence[str] | None = None,
        behavioral_readout_layer: str | Sequence[str] | None = None,
        region_layer_map: Mapping[str, str | Sequence[str]] | None = None,
        visual_degrees: float | None = None,
        *,
        time_mapping: TimeMapping | None = None,
        similarity: Similarity = "dot",
        readout_stimuli: ReadoutStimuli | None = None,
        selection_benchmarks: "Mapping[str, Sequence[str | Benchmark]] | None" = None,
    ) -> None:
        names = layer_names(activations_model)
        self._identifier = identifier
        self._states_visual_degrees = visual_degrees is not None
        degrees = DEFAULT_VISUAL_DEGREES if visual_degrees is None else visual_degrees
        self._visual_degrees = _checked_degrees(degrees, identifier)
        self.activations_model = activations_model
        requested = layers_of_regions(identifier, region_layer_map) if layers is None else layers
        self.layers = resolve_layers(requested, names, identifier=identifier, activations_model=activations_model)
        self._readout = resolve_layers(behavioral_readout_layer or self.layers[-1], names, identifier=identifier)
        self._selection_benchmarks = selection_benchmarks
        self._time_mapping = {str(region): dict(steps) for region, steps in (time_mapping or {}).items()}
        if region_layer_map is None and self._time_mapping:
            region_layer_map, suggested = _layers_in_time(self._time_mapping, self.layers, identifier)
            if suggested:
                self.remarks = (f"layers suggested for {suggested}",)
                _logger.warning("%s: %s; pass region_layer_map= to choose others", identifier, self.remarks[0])
        _check_steps(self._time_mapping, region_layer_map or {})
        self.region_layer_map = RegionLayerMap(
            identifier, self.layers, known=names, given=region_layer_map, select=self._select
        )
        self.selected: dict[tuple[str, str], SelectedLayer] = {}  # by region and benchmark
        self._similarity, self._readout_stimuli = similarity, readout_stimuli
        self.layer_model = _Recordings(self, self._recorder)
        self._record: Look | None = None
        self._look: Look | None = None
        self._expected: tuple[str, ...] = ()
        self._recorded_together: set[tuple[Any, ...]] = set()
        self._warned_of: set[int] = set()  # numbers of steps that are fewer than time bins

    @property
    def identifier(self) -> str:
        """Unique name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        return self._visual_degrees

    @property
    def states_visual_degrees(self) -> bool:
        """Whether the model states its visual angle: as an argument, or by a method of a subclass."""
        return self._states_visual_degrees or type(self).visual_degrees is not ModelCommitment.visual_degrees

    def _display_rows(self) -> list[tuple[str, str]]:
        # layers that are not selected yet are not selected here
        layers = self.region_layer_map
        named = {region: layers.mapped.get(region) for region in layers.regions}
        regions = [(name, first_few(of) if of else "selected when it is recorded") for name, of in named.items()]
        network = getattr(self.activations_model, "model", None)
        return [
            *([] if network is None else [("network", type(network).__name__)]),
            ("layers", f"{len(self.layers)}: {first_few(self.layers)}"),
            *regions,
            ("behavior from", first_few(self._readout)),
            *super()._display_rows(),
        ]

    def start_task(self, task: str, fitting_stimuli: Any = None, **options: Any) -> None:
        """Instruct the model; see :meth:`BrainModel.start_task`.

        ``passive`` ends a task; a started recording continues. Other tasks take further `options`: see
        :class:`LabelBehavior` and :class:`ProbabilitiesMapping`.
        """
        if task == BrainModel.Task.passive:
            self._look = self._recorder()
            return
        if str(task) not in self.behavior_model.mapping:
            tasks = ", ".join([*self.behavior_model.mapping, str(BrainModel.Task.passive)])
            raise NotApplicable(f"{self.identifier!r} cannot do the task {str(task)!r}; it can do {tasks}")
        if fitting_stimuli is not None:
            options["fitting_stimuli"] = fitting_stimuli
        self.behavior_model.start_task(task, **options)
        self._look = self.behavior_model.look_at

    def start_recording(
        self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None, **kwargs: Any
    ) -> None:
        """Record from a region; see :meth:`BrainModel.start_recording`. Without time bins, time stays as recorded."""
        region = str(recording_target)
        self.region_layer_map.check(region)
        self._look = self._record = partial(self._recordings, region, checked_time_bins(time_bins))

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Announce the regions that will be recorded with the stimuli that are shown next.

        The layers of all these regions are then stored when a stimulus first passes the network, so that it need not
        pass again for another region. This has no effect without an activation store, and for regions whose layers are
        not selected yet.

        Parameters
        ----------
        regions : sequence of str
            Names; regions that the model does not have are ignored.
        """
        self._expected = tuple(str(region) for region in regions)

    def look_at(
        self, stimuli: StimulusSet | Sequence[str | Path], number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Show stimuli; see :meth:`BrainModel.look_at`.

        For a list of paths, the ``stimulus_id`` is the path.

        Recordings are presentation × neuroid, with × time_bin if several time bins are recorded. ``presentation`` has
        every column of `stimuli`, ``neuroid`` the coordinates of the activations model (``neuroid_id``, ``layer``, …)
        and ``region``; ``attrs['layers_from']`` states the source of the choice of layers.

        Raises
        ------
        UserError
            If neither a task nor a recording was started, or a stimulus has no readable file.
        """
        if self._look is None:
            raise UserError(
                f"{self.identifier!r} has neither a task nor a recording",
                remedy="call start_recording(region, time_bins) or start_task(task, fitting_stimuli) before look_at",
            )
        if number_of_trials < 1:
            raise UserError(f"number_of_trials is {number_of_trials}", remedy="show each stimulus at least once")
        shown = stimuli if isinstance(stimuli, StimulusSet) else StimulusSet.from_paths(stimuli)
        return self._look(shown, number_of_trials, require_variance)

    @cached_property
    def behavior_model(self) -> BehaviorArbiter:
        """Performs the tasks."""
        of_model = self.identifier, _SubjectActivations(self, self._activations), self._readout
        return BehaviorArbiter(
            {
                BrainModel.Task.label: LabelBehavior(*of_model, readout_stimuli=self._readout_stimuli),
                BrainModel.Task.probabilities: ProbabilitiesMapping(*of_model),
                BrainModel.Task.odd_one_out: OddOneOut(*of_model, similarity=self._similarity),
            }
        )

    @property
    def do_behavior(self) -> bool:
        """Whether a task was started, so that `look_at` returns behavior; subclasses may set it."""
        return self._look == self.behavior_model.look_at

    @do_behavior.setter
    def do_behavior(self, behaves: bool) -> None:
        self._look = self.behavior_model.look_at if behaves else self._recorder()

    def committed_layers(self, benchmark: "Benchmark") -> tuple[tuple[str, ...], str]:
        """Layers of the region that a benchmark records, and their source; no layers if they are not known.

        Layers that have to be selected are selected on other stimuli than the benchmark's.
        """
        measurements = recorded_measurements(benchmark)
        if measurements is None:
            return (), ""
        region = str(measurements.recorded_region)
        if region not in self.region_layer_map.regions:
            return (), ""
        stimuli = getattr(measurements.averaged(), "stimulus_set", None)
        layers = self.region_layer_map.layers_for(region, stimuli)
        source = self.region_layer_map.source_of(region) or ""
        return tuple(layers), f"layer of {region}, {source if source.startswith('selected on') else 'committed before'}"

    def activations(
        self,
        stimuli: StimulusSet,
        layers: str | Sequence[str],
        *,
        number_of_trials: int = 1,
        require_variance: bool = False,
    ) -> NeuroidAssembly:
        """Activations of some layers, as returned by the activations model.

        Parameters
        ----------
        stimuli : StimulusSet
            Stimuli to show.
        layers : str or list of str
            Names or patterns.
        number_of_trials, require_variance
            See :meth:`BrainModel.look_at`.

        Returns
        -------
        NeuroidAssembly
            presentation × neuroid[ × time_bin].
        """
        resolved = resolve_layers(layers, layer_names(self.activations_model), identifier=self.identifier)
        return self._activations(
            stimuli, layers=resolved, number_of_trials=number_of_trials, require_variance=require_variance
        )

    def _activations(
        self, stimuli: StimulusSet, layers: Sequence[str], *, time_bins: TimeBins | None = None, **trials: Any
    ) -> NeuroidAssembly:
        self._prepare(time_bins)
        return self.activations_model(stimuli, layers=list(layers), **trials)

    def _prepare(self, time_bins: TimeBins | None) -> None:
        # before each call, since several models with different visual angles may share a network
        set_degrees = getattr(self.activations_model, "set_visual_degrees", None)
        if callable(set_degrees):
            set_degrees(self._visual_degrees)
        set_time = getattr(self.activations_model, "set_recorded_time", None)  # of networks that take clips
        if callable(set_time):
            set_time(None if time_bins is None else (min(time_bins)[0], max(end for _, end in time_bins)))

    def _recordings(
        self,
        region: str,
        time_bins: TimeBins | None,
        stimuli: StimulusSet,
        number_of_trials: int,
        require_variance: bool,
    ) -> NeuroidAssembly:
        layers = self.region_layer_map.layers_for(region, stimuli)
        when = self._time_mapping.get(region)
        steps = [] if when is None else steps_for(when, time_bins)
        if when is not None:
            layers = [layer for layer in layers if _step_of(layer) in steps]
        trials = {"number_of_trials": number_of_trials, "require_variance": require_variance}
        self._record_together(stimuli, layers, time_bins, trials)
        responses = self._activations(stimuli, layers, time_bins=time_bins, **trials)
        self._warn_of_equal_bins(responses, time_bins)
        if when is None:
            result = in_time_bins(responses, time_bins)
        else:
            at_steps = {step: _responses_at_step(responses, layers, step) for step in dict.fromkeys(steps)}
            result = steps_in_time(at_steps, steps, time_bins or [when[step] for step in steps])
        result = with_level(result, "neuroid", "region", region)
        result.attrs["layers_from"] = self.region_layer_map.source_of(region)
        note_features(result, region)
        return result

    def _warn_of_equal_bins(self, responses: NeuroidAssembly, time_bins: TimeBins | None) -> None:
        frames = responses.sizes.get("time_bin")
        if frames is None or time_bins is None or frames >= len(time_bins) or frames in self._warned_of:
            return
        self._warned_of.add(frames)
        _logger.warning(
            "%s: %d time bins are recorded from %d steps of the network, so that neighbouring time bins have equal "
            "responses; a network with a higher frame rate would distinguish them",
            self.identifier,
            len(time_bins),
            frames,
        )

    def _record_together(
        self, stimuli: StimulusSet, layers: Sequence[str], time_bins: TimeBins | None, trials: Mapping[str, Any]
    ) -> None:
        """Store these layers and those of the expected regions, from one pass."""
        extra = [layer for layer in self.region_layer_map.known_layers(self._expected) if layer not in layers]
        # for the same stimuli, everything is stored already
        bins = None if time_bins is None else tuple(time_bins)
        key = (stimuli.identifier, len(stimuli), bins, *trials.values(), *extra)
        if not extra or key in self._recorded_together:
            return
        keeps = getattr(self.activations_model, "keeps_activations", None)
        if keeps is None or not keeps():
            return
        self._prepare(time_bins)
        try:
            self.activations_model.by_layer(  # type: ignore[attr-defined] # exists if there is keeps_activations
                stimuli, [*layers, *extra], **trials
            )
        except UserError as error:  # for example, there is no space for so many layers
            _logger.info("only the layers of one region are recorded of %r: %s", self.identifier, error.message)
        self._recorded_together.add(key)

    def _select(self, region: str, stimuli: StimulusSet | None) -> tuple[list[str], str]:
        return select_layers(self, region, stimuli, commit=ModelCommitment, benchmarks=self._selection_benchmarks)

    def _recorder(self) -> Look:
        return self._record or self._refuse_passive

    def _refuse_passive(self, stimuli: StimulusSet, number_of_trials: int, require_variance: bool) -> Any:
        raise UserError(
            f"{self.identifier!r} looks passively, and nothing is recorded",
            remedy="call start_recording(region, time_bins) to record its responses",
        )


class _Recordings:
    """The recordings of a model, which subclasses and scripts for brain-score 2.x call ``layer_model``."""

    def __init__(self, model: ModelCommitment, record: Callable[[], Look]) -> None:
        self._model = model
        self._record = record

    def start_recording(self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None) -> None:
        """Record from a region, bypassing overrides in subclasses of the model."""
        ModelCommitment.start_recording(self._model, recording_target, time_bins)

    def look_at(
        self, stimuli: StimulusSet | Sequence[str | Path], number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly:
        """Recordings, also while the model does a task."""
        record = self._record()
        shown = stimuli if isinstance(stimuli, StimulusSet) else StimulusSet.from_paths(stimuli)
        recordings: NeuroidAssembly = record(shown, number_of_trials, require_variance)
        return recordings

    def __getattr__(self, name: str) -> Any:
        if name not in ("identifier", "activations_model", "region_layer_map", "visual_degrees"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._model, name)


class _SubjectActivations:
    """The activations of a model, with its own visual angle, averaged over time, for readouts of behavior."""

    def __init__(self, model: ModelCommitment, activations: Callable[..., NeuroidAssembly]) -> None:
        self._model = model
        self._activations = activations

    def __call__(self, stimuli: StimulusSet, layers: Sequence[str], **options: Any) -> NeuroidAssembly:
        activations = self._activations(stimuli, layers, **options)
        return activations.mean("time_bin") if "time_bin" in activations.dims else activations

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._model.activations_model, name)


def _checked_degrees(degrees: float, identifier: str) -> float:
    valid = isinstance(degrees, int | float | np.number) and not isinstance(degrees, bool) and 0 < degrees < np.inf
    if not valid:
        raise UserError(
            f"visual_degrees of {identifier!r} is {degrees!r}", remedy="pass a visual angle in degrees, such as 8"
        )
    return degrees


def _step_of(layer: str) -> int:
    step = time_step(layer)
    if step is None:
        raise UserError(
            f"the layer {layer!r} of a region with a time mapping has no time step",
            remedy=f"name the step, such as {layer + '-t0'!r}",
        )
    return step


def _check_steps(time_mapping: TimeMapping, region_layer_map: Mapping[str, str | Sequence[str]]) -> None:
    for region, when in time_mapping.items():
        mapped = region_layer_map.get(region, [])
        steps = {_step_of(layer) for layer in ([mapped] if isinstance(mapped, str) else mapped)}
        if missing := [step for step in when if step not in steps]:
            raise UserError(
                f"the region {region!r} has no layer for time step {', '.join(map(str, missing))}",
                remedy="map a layer of each step to the region, or remove the step from time_mapping",
            )


def _layers_in_time(
    time_mapping: TimeMapping, layers: Sequence[str], identifier: str
) -> tuple[dict[str, list[str]], str]:
    """Layers of each region, and which of them are only suggested, as text.

    Layers of a region are those with a time step and the region as a part of their name: ``'IT.output-t0'``. If no
    layer is named after a region, layers are suggested: of those that have all time steps, V1 gets the first and IT
    the last.
    """
    in_time = [layer for layer in layers if time_step(layer) is not None]
    named = {region: [layer for layer in in_time if region in layer.split(".")] for region in time_mapping}
    if {component for layer in in_time for component in layer.split(".")}.isdisjoint({*_REGIONS, *time_mapping}):
        suggested = {region: _suggested_layers(region, set(time_mapping[region]), in_time) for region in time_mapping}
        if all(suggested.values()):
            return suggested, "; ".join(f"{region}: {', '.join(of_region)}" for region, of_region in suggested.items())
    if missing := [region for region, of_region in named.items() if not of_region]:
        raise UserError(
            f"no layer of {identifier!r} is named after {', '.join(missing)} and has a time step",
            remedy="pass region_layer_map, such as {'IT': ['IT.output-t0', 'IT.output-t1']}",
        )
    return named, ""


def _suggested_layers(region: str, steps: set[int], layers: Sequence[str]) -> list[str]:
    """One layer at all these steps, as far into the network as the region is into the ventral stream."""
    by_name: dict[str, list[str]] = {}
    for layer in layers:
        if time_step(layer) in steps:
            by_name.setdefault(layer.rpartition("-t")[0], []).append(layer)
    complete = [at_steps for at_steps in by_name.values() if len(at_steps) == len(steps)]
    depth = _REGIONS.index(region) / (len(_REGIONS) - 1) if region in _REGIONS else 1
    return complete[round(depth * (len(complete) - 1))] if complete else []


def _responses_at_step(responses: NeuroidAssembly, layers: Sequence[str], step: int) -> NeuroidAssembly:
    """Responses of the layers at one time step; names of neuroids omit the step, so that they agree between steps."""
    suffix = f"-t{step}"
    of_neuroids = responses["layer"].values.astype(str)
    here = np.isin(of_neuroids, [layer for layer in layers if _step_of(layer) == step])
    at_step = responses.isel(neuroid=np.flatnonzero(here))
    coords: dict[str, Any] = {"layer": ("neuroid", [name.removesuffix(suffix) for name in at_step["layer"].values])}
    if "neuroid_id" in at_step.coords:
        ids = [str(name).replace(f"{suffix}.", ".", 1) for name in at_step["neuroid_id"].values]
        coords["neuroid_id"] = ("neuroid", ids)
    return at_step.assign_coords(coords)
