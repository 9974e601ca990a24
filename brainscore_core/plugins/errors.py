"""Errors and warnings of plugins."""

from __future__ import annotations

import functools
import re
from importlib.util import find_spec

from brainscore_core.errors import BrainScoreError, UserError


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


LIBRARIES = ("torch", "torchvision", "timm", "transformers")
"""Libraries that models use without requiring them: those of the extra ``models`` of this platform."""

_NAMES = re.compile("|".join(rf"\b(?:py)?({name})\b" for name in LIBRARIES), re.IGNORECASE)


def missing_package(error: BaseException | None) -> str:
    """Return the package whose absence from this machine caused an error of any library; empty if none did.

    Errors from which it was raised are considered, too.

    Examples
    --------
    >>> missing_package(ModuleNotFoundError("No module named 'absent'", name="absent.part"))
    'absent'
    >>> missing_package(ModuleNotFoundError("No module named 'json.absent'", name="json.absent"))
    ''
    """
    if isinstance(error, BrainScoreError) and not (type(error) is UserError or isinstance(error, ImportError)):
        return ""  # these state their cause with their type
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            names = [error.name.partition(".")[0]]
        elif isinstance(error, ImportError):  # transformers names what it misses in the message only
            names = [next(filter(None, match)).lower() for match in _NAMES.findall(str(error))]
        else:
            names = []
        if absent := next(filter(is_absent, names), ""):
            return absent
        error = error.__cause__
    return ""


def is_absent(package: str) -> bool:
    """Whether a package is not installed in this interpreter."""
    try:
        return find_spec(package) is None
    except (ImportError, ValueError):  # such as a module without a specification
        return False
