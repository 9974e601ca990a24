"""Checks of plugins: their outcomes, and the exceptions that end a check."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brainscore_core.errors import UserError

Result = Literal["passed", "not applicable", "warning", "failed"]


@dataclass(frozen=True)
class Check:
    """Outcome of one check.

    Attributes
    ----------
    name : str
        What was checked.
    result : {'passed', 'not applicable', 'warning', 'failed'}
        Not applicable: the plugin does not support it, or data for the check are not available; not an error.
        Warning: unusual, but possibly intended.
    explanation : str
        Why it is not applicable, or what the problem is.
    remedy : str
        How to fix it, if the explanation does not say so.
    """

    name: str
    result: Result
    explanation: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        details = "; ".join(text for text in (self.explanation, self.remedy) if text)
        return f"{self.name}: {self.result}" + (f" – {details}" if details else "")


class ConformanceError(UserError):
    """A plugin does not meet the requirements of its kind.

    Attributes
    ----------
    checks : tuple of Check
        All checks, including those that passed.
    """

    def __init__(self, message: str, remedy: str | None = None, *, checks: Sequence[Check] = ()) -> None:
        super().__init__(message, remedy)
        self.checks = tuple(checks)


class Failed(Exception):
    """Raised by a check with the problem and its remedy."""

    def __init__(self, explanation: str, remedy: str = "") -> None:
        super().__init__(explanation)
        self.remedy = remedy


class Unusual(Failed):
    """Raised by a check for something unusual that is not an error."""
