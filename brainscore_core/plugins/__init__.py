"""Plugins: registries, and the index that finds plugins without importing them."""

from brainscore_core.plugins.conformance import (
    Check,
    ConformanceError,
    check_benchmark,
    check_data,
    check_metric,
    check_model,
    check_subject,
    example_stimuli,
)
from brainscore_core.plugins.index import Location, PluginIndex
from brainscore_core.plugins.loading import DuplicateRegistrationError, MissingRequirementError, PluginWarning
from brainscore_core.plugins.registry import Registry, Resolver

__all__ = [
    "Check",
    "ConformanceError",
    "DuplicateRegistrationError",
    "Location",
    "MissingRequirementError",
    "PluginIndex",
    "PluginWarning",
    "Registry",
    "Resolver",
    "check_benchmark",
    "check_data",
    "check_metric",
    "check_model",
    "check_subject",
    "example_stimuli",
]
