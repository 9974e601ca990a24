"""Environments for models that run in their own process: a plugin's requirements on top of installed packages.

Nothing is ever installed into the running interpreter.
"""

from brainscore_core.plugins.environments.base import without_python_settings
from brainscore_core.plugins.environments.environment import Environment, environment_of
from brainscore_core.plugins.environments.folder import (
    Collected,
    Manifest,
    StoredEnvironment,
    collect_garbage,
    environments,
    remove_environment,
)
from brainscore_core.plugins.environments.requirements import (
    RequirementsError,
    RequirementsUnavailable,
    plugin_requirements,
)

__all__ = [
    "Collected",
    "Environment",
    "Manifest",
    "RequirementsError",
    "RequirementsUnavailable",
    "StoredEnvironment",
    "collect_garbage",
    "environment_of",
    "environments",
    "plugin_requirements",
    "remove_environment",
    "without_python_settings",
]
