"""Which layer stands for a region: the one that predicts measurements of it best."""

import contextlib
import hashlib
import json
import logging
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainscore_core.errors import DataUnavailable, UnknownIdentifier, UserError
from brainscore_core.metrics import Score
from brainscore_core.plugins import PluginWarning
from brainscore_core.provenance import note, recording
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.metric_helpers.alignment import MetricInputError
from brainscore_vision.model_helpers.brain_transformation._activations import (
    ActivationsModel,
    layer_names,
    resolve_layers,
)
from brainscore_vision.model_helpers.brain_transformation._halves import half_scores, halves_of, part_scorer
from brainscore_vision.model_helpers.brain_transformation._one_pass import (
    OnePass,
    Recorded,
    SeesScored,
    contents_of,
    digest_of,
)
from brainscore_vision.model_helpers.brain_transformation._profile import (
    HeldOut,
    LayerProfile,
    LayerScore,
    read_profile,
    write_profile,
)
from brainscore_vision.model_helpers.brain_transformation._selection_data import (
    SELECTION_BENCHMARKS,
    load_selection_benchmark,
)
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
    "select_layers",
]

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
        recorder = OnePass(self._activations_model, self.layers, components=self._components, avoid=avoid)
        recorder.only_record = True
        with contextlib.suppress(Recorded):
            benchmark(self._subject(recorder, self.layers[0], benchmark))
        recorder.only_record = False
        parts = part_scorer(benchmark) if halves else None
        key = self._key(benchmark, recorder, halves if parts else 0, seed)
        kept = read_profile(key)
        note("cache", store="layers", key=key, hit=kept is not None)
        if kept is not None:  # the same activations may be those of a model of another name
            return replace(kept, model=self.model_identifier), recorder.contents
        divisions = halves_of(len(parts[0]), halves, seed) if parts else []
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

    def _subject(self, recorder: OnePass, layer: str, benchmark: "Benchmark") -> BrainModel:
        from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment

        regions = [*map(str, BrainModel.RecordingTarget), *_region_of(benchmark)]
        return ModelCommitment(
            f"{self.model_identifier}.{layer}",
            recorder,
            [layer],
            region_layer_map=dict.fromkeys(regions, layer),
            visual_degrees=self._visual_degrees,
        )

    def _key(self, benchmark: "Benchmark", recorder: OnePass, halves: int, seed: int) -> str:
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


class Selected(NamedTuple):
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
    avoid = frozenset() if stimuli is None else contents_of(stimuli)
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
        except SeesScored:
            passed_over.append(f"{name} has stimuli that are being scored")
        else:
            layer = _best(profile)
            with recording() as said:
                _announce(subject.identifier, region, layer, profile, passed_over)
            notes = [item for item in (*record.items, *said.items) if item["kind"] not in ("cache", "time")]
            subject.selected[(region, name)] = Selected(profile, contents, notes)
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
    return digest_of(values)
