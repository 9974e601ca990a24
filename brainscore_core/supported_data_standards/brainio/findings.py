"""Findings of checks, and the error that reports all of them at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.plurals import counted


@dataclass(frozen=True)
class Finding:
    """A problem that a check found.

    Parameters
    ----------
    check : str
        The check, e.g. ``'duplicate stimulus_id'``.
    culprit : str
        What is wrong, with the first few ids, files or values, and their number.
    remedy : str
        How to fix it.
    severity : 'error' or 'warning'
        Errors prevent packaging; warnings do not.
    source : str
        Where the problem is: a stimulus set, an assembly, a file.

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
    """The data cannot be packaged; the message has all findings.

    Parameters
    ----------
    findings : sequence of Finding
        All findings, including warnings.

    Attributes
    ----------
    findings : list of Finding
        As in the parameters.

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
        lines = [f"{counted(count, 'error')} found"]
        for finding in sorted(self.findings, key=lambda each: each.severity == "warning"):
            label = f"{finding.source}: " if finding.source else ""
            kind = "(warning) " if finding.severity == "warning" else ""
            lines += [f"- {kind}{label}{finding.check}: {finding.culprit}", f"  → {finding.remedy}"]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.findings,)


def errors_among(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are errors."""
    return [finding for finding in findings if finding.severity == "error"]


def raise_for_errors(findings: Sequence[Finding]) -> None:
    """Raise if there is an error among the findings.

    `findings`: results of the ``validate_*`` functions. Raises `ValidationError`: a ValueError with all findings.

    Examples
    --------
    >>> raise_for_errors([])
    """
    if errors_among(findings):
        raise ValidationError(findings)


def with_source(findings: Iterable[Finding], source: str) -> list[Finding]:
    """Set the source of the findings that have none."""
    return [finding if finding.source else replace(finding, source=source) for finding in findings]


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Join the findings of each check, such as those of several files, into one that lists their culprits."""
    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.check, []).append(finding)
    return [replace(same[0], culprit=join_first([each.culprit for each in same])) for same in by_check.values()]


def format_values(values: Iterable[Any], *, most: int = 5) -> str:
    """List the first few values and the number of all: ``'a', 'b', 'c', 'd', 'e', … (9 in all)``."""
    # NumPy scalars are shown as Python values
    texts = [repr(value.item() if isinstance(value, np.generic) else value) for value in values]
    return join_first(texts, ", ", most=most) or "none"


def join_first(texts: Sequence[str], separator: str = "; ", *, most: int = 5) -> str:
    """Join the first few texts and append the number of all."""
    more = f"{separator}… ({len(texts)} in all)" if len(texts) > most else ""
    return separator.join(texts[:most]) + more
