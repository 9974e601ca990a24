"""Errors of isolated models."""

from __future__ import annotations

from typing import Literal

from brainscore_core.errors import UserError

Cause = Literal["start", "crash", "exit", "timeout", "output", "protocol", "exception"]


class SubjectFailed(UserError):
    """The process of an isolated model crashed, hung, printed too much, raised an error, or gave an invalid answer.

    Parameters
    ----------
    message : str
        The model, what its process did, and the end of what it printed.
    remedy : str, optional
        How to fix it.
    cause : str
        ``'start'``, ``'crash'`` (ended by a signal), ``'exit'``, ``'timeout'``, ``'output'`` (too much),
        ``'protocol'`` or ``'exception'`` (an error of the model, whose traceback is in the notes).
    """

    def __init__(self, message: str, remedy: str | None = None, *, cause: Cause = "exception") -> None:
        super().__init__(message, remedy)
        self.cause = cause


class SubjectOutOfMemory(SubjectFailed):
    """The process of an isolated model ran out of memory: it was killed, or raised an error that says so."""
