"""Selection of the layer for a region: the one that predicts measurements of it best.

Published measurements are used if they can be reached, simulated ones otherwise; all layers are run in one pass.
"""

import contextlib
import hashlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from brainscore_core.errors import BrainScoreError, DataUnavailable, UnknownIdentifier, UserError
from brainscore_core.files import file_digest, replacing
from brainscore_core.metrics import Score
from brainscore_core.plugins import PluginWarning
from brainscore_core.provenance import note, recording
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import stimulus_files
from brainscore_vision.metric_helpers.alignment import MetricInputError
from brainscore_vision.model_helpers.brain_transformation.layer_profile import (
    HeldOut,
    LayerProfile,
    LayerScore,
    half_scores,
    part_scorer,
    random_halves,
    read_profile,
    write_profile,
)
from brainscore_vision.model_helpers.brain_transformation.layers import ActivationsModel, layer_names, resolve_layers
from brainscore_vision.model_interface import BrainModel

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment

__all__ = [
    "SELECTION_BENCHMARKS",
    "HeldOut",
    "LayerProfile",
    "LayerScore",
    "LayerSelection",
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
"""Region → benchmarks on which its layer is selected: the first that can be reached and has other stimuli than those
that are scored. The first of each is the published one. ``Simulated2026-selection`` has the simulated neuroids of
Simulated2026 and its noise, but stimuli and noise of its own, which nothing is scored on; it has neither V2 nor V4, for
which V1 and IT stand in."""

_EXEMPLARS = range(200, 230)  # Simulated2026 shows 0 to 99, and its neuroids' prototypes are 100 to 103
_STREAMS = {"V1": 11, "IT": 12}


def load_selection_benchmark(identifier: str) -> "Benchmark":
    """A registered benchmark, or one of ``Simulated2026-selection``: ``.V1`` or ``.IT`` with ``-pls`` or ``-rdm``.

    Raises
    ------
    UnknownIdentifier
        If there is none of that name.
    """
    if identifier.startswith(f"{_SIMULATED}."):
        region, _, metric = identifier.removeprefix(f"{_SIMULATED}.").partition("-")
        return _simulated(region, metric)
    from brainscore_vision import load_benchmark

    return load_benchmark(identifier)


def _simulated(region: str, metric: str) -> "Benchmark":
    from brainscore_vision import load_ceiling, load_metric
    from brainscore_vision.benchmark_helpers.neural_common import average_repetition
    from brainscore_vision.benchmarks.simulated2026.benchmark import ControlBenchmark
    from brainscore_vision.benchmarks.simulated2026.ceiling import SplitHalfRDM
    from brainscore_vision.data.simulated2026.responses import REPETITIONS
    from brainscore_vision.data.simulated2026.stimuli import VISUAL_DEGREES

    if region not in _STREAMS or metric not in ("pls", "rdm"):
        raise UnknownIdentifier(
            f"there is no benchmark {_SIMULATED}.{region}-{metric}",
            remedy=f"there are {', '.join(f'{_SIMULATED}.{known}-pls and -rdm' for known in _STREAMS)}",
        )
    measured = _measured(region, _stimuli())
    ceiling = load_ceiling("internal_consistency") if metric == "pls" else SplitHalfRDM()
    return ControlBenchmark(
        identifier=f"{_SIMULATED}.{region}-{metric}",
        version=1,
        assembly=average_repetition(measured),
        similarity_metric=load_metric(metric),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=REPETITIONS,
        ceiling_func=lambda: ceiling(measured),
        parent="control",
    )


def _stimuli() -> "StimulusSet":
    from PIL import Image

    from brainscore_vision.data.simulated2026.stimuli import CATEGORIES, draw

    folder = Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute()
    folder = folder / "simulated2026" / "selection-v1"
    rows, paths = [], {}
    for category in CATEGORIES:
        for number in _EXEMPLARS:
            name = f"{category}_{number}"
            paths[name] = folder / f"{name}.png"
            if not paths[name].exists():
                with replacing(paths[name]) as stream:
                    Image.fromarray(draw(category, number)).save(stream, format="PNG")
            rows.append({"stimulus_id": name, "object_name": category, "image_label": category})
    stimuli = StimulusSet(rows)
    stimuli.stimulus_paths = paths
    stimuli.identifier = _SIMULATED
    return stimuli


def _measured(region: str, stimuli: "StimulusSet") -> "NeuroidAssembly":
    from brainscore_vision.data.simulated2026.encoding import EncodingModel
    from brainscore_vision.data.simulated2026.responses import simulate
    from brainscore_vision.model_helpers.images import load_grey

    model = EncodingModel()
    energies = np.stack([model.energies(load_grey(stimuli.get_stimulus(name))) for name in stimuli["stimulus_id"]])
    simulation = simulate(model.v1(energies) if region == "V1" else model.it(energies), stream=_STREAMS[region])
    repetitions, shown, neuroids = simulation.responses.shape
    coords: dict[str, Any] = {
        name: ("presentation", np.tile(stimuli[name].to_numpy(), repetitions)) for name in stimuli.columns
    }
    coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), shown))
    coords["neuroid_id"] = ("neuroid", [f"{region}.{number}" for number in range(neuroids)])
    coords["region"] = ("neuroid", [region] * neuroids)
    measured = NeuroidAssembly(
        simulation.responses.reshape(-1, neuroids), coords=coords, dims=["presentation", "neuroid"]
    )
    measured.attrs |= {"identifier": _SIMULATED, "stimulus_set_identifier": _SIMULATED, "stimulus_set": stimuli}
    return measured


