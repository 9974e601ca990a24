"""Findings of checks, and the error that reports all of them at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from brainscore_core.errors import UserError

__all__ = [
    "Finding",
    "ValidationError",
    "ValidationWarning",
    "errors_among",
    "format_values",
    "join_first",
    "raise_for_errors",
    "with_source",
]

_SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Parameters
    ----------
    check : str
        Which check, e.g. ``'duplicate stimulus_id'``.
    culprit : str
        What is wrong, with the first few ids, files or values and how many there are.
    remedy : str
        What to do about it.
    severity : 'error' or 'warning'
        Errors keep data from being packaged; warnings do not.
    source : str
        Where it was found: a stimulus set, an assembly, a file.

    Examples
    --------
    >>> print(Finding("duplicate stimulus_id", "'img_1' is there twice", "give each stimulus its own id"))
    duplicate stimulus_id: 'img_1' is there twice; give each stimulus its own id
    """

    check: str
    culprit: str
    remedy: str
    severity: Literal["error", "warning"] = "error"
    source: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.culprit}; {self.remedy}"


class ValidationWarning(UserWarning):
    """Data can be packaged, but something about them is unusual."""


class ValidationError(UserError, ValueError):
    """Data that cannot be packaged; the message has all findings.

    Parameters
    ----------
    findings : sequence of Finding
        Everything that was found, warnings included.

    Attributes
    ----------
    findings : list of Finding
        The same.

    Examples
    --------
    >>> error = ValidationError([Finding("empty data", "dimension 'neuroid' has length 0", "check the selection")])
    >>> print(error)
    1 error found
    - empty data: dimension 'neuroid' has length 0
      → check the selection
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = list(findings)
        count = len(errors_among(self.findings))
        lines = [f"{count} error{'s' if count != 1 else ''} found"]
        for finding in sorted(self.findings, key=lambda one: one.severity == "warning"):
            label = f"{finding.source}: " if finding.source else ""
            kind = "(warning) " if finding.severity == "warning" else ""
            lines += [f"- {kind}{label}{finding.check}: {finding.culprit}", f"  → {finding.remedy}"]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.findings,)


def errors_among(findings: Iterable[Finding]) -> list[Finding]:
    """Those findings that are errors."""
    return [finding for finding in findings if finding.severity == "error"]


def raise_for_errors(findings: Sequence[Finding]) -> None:
    """Raise if there is an error among the findings.

    Parameters
    ----------
    findings : sequence of Finding
        What the ``validate_*`` functions return.

    Raises
    ------
    ValidationError
        It is a ValueError; it has all findings, not only the first.

    Examples
    --------
    >>> raise_for_errors([])
    """
    if errors_among(findings):
        raise ValidationError(findings)


def with_source(findings: Iterable[Finding], source: str) -> list[Finding]:
    """The findings, with the place where they were found, where they do not say so already."""
    return [finding if finding.source else replace(finding, source=source) for finding in findings]


def format_values(values: Iterable[Any]) -> str:
    """Name the first five of several values and say how many there are: ``'a', 'b', 'c', 'd', 'e', … (9 in all)``."""
    # NumPy's scalars are shown as what they stand for
    return join_first([repr(one.item() if hasattr(one, "item") else one) for one in values], ", ")


def join_first(texts: Sequence[str], separator: str = "; ") -> str:
    """Join the first five texts and say how many there are."""
    more = f"{separator}… ({len(texts)} in all)" if len(texts) > _SHOWN else ""
    return separator.join(texts[:_SHOWN]) + more
