"""Where models come from: tables, libraries, files, and processes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.plugins import Resolver
from brainscore_vision.model_sources.libraries import (
    describe_library_model,
    is_library_model,
    library_folder,
    matching_library_models,
    require_library_model,
)
from brainscore_vision.registries import model_registry

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel


def _make(identifier: str) -> BrainModel:
    from brainscore_vision.model_sources.unregistered import load_library_model

    return load_library_model(identifier)


model_registry.resolver = Resolver(
    "model of a library",
    is_library_model,
    require_library_model,
    library_folder,
    _make,
    matching=matching_library_models,
    describe=describe_library_model,
)