_CHUNK = 1 << 26  # bytes that are hashed at once
_ROWS = 256  # that are reduced at once

Key = tuple[str, int, bool]


class RecordingDone(BrainScoreError):
    """Ends a benchmark when the activations that it asked for are there."""


class ShowsScoredStimuli(BrainScoreError):
    """The benchmark shows stimuli that must not be seen."""


class SinglePassActivations:
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
        Hashes of files (:func:`stimulus_hashes`) that must not be shown.
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
        contents = stimulus_hashes(stimuli)
        if not self._avoid.isdisjoint(contents):
            raise ShowsScoredStimuli(f"{stimuli.identifier!r} has stimuli that are being scored")
        self.contents |= contents
        key = (_key_of(stimuli), number_of_trials if require_variance else 1, require_variance)
        if key not in self._seen:
            self._seen[key] = self._run(stimuli, number_of_trials, require_variance)
        if self.only_record:
            raise RecordingDone("the activations are recorded")
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
                self.digests[layer] = array_digest(found[layer].values)
            if self._components is not None:
                found[layer] = _reduced(found[layer], layer, self._components)
        return found


def stimulus_hashes(stimuli: StimulusSet) -> frozenset[str]:
    """Hashes of the stimuli's files, as they were before they were placed on a screen."""
    original = stimuli.__dict__.get("original_paths")
    paths = stimulus_files(stimuli) if original is None else original
    return frozenset(file_digest(path, "sha256") for path in set(paths.values()))


def array_digest(values: np.ndarray) -> str:
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


COMPONENTS = 1000
"""Principal components to which larger layers are reduced before selection, as published."""
_VERSION = 1  # raise it whenever the same measurements and activations give other scores
_logger = logging.getLogger(__name__)


class SelectionWarning(PluginWarning):
    """Layers were selected on other measurements than the published ones."""


