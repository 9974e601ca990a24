"""Requests to inspect files, and reports of the findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from brainscore_core.supported_data_standards.brainio.findings import Finding

__all__ = ["Found", "Question", "Report", "error_finding"]


@dataclass(frozen=True)
class Question:
    """A request to inspect files.

    Attributes
    ----------
    files : dict
        Kind (``csv``, ``zip``, ``nc``) → path.
    names : dict
        Kind → file name in storage.
    identifier, assembly_identifier, cls : str
        Names of the stimulus set and of the assembly, and the assembly's class.
    limits : dict
        ``memory``, ``seconds``, ``members``, ``unpacked``, ``ratio``, ``pixels``, ``table``; see ``Limits``.
    sha1 : dict
        Kind → hash that the uploader expects.
    reference : str
        Path of the table of a stimulus set that was uploaded earlier; empty if there is none.
    """

    files: dict[str, str]
    names: dict[str, str]
    identifier: str
    assembly_identifier: str
    cls: str
    limits: dict[str, int]
    sha1: dict[str, str] = field(default_factory=dict)
    reference: str = ""


@dataclass(frozen=True)
class Found:
    """A finding: the file, the check, its culprit, and what to do."""

    file: str
    check: str
    culprit: str
    remedy: str
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class Report:
    """The result of an inspection.

    Attributes
    ----------
    findings : list of Found
        All findings. An upload with errors is refused.
    hashes : dict
        Kind → ``{"sha1": …, "sha256": …, "size": …}``.
    facts : dict
        A summary of the content, for display.
    """

    findings: list[Found]
    hashes: dict[str, dict[str, Any]]
    facts: dict[str, Any]

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return any(finding.severity == "error" for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Report:
        """Read a report from the output of `document`."""
        return cls([Found(**finding) for finding in document["findings"]], document["hashes"], document["facts"])


def error_finding(file: str, check: str, culprit: str, remedy: str) -> Found:
    """Return a finding of severity error."""
    return Found(file, check, culprit, remedy)


def from_library(finding: Finding, file: str) -> Found:
    """Convert a finding of the library's validation."""
    return Found(file, finding.check, finding.culprit, finding.remedy, finding.severity)
