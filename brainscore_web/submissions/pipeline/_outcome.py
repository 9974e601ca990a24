"""What comes of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

__all__ = ["LOG_LIMIT", "Failed", "Later", "Outcome", "bounded"]

LOG_LIMIT = 256_000
"""Characters of a log that are kept: its beginning and its end."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a step ended.

    Attributes
    ----------
    passed : bool
        Whether it did.
    reason, internal : str
        For its submitter; for the site's keepers.
    log : str
        What happened.
    result : dict
        Plain values.
    findings : sequence of dict or None
        Those of the revision, where they were looked for again.
    gave_up : bool
        Whether it is the site that failed.
    """

    passed: bool
    reason: str = ""
    internal: str = ""
    log: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Mapping[str, Any]] | None = None
    gave_up: bool = False


class Failed(Exception):
    """The step has failed, for a reason that its submitter can mend."""

    def __init__(self, reason: str, **others: Any) -> None:
        super().__init__(reason)
        self.outcome = Outcome(passed=False, reason=reason, **others)


class Later(Exception):
    """The site lacks something: the step waits, as long as it takes."""

    def __init__(self, reason: str, *, internal: str, pause: timedelta = timedelta(minutes=5)) -> None:
        super().__init__(reason)
        self.reason, self.internal, self.pause = reason, internal, pause


def bounded(text: str, limit: int = LOG_LIMIT) -> str:
    """Leave out the middle of a long text.

    Examples
    --------
    >>> bounded("a" * 50 + "b" * 50, 60).count("a")
    20
    """
    if len(text) <= limit:
        return text
    half = max((limit - 20) // 2, 0)
    return f"{text[:half]}\n… cut here …\n{text[len(text) - half :]}"
