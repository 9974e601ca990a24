"""What a rule of the checklist found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Found", "judged", "no", "yes"]


@dataclass(frozen=True)
class Found:
    """A piece of evidence: fine, not fine, or for a reviewer to judge (None)."""

    text: str
    path: str = ""
    line: int | None = None
    fine: bool | None = None


def yes(text: str, path: str = "", line: int | None = None) -> Found:
    """What speaks for it."""
    return Found(text, path, line, True)


def no(text: str, path: str = "", line: int | None = None) -> Found:
    """What speaks against it."""
    return Found(text, path, line, False)


def judged(text: str, path: str = "", line: int | None = None) -> Found:
    """What a reviewer has to judge."""
    return Found(text, path, line, None)
