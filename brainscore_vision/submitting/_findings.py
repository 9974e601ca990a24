"""What is found in a submission: each with its place and its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

__all__ = ["Finding", "Severity", "errors_among", "in_order"]

Severity = Literal["error", "warning", "note"]
_ORDER = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Finding:
    """Something about a submission that its submitter should know.

    Attributes
    ----------
    severity : {'error', 'warning', 'note'}
        With an error nothing is run; a warning is for whoever reads it; a note says what was done.
    check : str
        What was looked at, in a word or two.
    file : str
        Path in the submission; empty where it is about all of it.
    line : int or None
        From 1.
    message, remedy : str
        What there is, and what to do about it.
    """

    severity: Severity
    check: str
    file: str
    line: int | None
    message: str
    remedy: str

    def as_dict(self) -> dict[str, Any]:
        """As plain types, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make one of what `as_dict` gave."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.severity}: {self.message}"


def errors_among(findings: Iterable[Finding]) -> list[Finding]:
    """Those that must be mended."""
    return [finding for finding in findings if finding.severity == "error"]


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each once, by file and line; in one place the worst first."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda one: (one.file, one.line or 0, _ORDER[one.severity], one.message)))
