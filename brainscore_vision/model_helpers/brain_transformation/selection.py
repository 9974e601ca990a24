"""Selection of the layer for a region: the layer that predicts measurements of the region best.

Published measurements are used if available, simulated ones otherwise; all layers are recorded in one pass.
"""

import contextlib
import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.benchmarks.measurements import measurements_or_none
from brainscore_core.errors import BrainScoreError, DataUnavailable, UnknownIdentifier, UserError
from brainscore_core.files import file_digest
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Uncertainty, unclamped_value
from brainscore_core.plugins import PluginWarning
from brainscore_core.progress import track
from brainscore_core.provenance import ignoring, note, prefixing, recording
from brainscore_core.results.layer_profile import HeldOut, LayerProfile, LayerScore, read_profile, write_profile
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.model_helpers.brain_transformation.layers import ActivationsModel, layer_names, resolve_layers
from brainscore_vision.model_helpers.brain_transformation.temporal import in_time_bins
from brainscore_vision.model_interface import BrainModel

Mask = NDArray[np.bool_]
"""Which stimuli belong to a part."""

PartScorer = Callable[[NeuroidAssembly, NDArray[Any]], float]
"""Function of recordings and the stimulus ids of a part; returns the raw score."""


def recorded_measurements(benchmark: Benchmark) -> VisualMeasurements | None:
    """Measurements of a benchmark that compares recordings, or matrices made of them; None of others."""
    measurements = measurements_or_none(benchmark)
    if isinstance(measurements, VisualMeasurements) and measurements.compares in {"recordings", "matrices"}:
        return measurements
    return None


def part_scorer(benchmark: Benchmark) -> tuple[NDArray[Any], PartScorer] | None:
    """Stimulus ids of a benchmark, and a function that scores recordings on a part of them; None if not supported.

    Supported are benchmarks that compare recordings of one set of stimuli, or matrices of all pairs, by a metric. The
    function returns the raw score, before division by the ceiling.
    """
    measurements = recorded_measurements(benchmark)
    if measurements is None or measurements.metric is None or measurements.training is not None:
        return None
    metric = measurements.metric
    measured = measurements.target()
    if measured.sizes.get("time_bin") == 1:
        measured = measured.isel(time_bin=0, drop=True)
    of_stimuli = [dim for dim in measured.dims if str(dim).startswith("presentation")]  # both, of matrices
    shown = measured["stimulus_id"].values

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        recordings = in_time_bins(recordings, measurements.recorded_time_bins)
        recorded_part = recordings.isel(presentation=np.flatnonzero(np.isin(recordings["stimulus_id"].values, stimuli)))
        measured_part = measured.isel(dict.fromkeys(of_stimuli, np.flatnonzero(np.isin(shown, stimuli))))
        return float(metric(recorded_part, measured_part))

    return np.array(list(dict.fromkeys(shown)), dtype=object), score


