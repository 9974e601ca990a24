"""What is asked about files, and what was found."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from brainscore_core.supported_data_standards.brainio.findings import Finding

__all__ = ["Found", "Question", "Report", "error_finding"]


@dataclass(frozen=True)
class Question:
    """What to look into.

    Attributes
    ----------
    files : dict
        Kind (``csv``, ``zip``, ``nc``) → path.
    names : dict
        Kind → name in storage.
    identifier, assembly_identifier, cls : str
        Names of the stimulus set and of the assembly, and the assembly's class.
    limits : dict
        ``memory``, ``seconds``, ``members``, ``unpacked``, ``ratio``, ``pixels``, ``table``; see ``Limits``.
    sha1 : dict
        Kind → hash that the sender expects.
    reference : str
        Path of the stimulus set's table, where it was uploaded before.
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
    """One finding: in which file, what, where in it, what to do."""

    file: str
    check: str
    culprit: str
    remedy: str
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class Report:
    """What was found.

    Attributes
    ----------
    findings : list of Found
        Everything; errors refuse the upload.
    hashes : dict
        Kind → ``{"sha1": …, "sha256": …, "size": …}``.
    facts : dict
        What is in the files, for people.
    """

    findings: list[Found]
    hashes: dict[str, dict[str, Any]]
    facts: dict[str, Any]

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return any(one.severity == "error" for one in self.findings)

    def document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Report:
        """Undo `document`."""
        return cls([Found(**one) for one in document["findings"]], document["hashes"], document["facts"])


def error_finding(file: str, check: str, culprit: str, remedy: str) -> Found:
    """Make an error."""
    return Found(file, check, culprit, remedy)


def of_library(finding: Finding, file: str) -> Found:
    """A finding of the library's validation."""
    return Found(file, finding.check, finding.culprit, finding.remedy, finding.severity)
