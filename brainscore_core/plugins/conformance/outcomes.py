"""Outcomes of checks, and the exceptions with which a check ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brainscore_core.errors import UserError

__all__ = ["Check", "ConformanceError"]

Result = Literal["passed", "not applicable", "warning", "failed"]


@dataclass(frozen=True)
class Check:
    """Outcome of one check.

    Attributes
    ----------
    name : str
        What was checked.
    result : {'passed', 'not applicable', 'warning', 'failed'}
        Not applicable: the plugin said that it cannot do it, or what the check needs cannot be had; no fault.
        Warning: unusual, which may be meant.
    explanation : str
        Why it is not applicable, or what is wrong.
    remedy : str
        What to do about it, where the explanation does not say it.
    """

    name: str
    result: Result
    explanation: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        said = "; ".join(text for text in (self.explanation, self.remedy) if text)
        return f"{self.name}: {self.result}" + (f" – {said}" if said else "")


class ConformanceError(UserError):
    """A plugin does not do what every plugin of its kind must do.

    Attributes
    ----------
    checks : tuple of Check
        All of them, those that passed, too.
    """

    def __init__(self, message: str, remedy: str | None = None, *, checks: Sequence[Check] = ()) -> None:
        super().__init__(message, remedy)
        self.checks = tuple(checks)


class Failed(Exception):
    """Raised by a check with what is wrong, and what to do about it."""

    def __init__(self, explanation: str, remedy: str = "") -> None:
        super().__init__(explanation)
        self.remedy = remedy


class Unusual(Failed):
    """Raised by a check with what is unusual, but no fault."""