def random_halves(number: int, times: int, seed: int) -> list[tuple[Mask, Mask]]:
    """Divide `number` stimuli into two random halves, `times` times."""
    random = np.random.RandomState(seed)  # gives the same numbers in all versions of NumPy
    halves = []
    for _ in range(times):
        first = np.zeros(number, dtype=bool)
        first[random.permutation(number)[: number // 2]] = True
        halves.append((first, ~first))
    return halves


__all__ = [
    "SELECTION_BENCHMARKS",
    "HeldOut",
    "LayerProfile",
    "LayerScore",
    "LayerScorer",
    "SelectionWarning",
    "ShowsScoredStimuli",
    "load_selection_benchmark",
    "select_layers",
    "stimulus_hashes",
]

_SIMULATED: Final = "Simulated2026-selection"

SELECTION_BENCHMARKS: Final[Mapping[str, Sequence[str]]] = {
    "V1": ("FreemanZiemba2013public.V1-pls", f"{_SIMULATED}.V1-pls"),
    "V2": ("FreemanZiemba2013public.V2-pls", f"{_SIMULATED}.V1-pls"),
    "V4": ("MajajHong2015public.V4-pls", f"{_SIMULATED}.IT-pls"),
    "IT": ("MajajHong2015public.IT-pls", "Kriegeskorte2008.IT-human-rdm", f"{_SIMULATED}.IT-pls"),
}
"""Region → benchmarks to select its layer on: the first one that is available and has other stimuli than those that
are being scored. The first of each is the published one. ``Simulated2026-selection`` has the simulated neuroids and the
noise distribution of Simulated2026, but stimuli and noise samples of its own, which no score uses; it has neither V2
nor V4, for which V1 and IT are used."""


def load_selection_benchmark(identifier: str) -> "Benchmark":
    """Load a registered benchmark, or ``Simulated2026-selection.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    UnknownIdentifier if the name is unknown.
    """
    if identifier.startswith(f"{_SIMULATED}."):
        from brainscore_vision.simulated_experiment import selection_benchmark

        return selection_benchmark(identifier)
    from brainscore_vision.registries import load_benchmark

    return load_benchmark(identifier)


_CHUNK = 1 << 26  # bytes that are hashed together
_DATA = ("data", "stimulus_set", "collection", "study")  # in receipts, they are not those of the benchmark
_ROWS = 256  # rows that are reduced together

Key = tuple[str, int, bool, tuple[float, float] | None]


class RecordingDone(BrainScoreError):
    """Ends a benchmark once the activations that it requested are recorded."""


class ShowsScoredStimuli(BrainScoreError):
    """The benchmark shows stimuli that are being scored."""


class SinglePassActivations:
    """An activations model that records all of its layers in one pass when the first layer is requested.

    Layers with more features than `components` are reduced to this number of principal components, if there are more
    stimuli. Files with a hash in `avoid` (:func:`stimulus_hashes`) must not be shown.
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
        self._time: tuple[float, float] | None = None
        self.contents: frozenset[str] = frozenset()
        self.features: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self.record_only = False

    def layers(self) -> list[str]:
        """Names of the layers."""
        return list(self._layers)

    def set_visual_degrees(self, visual_degrees: float) -> None:
        """Set the visual angle that the network's input spans."""
        set_degrees = getattr(self._activations_model, "set_visual_degrees", None)
        if callable(set_degrees):
            set_degrees(visual_degrees)

    def set_recorded_time(self, time: tuple[float, float] | None) -> None:
        """Set the time in which responses are needed, in milliseconds after the onset of a stimulus."""
        set_time = getattr(self._activations_model, "set_recorded_time", None)
        if callable(set_time):
            set_time(time)
            self._time = time

    def __call__(
        self, stimuli: StimulusSet, layers: Sequence[str], *, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly:
        """Activations of one layer.

        ShowsScoredStimuli, before anything runs, if the stimuli are among those to avoid; RecordingDone, with
        `record_only`, once all layers are recorded.
        """
        contents = stimulus_hashes(stimuli)
        if not self._avoid.isdisjoint(contents):
            raise ShowsScoredStimuli(f"{stimuli.identifier!r} has stimuli that are being scored")
        self.contents |= contents
        key = (_key_of(stimuli), number_of_trials if require_variance else 1, require_variance, self._time)
        if key not in self._seen:
            self._seen[key] = self._run(stimuli, number_of_trials, require_variance)
        if self.record_only:
            raise RecordingDone("the activations are recorded")
        (layer,) = layers
        return self._seen[key][layer]

    def latest(self, layer: str) -> NeuroidAssembly:
        """Activations of a layer for the latest stimuli."""
        return next(reversed(self._seen.values()))[layer]

    def _run(self, stimuli: StimulusSet, number_of_trials: int, require_variance: bool) -> dict[str, NeuroidAssembly]:
        options: dict[str, Any] = {"number_of_trials": number_of_trials, "require_variance": require_variance}
        by_layer = getattr(self._activations_model, "by_layer", None)
        if callable(by_layer):
            activations = by_layer(stimuli, layers=self._layers, **options)
        else:
            activations = _split(self._activations_model(stimuli, layers=self._layers, **options), self._layers)
        first = not self.digests
        for layer in self._layers:
            self.features[layer] = activations[layer].sizes["neuroid"]
            if first:
                self.digests[layer] = array_digest(activations[layer].values)
            if self._components is not None:
                activations[layer] = _reduced(activations[layer], layer, self._components)
        return activations


def stimulus_hashes(stimuli: StimulusSet) -> frozenset[str]:
    """Hashes of the stimuli's original files, before they were placed on a screen."""
    paths = stimulus_files(stimuli) if stimuli.original_paths is None else stimuli.original_paths
    return frozenset(file_digest(Path(path), "sha256") for path in set(paths.values()))


def array_digest(values: np.ndarray) -> str:
    """Hash of an array's shape, type and bytes, read in chunks."""
    digest = hashlib.sha256(f"{values.shape} {values.dtype.str}".encode())
    rows = max(1, _CHUNK // max(1, values[:1].nbytes))
    for start in range(0, len(values), rows):
        digest.update(np.ascontiguousarray(values[start : start + rows]).data)
    return digest.hexdigest()


def _key_of(stimuli: StimulusSet) -> str:
    files = stimulus_files(stimuli)
    shown = [f"{name}\0{file_digest(files[name], 'sha256')}" for name in stimuli["stimulus_id"]]
    columns = stimuli.to_csv(index=False)  # other columns are coordinates of the result
    return hashlib.sha256("\n".join([*shown, columns]).encode("utf-8", "surrogateescape")).hexdigest()


def _split(activations: NeuroidAssembly, layers: Sequence[str]) -> dict[str, NeuroidAssembly]:
    names = activations["layer"].values.astype(str)
    by_layer = {}
    for layer in layers:
        columns = np.flatnonzero(names == layer)
        contiguous = len(columns) and columns[-1] - columns[0] + 1 == len(columns)
        # a slice is not copied
        by_layer[layer] = activations.isel(neuroid=slice(columns[0], columns[-1] + 1) if contiguous else columns)
    return by_layer


def _reduced(activations: NeuroidAssembly, layer: str, components: int) -> NeuroidAssembly:
    if min(activations.sizes["presentation"], activations.sizes["neuroid"]) <= components:
        return activations
    from brainscore_core.supported_data_standards.brainio.assemblies import coords_for_dim
    from brainscore_vision.model_helpers.activations.reduction import IncrementalPCA

    dims = ["presentation", *(["time_bin"] if "time_bin" in activations.dims else []), "neuroid"]
    shown = activations.transpose(*dims).values
    values = shown.reshape(-1, shown.shape[-1])
    pca = IncrementalPCA(components)
    blocks = [slice(start, start + _ROWS) for start in range(0, len(values), _ROWS)]
    for block in blocks:
        pca.fit_batch(values[block])
    reduced = np.concatenate([pca.transform(values[block]) for block in blocks])
    coords: dict[str, Any] = {}
    for dim in dims[:-1]:
        coords |= dict(coords_for_dim(activations, dim))
    coords["neuroid_num"] = ("neuroid", np.arange(reduced.shape[1]))
    coords["layer"] = ("neuroid", np.full(reduced.shape[1], layer, dtype=object))
    coords["neuroid_id"] = ("neuroid", [f"{layer}.pc{number}" for number in range(reduced.shape[1])])
    reduced = reduced.reshape(*shown.shape[:-1], reduced.shape[1])
    return NeuroidAssembly(reduced, coords=coords, dims=dims, attrs=activations.attrs)


COMPONENTS = 1000
"""Principal components to which larger layers are reduced before selection, as published."""
_VERSION = 1  # increase it whenever scores change for the same measurements and activations
_logger = logging.getLogger(__name__)


class SelectionWarning(PluginWarning):
    """Layers were selected on measurements other than the published ones."""


class LayerScorer:
    """Scores every layer of a network on a benchmark, as the only layer of a model that `commit` makes.

    :class:`~brainscore_vision.model_helpers.brain_transformation.neural.LayerSelection` describes the parameters.
    """

    def __init__(
        self,
        model_identifier: str,
        activations_model: ActivationsModel,
        layers: Sequence[str],
        visual_degrees: float,
        *,
        commit: Callable[..., BrainModel],
        components: int | None = COMPONENTS,
    ) -> None:
        self.model_identifier = model_identifier
        self.layers = resolve_layers(layers, layer_names(activations_model), identifier=model_identifier)
        self._activations_model = activations_model
        self._visual_degrees = visual_degrees
        self._components = components
        self._commit = commit

    def __call__(self, benchmark: "Benchmark") -> str:
        """Select the layer with the highest score.

        A UserError if no layer has a score.
        """
        return _best(self.profile(benchmark))

    def profile(
        self, benchmark: "Benchmark", *, halves: int = 0, seed: int = 0, avoid: frozenset[str] = frozenset()
    ) -> LayerProfile:
        """Score all layers.

        Each layer in turn is recorded, or used as the readout layer for behavior; its score is NaN with a reason if the
        metric cannot score it. `halves` are random divisions of the stimuli into two halves, so that the choice on one
        half is scored on the other (:attr:`LayerProfile.held_out`); they cost 2 × `halves` more scores per layer.
        ShowsScoredStimuli, before anything runs, if the benchmark shows stimuli whose file has a SHA-256 in `avoid`;
        NotApplicable if the model cannot do what the benchmark requires.
        """
        return self.profile_with_contents(benchmark, halves=halves, seed=seed, avoid=avoid)[0]

    def profile_with_contents(
        self, benchmark: "Benchmark", *, halves: int, seed: int, avoid: frozenset[str]
    ) -> tuple[LayerProfile, frozenset[str]]:
        """The profile, and hashes of the stimuli that were shown."""
        recorder = SinglePassActivations(self._activations_model, self.layers, components=self._components, avoid=avoid)
        recorder.record_only = True
        with contextlib.suppress(RecordingDone):
            benchmark(self._subject(recorder, self.layers[0], benchmark))
        recorder.record_only = False
        parts = part_scorer(benchmark) if halves else None
        key = self._key(benchmark, recorder, halves if parts else 0, seed)
        stored = read_profile(key)
        note("cache", store="layers", key=key, hit=stored is not None)
        if stored is not None:  # a model of another name may have the same activations
            return replace(stored, model=self.model_identifier), recorder.contents
        divisions = random_halves(len(parts[0]), halves, seed) if parts else []
        layers = track(self.layers, f"layers on {benchmark.identifier}", len(self.layers), unit="layers")
        scores = [self._score(benchmark, recorder, layer, parts, divisions) for layer in layers]
        profile = LayerProfile(
            model=self.model_identifier,
            benchmark=benchmark.identifier,
            version=str(benchmark.version),
            control=bool(getattr(benchmark, "control", False)),
            visual_degrees=float(self._visual_degrees),
            stimuli=len(recorder.contents),
            ceiling=next((ceiling for _, ceiling in scores if np.isfinite(ceiling)), np.nan),
            components=self._components,
            scores=tuple(score for score, _ in scores),
            no_halves=None
            if parts or not halves
            else f"{benchmark.identifier} cannot be scored on part of its stimuli",
        )
        write_profile(key, profile)
        return profile, recorder.contents

    def _score(
        self,
        benchmark: "Benchmark",
        recorder: SinglePassActivations,
        layer: str,
        parts: tuple[NDArray[Any], PartScorer] | None,
        divisions: list[tuple[Mask, Mask]],
    ) -> tuple[LayerScore, float]:
        """Score of one layer, on all stimuli and on halves of them, and the ceiling; NaN if it has no score."""
        features, halves = recorder.features[layer], []
        try:
            score = benchmark(self._subject(recorder, layer, benchmark))
            if parts is not None:
                stimuli, score_part = parts
                recordings = recorder.latest(layer)
                halves = [
                    (score_part(recordings, stimuli[first]), score_part(recordings, stimuli[second]))
                    for first, second in divisions
                ]
        except MetricInputError as error:  # such as fewer features than the regression has components
            undefined = ((np.nan, np.nan),) * len(divisions)
            no_score = np.nan, np.nan, (np.nan, np.nan), np.nan
            return LayerScore(layer, features, *no_score, undefined, str(error.message)), np.nan
        uncertainty = Uncertainty.of(score)
        layer_score = LayerScore(
            layer=layer,
            features=features,
            score=unclamped_value(score),
            error=uncertainty.standard_error,
            ci=uncertainty.unclamped_limits,
            raw=_float(score.attrs.get("raw")),
            halves=tuple(halves),
        )
        return layer_score, _float(score.attrs.get("ceiling"))

    def _subject(self, recorder: SinglePassActivations, layer: str, benchmark: "Benchmark") -> BrainModel:
        # the region of a benchmark may not be a member of BrainModel.RecordingTarget
        region: Any = getattr(benchmark, "region", None)
        regions = [*map(str, BrainModel.RecordingTarget), *([] if region is None else [str(region)])]
        return self._commit(
            f"{self.model_identifier}.{layer}",
            recorder,
            [layer],
            region_layer_map=dict.fromkeys(regions, layer),
            visual_degrees=self._visual_degrees,
        )

    def _key(self, benchmark: "Benchmark", recorder: SinglePassActivations, halves: int, seed: int) -> str:
        from importlib.metadata import version

        key_fields = {
            "version": [_VERSION, version("brainscore")],
            "benchmark": [benchmark.identifier, str(benchmark.version), type(benchmark).__qualname__],
            "measured": _measured_digest(benchmark),
            "activations": [[layer, recorder.digests[layer]] for layer in self.layers],
            "visual_degrees": float(self._visual_degrees),
            "components": self._components,
            "halves": [halves, seed],
        }
        return hashlib.sha256(json.dumps(key_fields, sort_keys=True).encode()).hexdigest()


class SelectedLayer(NamedTuple):
    """A selection: the profile, the hashes of its stimuli, and its notes."""

    profile: LayerProfile
    contents: frozenset[str]
    notes: list[dict[str, Any]]


class SelectableModel(Protocol):
    """What the selection needs of a model; `selected` are earlier selections, by region and benchmark."""

    activations_model: ActivationsModel
    layers: list[str]
    selected: dict[tuple[str, str], SelectedLayer]

    @property
    def identifier(self) -> str: ...

    def visual_degrees(self) -> float: ...


def select_layers(
    model: SelectableModel,
    region: str,
    stimuli: StimulusSet | None,
    *,
    commit: Callable[..., BrainModel],
    benchmarks: "Mapping[str, Sequence[str | Benchmark]] | None" = None,
) -> tuple[list[str], str]:
    """Select the layer of a region; also return a description of what it was selected on.

    The first benchmark is used whose measurements are available and whose stimuli are not among `stimuli`.

    `stimuli` are being shown, and therefore scored: the selection must not use measurements of them. `commit` makes a
    model of a layer, as ``ModelCommitment`` does. `benchmarks` map regions to benchmarks to select on; by default, and
    for other regions, :data:`SELECTION_BENCHMARKS`. Selections are kept in ``model.selected``. A UserError if there is
    no benchmark to select on.
    """
    candidates = [*((benchmarks or {}).get(region) or SELECTION_BENCHMARKS.get(region, ()))]
    avoid = frozenset() if stimuli is None else stimulus_hashes(stimuli)
    selection = LayerScorer(
        model.identifier, model.activations_model, model.layers, model.visual_degrees(), commit=commit
    )
    skipped = []
    for candidate in candidates:
        name = candidate if isinstance(candidate, str) else candidate.identifier
        selected = model.selected.get((region, name))
        if selected is not None and avoid.isdisjoint(selected.contents):
            for item in selected.notes:  # apply to every score that depends on the selection
                note(**item)
            return [_best(selected.profile)], f"selected on {name}"
        try:
            # features of a layer that is tried are not those of the model
            with ignoring("features"), prefixing("selection", *_DATA), recording() as record:
                benchmark = load_selection_benchmark(candidate) if isinstance(candidate, str) else candidate
                profile, contents = selection.profile_with_contents(benchmark, halves=0, seed=0, avoid=avoid)
        except UnknownIdentifier:
            skipped.append(f"{name} is not registered")
        except DataUnavailable:
            skipped.append(f"the data of {name} are not available")
        except ShowsScoredStimuli:
            skipped.append(f"{name} has stimuli that are being scored")
        else:
            layer = _best(profile)
            with recording() as announcement:
                _announce(model.identifier, region, layer, profile, skipped)
            notes = [item for item in (*record.items, *announcement.items) if item["kind"] not in ("cache", "time")]
            model.selected[(region, name)] = SelectedLayer(profile, contents, notes)
            return [layer], f"selected on {name}"
    raise UserError(
        f"no layer of {model.identifier!r} can be selected for {region}: " + ("; ".join(skipped) or "no benchmark"),
        remedy="pass region_layer_map, or other selection_benchmarks",
    )


def _announce(model: str, region: str, layer: str, profile: LayerProfile, skipped: list[str]) -> None:
    simulated = " (simulated measurements)" if profile.control else ""
    text = f"{model}: layer {layer!r} was selected for {region} on {profile.benchmark}{simulated}"
    if skipped:
        text += f", since {'; '.join(skipped)}"
    note("remark", text=text)
    if skipped:
        warnings.warn(text, SelectionWarning, stacklevel=2)
    else:
        _logger.info("%s", text)


def _best(profile: LayerProfile) -> str:
    if profile.best is None:
        raise UserError(
            f"no layer of {profile.model!r} has a score on {profile.benchmark}", remedy="pass region_layer_map"
        )
    return profile.best


def _float(value: Any) -> float:
    return float(value) if value is not None and np.size(value) == 1 else np.nan


def _measured_digest(benchmark: Any) -> str | None:
    measurements = measurements_or_none(benchmark)
    values = getattr(None if measurements is None else measurements.averaged(), "values", None)
    if not isinstance(values, np.ndarray):
        return None
    if values.dtype == object:
        values = values.astype(str)
    return array_digest(values)
