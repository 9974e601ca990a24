"""What `brainscore info` shows of a loaded model."""

from __future__ import annotations

from typing import Any

from brainscore_vision.model_helpers.activations.preprocessing import describe_preprocessing


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
