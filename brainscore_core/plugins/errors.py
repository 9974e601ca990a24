"""What can go wrong with a plugin."""

from __future__ import annotations

import functools

from brainscore_core.errors import UserError

__all__ = ["DuplicateRegistrationError", "MissingRequirementError", "PluginWarning"]


class PluginWarning(UserWarning):
    """A plugin, or a folder of plugins, cannot be read. All others keep working."""


class DuplicateRegistrationError(UserError):
    """One identifier, or one plugin name, stands in two places. The message names both."""


class MissingRequirementError(UserError, ModuleNotFoundError):
    """A plugin imports a module that is not installed.

    Parameters
    ----------
    message : str
        Names the plugin and the module.
    remedy : str, optional
        The command that installs what is missing.
    name : str, optional
        The missing module, as in :class:`ModuleNotFoundError`.
    """

    def __init__(self, message: str, remedy: str | None = None, *, name: str | None = None) -> None:
        super().__init__(message, remedy)
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(type(self), name=self.name), (self.message, self.remedy)