class LayerSelection:
    """Scores every layer of a network on a benchmark.

    All layers run in one pass. Profiles are kept in ``$BRAINSCORE_HOME/layers`` under a hash of the activations
    themselves, the measurements, the benchmark's version and the settings, so that nothing that changed returns an old
    one.

    Parameters
    ----------
    model_identifier : str
        Name of the model.
    activations_model : callable
        See :class:`ModelCommitment`.
    layers : sequence of str
        Layers to score; names or patterns.
    visual_degrees : float
        Visual angle that the model's input spans.
    components : int, optional
        Principal components to which layers of more features are reduced where there are more stimuli than that; they
        are computed from the layer's responses to the benchmark's stimuli, never from measurements. None: as they are.

    Examples
    --------
    >>> selection = LayerSelection("alexnet", activations_model, ["features.2", "features.12"])  # doctest: +SKIP
    >>> profile = selection.profile(load_benchmark("Kriegeskorte2008.IT-human-rdm"), halves=10)  # doctest: +SKIP
    >>> profile.best, profile.held_out.value  # doctest: +SKIP
    ('features.12', 0.21)
    """

    def __init__(
        self,
        model_identifier: str,
        activations_model: ActivationsModel,
        layers: Sequence[str],
        visual_degrees: float = 8,
        *,
        components: int | None = COMPONENTS,
    ) -> None:
        self.model_identifier = model_identifier
        self.layers = resolve_layers(layers, layer_names(activations_model), identifier=model_identifier)
        self._activations_model = activations_model
        self._visual_degrees = visual_degrees
        self._components = components

    def __call__(self, benchmark: "Benchmark") -> str:
        """The layer with the highest score.

        Raises
        ------
        UserError
            If no layer has a score.
        """
        return _best(self.profile(benchmark))

    def profile(
        self, benchmark: "Benchmark", *, halves: int = 0, seed: int = 0, avoid: frozenset[str] = frozenset()
    ) -> LayerProfile:
        """Score all layers.

        Parameters
        ----------
        benchmark : Benchmark
            On what. Recordings are from each layer in turn; behaviour is read out of each layer in turn.
        halves : int
            How often the stimuli are divided at random into two halves, so that the choice on one half is scored on
            the other (:attr:`LayerProfile.held_out`); it costs 2 × `halves` more scores a layer.
        seed : int
            Of the divisions.
        avoid : frozenset of str
            SHA-256 hashes of stimulus files that the benchmark must not show.

        Returns
        -------
        LayerProfile
            Scores in the order of the layers; NaN with a reason for layers that the metric cannot score.

        Raises
        ------
        SeesScored
            If the benchmark shows what it must not; nothing ran then.
        NotApplicable
            If the model cannot do what the benchmark asks.
        """
        return self._profile(benchmark, halves=halves, seed=seed, avoid=avoid)[0]

    def _profile(
        self, benchmark: "Benchmark", *, halves: int, seed: int, avoid: frozenset[str]
    ) -> tuple[LayerProfile, frozenset[str]]:
        """The profile, and hashes of the stimuli that were shown."""
        recorder = SinglePassActivations(self._activations_model, self.layers, components=self._components, avoid=avoid)
        recorder.only_record = True
        with contextlib.suppress(RecordingDone):
            benchmark(self._subject(recorder, self.layers[0], benchmark))
        recorder.only_record = False
        parts = part_scorer(benchmark) if halves else None
        key = self._key(benchmark, recorder, halves if parts else 0, seed)
        kept = read_profile(key)
        note("cache", store="layers", key=key, hit=kept is not None)
        if kept is not None:  # the same activations may be those of a model of another name
            return replace(kept, model=self.model_identifier), recorder.contents
        divisions = random_halves(len(parts[0]), halves, seed) if parts else []
        scores, ceiling = [], np.nan
        for layer in _progress(self.layers, f"{self.model_identifier} on {benchmark.identifier}"):
            try:
                score = benchmark(self._subject(recorder, layer, benchmark))
                each = half_scores(parts[0], parts[1], recorder.last(layer), divisions) if parts else []
            except MetricInputError as error:  # such as fewer features than the regression has components
                scores.append(_undefined(layer, recorder.features[layer], str(error.message), len(divisions)))
                continue
            ceiling = _float(score.attrs.get("ceiling"))
            scores.append(_layer_score(layer, recorder.features[layer], score, each))
        profile = LayerProfile(
            model=self.model_identifier,
            benchmark=benchmark.identifier,
            version=str(benchmark.version),
            control=bool(getattr(benchmark, "control", False)),
            visual_degrees=float(self._visual_degrees),
            stimuli=len(recorder.contents),
            ceiling=ceiling,
            components=self._components,
            scores=tuple(scores),
            no_halves=None
            if parts or not halves
            else f"{benchmark.identifier} cannot be scored on part of its stimuli",
        )
        write_profile(key, profile)
        return profile, recorder.contents

    def _subject(self, recorder: SinglePassActivations, layer: str, benchmark: "Benchmark") -> BrainModel:
        from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment

        regions = [*map(str, BrainModel.RecordingTarget), *_region_of(benchmark)]
        return ModelCommitment(
            f"{self.model_identifier}.{layer}",
            recorder,
            [layer],
            region_layer_map=dict.fromkeys(regions, layer),
            visual_degrees=self._visual_degrees,
        )

    def _key(self, benchmark: "Benchmark", recorder: SinglePassActivations, halves: int, seed: int) -> str:
        from importlib.metadata import version

        parts = {
            "version": [_VERSION, version("brainscore")],
            "benchmark": [benchmark.identifier, str(benchmark.version), type(benchmark).__qualname__],
            "measured": _measured_digest(benchmark),
            "activations": [[layer, recorder.digests[layer]] for layer in self.layers],
            "visual_degrees": float(self._visual_degrees),
            "components": self._components,
            "halves": [halves, seed],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class SelectedLayer(NamedTuple):
    """A choice that was made: the profile, the contents of its stimuli, and what was noted of it."""

    profile: LayerProfile
    contents: frozenset[str]
    notes: list[dict[str, Any]]


def select_layers(
    subject: "ModelCommitment",
    region: str,
    stimuli: StimulusSet | None,
    *,
    benchmarks: "Mapping[str, Sequence[str | Benchmark]] | None" = None,
) -> tuple[list[str], str]:
    """Layer of a region, and where the choice is from.

    The first benchmark counts whose measurements can be reached and whose stimuli are not among `stimuli`.

    Parameters
    ----------
    subject : ModelCommitment
        The model.
    region : str
        The region.
    stimuli : StimulusSet, optional
        What is being shown, and therefore scored: the choice must not have seen measurements of it.
    benchmarks : mapping of str to sequence of (str or Benchmark), optional
        Region → what to select on; those that are left out: :data:`SELECTION_BENCHMARKS`.

    Raises
    ------
    UserError
        If there is nothing to select on.
    """
    candidates = [*((benchmarks or {}).get(region) or SELECTION_BENCHMARKS.get(region, ()))]
    avoid = frozenset() if stimuli is None else stimulus_hashes(stimuli)
    selection = LayerSelection(
        subject.identifier, subject.activations_model, subject.layers, visual_degrees=subject.visual_degrees()
    )
    passed_over = []
    for candidate in candidates:
        name = candidate if isinstance(candidate, str) else candidate.identifier
        known = subject.selected.get((region, name))
        if known is not None and avoid.isdisjoint(known.contents):
            for item in known.notes:  # hold for every score that rests on the choice
                note(**item)
            return [_best(known.profile)], f"selected on {name}"
        try:
            with recording() as record:
                benchmark = load_selection_benchmark(candidate) if isinstance(candidate, str) else candidate
                profile, contents = selection._profile(benchmark, halves=0, seed=0, avoid=avoid)
        except UnknownIdentifier:
            passed_over.append(f"{name} is not registered")
        except DataUnavailable:
            passed_over.append(f"the data of {name} cannot be reached")
        except ShowsScoredStimuli:
            passed_over.append(f"{name} has stimuli that are being scored")
        else:
            layer = _best(profile)
            with recording() as said:
                _announce(subject.identifier, region, layer, profile, passed_over)
            notes = [item for item in (*record.items, *said.items) if item["kind"] not in ("cache", "time")]
            subject.selected[(region, name)] = SelectedLayer(profile, contents, notes)
            return [layer], f"selected on {name}"
    raise UserError(
        f"no layer of {subject.identifier!r} can be selected for {region}: "
        + ("; ".join(passed_over) or "no benchmark"),
        remedy="pass region_layer_map, or other selection_benchmarks",
    )


def _announce(model: str, region: str, layer: str, profile: LayerProfile, passed_over: list[str]) -> None:
    simulated = " (simulated measurements)" if profile.control else ""
    text = f"{model}: layer {layer!r} was selected for {region} on {profile.benchmark}{simulated}"
    if passed_over:
        text += f", since {'; '.join(passed_over)}"
    note("remark", text=text)
    if passed_over:
        warnings.warn(text, SelectionWarning, stacklevel=2)
    else:
        _logger.info("%s", text)


def _progress(layers: Sequence[str], what: str) -> Iterable[str]:
    """Go through `layers`; how far it is, is shown in a terminal only."""
    if len(layers) < 2 or not sys.stderr.isatty():
        return layers
    from rich.console import Console
    from rich.progress import track

    return track(layers, description=what, console=Console(stderr=True), transient=True)


def _best(profile: LayerProfile) -> str:
    if profile.best is None:
        raise UserError(
            f"no layer of {profile.model!r} has a score on {profile.benchmark}", remedy="pass region_layer_map"
        )
    return profile.best


def _layer_score(layer: str, features: int, score: Score, halves: list[list[float]]) -> LayerScore:
    low, high = score.attrs.get("unclamped_ci", score.attrs.get("ci", (np.nan, np.nan)))
    return LayerScore(
        layer=layer,
        features=features,
        score=_float(score.attrs.get("unclamped", score)),
        error=_float(score.attrs.get("error")),
        ci=(_float(low), _float(high)),
        raw=_float(score.attrs.get("raw")),
        halves=tuple((one, other) for one, other in halves),
    )


def _undefined(layer: str, features: int, reason: str, divisions: int) -> LayerScore:
    nothing = ((np.nan, np.nan),) * divisions
    return LayerScore(layer, features, np.nan, np.nan, (np.nan, np.nan), np.nan, nothing, reason)


def _float(value: Any) -> float:
    return float(value) if value is not None and np.size(value) == 1 else np.nan


def _region_of(benchmark: Any) -> list[str]:
    """The region of a benchmark that records from one that is not among the usual ones."""
    region = getattr(benchmark, "region", None)
    return [str(region)] if region is not None else []


def _measured_digest(benchmark: Any) -> str | None:
    measured = getattr(benchmark, "_assembly", None)
    values = getattr(measured, "values", None)
    if not isinstance(values, np.ndarray):
        return None
    if values.dtype == object:
        values = values.astype(str)
    return array_digest(values)
