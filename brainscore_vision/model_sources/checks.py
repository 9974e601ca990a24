"""Checks of models of vision, and what `brainscore info` shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from brainscore_core import plugins
from brainscore_core.plugins import Check
from brainscore_vision.model_helpers.activations.preprocessing import describe_preprocessing
from brainscore_vision.model_sources.visual_angle import dependence_in_words


def check_model(make: Callable[[], Any]) -> tuple[Check, ...]:
    """Check a model: what `brainscore_core.plugins.check_model` requires, its output and its visual angle."""
    model = make()
    checks = plugins.check_model(model, raise_errors=False)
    return (*checks, *_check_output(model, checks), *_check_visual_angle(model, checks))


def _check_output(model: Any, checks: Iterable[Check]) -> Iterator[Check]:
    """Which output of a network labels are chosen from, if it does this task."""
    describe = getattr(getattr(model, "activations_model", None), "describe_layers", None)
    if callable(describe) and any(check.name == "task label" and check.result == "passed" for check in checks):
        yield Check("labels are chosen from", "passed", describe(["logits"])[-1])


def _check_visual_angle(model: Any, checks: Iterable[Check]) -> Iterator[Check]:
    """Whether a model states its visual angle; if not, how much its responses depend on it."""
    name = "it states its visual angle"
    if getattr(model, "states_visual_degrees", True):
        yield Check(name, "passed")
        return
    explanation = f"{model.visual_degrees():g}° is taken by default, and scores depend on it"
    if not any(check.result == "failed" for check in checks):
        explanation += f": {dependence_in_words(model)}"
    remedy = "pass visual_degrees, the angle that its input spans: docs/visual_angle.md says how to choose it"
    yield Check(name, "warning", explanation, remedy)


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
