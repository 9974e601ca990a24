"""What can go wrong with the process of an isolated model."""

from __future__ import annotations

from typing import Literal

from brainscore_core.errors import UserError

__all__ = ["Cause", "SubjectFailed", "SubjectOutOfMemory"]

Cause = Literal["start", "crash", "exit", "timeout", "output", "protocol", "exception"]


class SubjectFailed(UserError):
    """A subject process crashed, hung, printed too much, raised, or answered what cannot be read.

    Parameters
    ----------
    message : str
        Which subject, what it did, and the end of what it printed.
    remedy : str, optional
        What to do about it.
    cause : str
        ``'start'``, ``'crash'`` (ended by a signal), ``'exit'``, ``'timeout'``, ``'output'`` (too much of it),
        ``'protocol'`` or ``'exception'`` (an error of its own, whose traceback stands in the notes).
    """

    def __init__(self, message: str, remedy: str | None = None, *, cause: Cause = "exception") -> None:
        super().__init__(message, remedy)
        self.cause = cause


class SubjectOutOfMemory(SubjectFailed):
    """A subject process was killed, as systems do when memory runs out, or raised an error that says so."""
