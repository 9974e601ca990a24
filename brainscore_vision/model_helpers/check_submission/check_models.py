"""Checks of a module's models before submission, with the function names that existing plugins call."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.plugins import check_model


def check_brain_models(module: str | ModuleType) -> None:
    """Check every model that a module lists.

    `module`: has ``get_model_list()`` and ``get_model(identifier)``, which returns a `BrainModel`. A plugin's module
    passes its own ``__name__``. A UserError if the module lacks these functions, lists no model, or returns something
    else; a ConformanceError if a model fails a check of :func:`brainscore_core.plugins.check_model`; every failure is
    explained.
    """
    from brainscore_vision.model_interface import BrainModel

    imported = _module(module)
    for identifier, model in _models(imported):
        if not isinstance(model, BrainModel):
            raise UserError(
                f"get_model({identifier!r}) of {imported.__name__} returned a {type(model).__name__}, not a BrainModel",
                remedy="wrap the network in ModelCommitment, or check it with check_base_models",
            )
        check_brain_model_processing(model)
        print(f"{identifier}: all checks passed")  # noqa: T201 - output of scripts, as published


def check_base_models(module: str | ModuleType) -> None:
    """Check every network that a module lists, as a model whose regions use the network's last layer.

    `module`: has ``get_model_list()``, ``get_model(identifier)``, which returns an activations model such as a
    `PytorchWrapper`, and ``get_layers(identifier)``. A UserError if the module lacks these functions, or lists no
    models or no layers; a ConformanceError if a model fails a check of :func:`brainscore_core.plugins.check_model`;
    every failure is explained.
    """
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    imported = _module(module)
    if not hasattr(imported, "get_layers"):
        raise UserError(
            f"{imported.__name__} has no get_layers", remedy="define get_layers(identifier) -> list of names"
        )
    for identifier, activations_model in _models(imported):
        layers = imported.get_layers(identifier)
        if not isinstance(layers, list) or not layers:
            raise UserError(
                f"get_layers({identifier!r}) of {imported.__name__} returned {layers!r}",
                remedy="return a list of layer names",
            )
        regions = {region: str(layers[-1]) for region in ("V1", "V2", "V4", "IT")}
        model = ModelCommitment(identifier, activations_model, layers=layers, region_layer_map=regions)
        check_brain_model_processing(model)
        print(f"{identifier}: all checks passed")  # noqa: T201 - output of scripts, as published


def check_brain_model_processing(model: Any) -> None:
    """Check one `BrainModel`; see :func:`brainscore_core.plugins.check_model`.

    A ConformanceError if it fails a check.
    """
    check_model(model)


def _module(module: str | ModuleType) -> ModuleType:
    return module if isinstance(module, ModuleType) else sys.modules.get(module) or importlib.import_module(module)


def _models(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in ("get_model_list", "get_model"):
        if not hasattr(module, name):
            raise UserError(
                f"{module.__name__} has no {name}",
                remedy="define get_model_list() and get_model(identifier), or call check_model(model) with the model",
            )
    listed = list(module.get_model_list())
    if not listed:
        raise UserError(f"get_model_list() of {module.__name__} lists no model", remedy="return the identifiers")
    return ((identifier, module.get_model(identifier)) for identifier in listed)
