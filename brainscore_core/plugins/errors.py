"""Errors and warnings of plugins."""

from __future__ import annotations

import functools

from brainscore_core.errors import UserError

__all__ = ["DuplicateRegistrationError", "MissingRequirementError", "PluginWarning"]


class PluginWarning(UserWarning):
    """A plugin or a folder of plugins cannot be read; all others still work."""


class DuplicateRegistrationError(UserError):
    """An identifier or a plugin name is registered in two places; the message names both."""


class MissingRequirementError(UserError, ModuleNotFoundError):
    """A plugin imports a module that is not installed.

    Parameters
    ----------
    message : str
        Names the plugin and the module.
    remedy : str, optional
        The command that installs it.
    name : str, optional
        The missing module, as in :class:`ModuleNotFoundError`.
    """

    def __init__(self, message: str, remedy: str | None = None, *, name: str | None = None) -> None:
        super().__init__(message, remedy)
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(type(self), name=self.name), (self.message, self.remedy)
