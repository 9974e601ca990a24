"""Checks of models of vision, what `brainscore info` shows of them, and how scores depend on their visual angle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from brainscore_core import plugins
from brainscore_core.errors import BrainScoreError, NotApplicable
from brainscore_core.formatting import number_text
from brainscore_core.plugins import Check
from brainscore_core.progress import stage
from brainscore_core.receipts.receipt import ScoreAtAngle
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_helpers.activations.preprocessing import describe_preprocessing
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.simulated_experiment import CATEGORIES, draw


def check_model(make: Callable[[], Any]) -> tuple[Check, ...]:
    """Check a model: what `brainscore_core.plugins.check_model` requires, its output and its visual angle."""
    model = make()
    checks = plugins.check_model(model, raise_errors=False)
    describe = getattr(getattr(model, "activations_model", None), "describe_layers", None)
    if callable(describe) and any(check.name == "task label" and check.result == "passed" for check in checks):
        checks = (*checks, Check("labels are chosen from", "passed", describe(["logits"])[-1]))
    return (*checks, _check_visual_angle(model, checks))


def _check_visual_angle(model: Any, checks: Iterable[Check]) -> Check:
    """Whether a model states its visual angle; if not, how much its responses depend on it."""
    name = "it states its visual angle"
    if getattr(model, "states_visual_degrees", True):
        return Check(name, "passed")
    explanation = f"{model.visual_degrees():g}° is taken by default, and scores depend on it"
    if not any(check.result == "failed" for check in checks):
        explanation += f": {dependence_in_words(model)}"
    remedy = "pass visual_degrees, the angle that its input spans: docs/visual_angle.md says how to choose it"
    return Check(name, "warning", explanation, remedy)


def model_details(model: Any, *, registered: bool) -> dict[str, Any]:
    """Visual angle, layers, preprocessing, and what is recorded of each layer.

    `registered`: whether a plugin registers the model: the layers of others were found automatically, and are shown.
    """
    details: dict[str, Any] = {"visual_degrees": model.visual_degrees()}
    if not registered:
        details["regions"] = dict(getattr(model, "region_layer_map", {})) or "a layer is selected for each"
        details |= {"layers": list(getattr(model, "layers", [])), "remarks": list(getattr(model, "remarks", []))}
    network: Any = getattr(model, "activations_model", None)
    if hasattr(network, "preprocessing"):
        details["preprocessing"] = describe_preprocessing(network.preprocessing)
    if hasattr(network, "describe_layers"):
        details["recorded"] = network.describe_layers(list(getattr(model, "layers", [])))
    return details


FACTORS = (0.5, 2.0)
"""Other angles, relative to the model's."""

_TIME_BIN = (70, 170)


@BrainModel.register
class ModelAtAngle:
    """A model whose input is taken to span another visual angle; all else is the model's.

    Its layers stay those that were chosen at the model's own angle. Eye movements, of 0.05° at most, have the size in
    pixels that they have at this angle.

    `degrees`: visual angle of its input.

    Examples
    --------
    >>> from brainscore_vision import load_model
    >>> ModelAtAngle(load_model("pixels"), 4).visual_degrees()
    4
    """

    states_visual_degrees = True

    def __init__(self, model: Any, degrees: float) -> None:
        self._model = model
        self._degrees = degrees

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._model, name)

    def visual_degrees(self) -> float:
        """The other angle, in degrees."""
        return self._degrees


def scores_at_other_angles(model: Any, benchmark: Callable[[Any], Any]) -> Iterator[ScoreAtAngle]:
    """Score a model at half and double its visual angle.

    An angle at which the benchmark cannot show its stimuli has no score, but a reason.
    """
    for degrees in (factor * float(model.visual_degrees()) for factor in FACTORS):
        with stage(f"score at {degrees:g}°"):
            try:
                value = float(benchmark(ModelAtAngle(model, degrees)))
            except BrainScoreError as error:
                yield ScoreAtAngle(degrees=degrees, value=None, reason=str(error))
                continue
        undefined = math.isnan(value)
        reason = "the benchmark returned NaN" if undefined else None
        yield ScoreAtAngle(degrees=degrees, value=None if undefined else value, reason=reason)


def dependence_in_words(model: BrainModel) -> str:
    """Describe how a model's responses to 16 drawn pictures change at half and double its visual angle.

    The pictures span the angle of the model. RDMs are of the last region that it has, with correlation distance.
    """
    at_own = float(model.visual_degrees())
    region = next((name for name in reversed(BrainModel.RecordingTarget) if _can_record(model, name)), None)
    with TemporaryDirectory() as folder:
        pictures = _pictures(Path(folder))
        own_rdm = None if region is None else _rdm(model, region, pictures)
        own_labels = _labels(model, pictures)
        sentences = []
        for degrees in (factor * at_own for factor in FACTORS):
            other = ModelAtAngle(model, degrees)
            shown = place_on_screen(pictures, target_visual_degrees=degrees, source_visual_degrees=at_own)
            words = []
            if own_rdm is not None:
                with np.errstate(invalid="ignore"):
                    correlation = np.corrcoef(own_rdm, _rdm(other, region, shown))[0, 1]
                is_defined = bool(np.isfinite(correlation))
                words.append(
                    f"the RDM of {region} correlates {number_text(correlation, 2)} with that at {at_own:g}°"
                    if is_defined
                    else f"the RDM of {region} is undefined, since features do not vary or are not finite"
                )
            if own_labels is not None:
                words.append(f"{np.sum(own_labels != _labels(other, shown))} of {len(shown)} labels differ")
            sentences.append(f"at {degrees:g}°, {' and '.join(words)}" if words else "")
    return "; ".join(filter(None, sentences))


def _pictures(folder: Path) -> StimulusSet:
    paths: dict[str, str | Path] = {}
    for category, number in product(CATEGORIES, (0, 1)):
        name = f"{category}-{number}"
        paths[name] = folder / f"{name}.png"
        Image.fromarray(draw(category, number)).save(paths[name])
    pictures = StimulusSet({"stimulus_id": list(paths)})
    pictures.stimulus_paths = paths
    pictures.identifier = "visual-angle-patterns"
    return pictures


def _can_record(model: BrainModel, region: str) -> bool:
    try:
        model.start_recording(region, [_TIME_BIN])
    except NotApplicable:
        return False
    return True


def _rdm(model: Any, region: Any, pictures: StimulusSet) -> NDArray[np.float64]:
    """Upper triangle of the correlation distances between responses."""
    model.start_recording(region, [_TIME_BIN])
    responses = model.look_at(pictures).transpose("presentation", "neuroid").values
    with np.errstate(invalid="ignore"):
        return np.corrcoef(responses)[np.triu_indices(len(responses), 1)]  # one minus it correlates equally


def _labels(model: Any, pictures: StimulusSet) -> NDArray[Any] | None:
    """Labels of pictures; None of a model that has none, which some know only when they have seen pictures."""
    try:
        model.start_task(BrainModel.Task.label, "imagenet")
        return np.asarray(model.look_at(pictures).values).ravel()
    except NotApplicable:
        return None
