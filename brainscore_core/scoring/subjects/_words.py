"""What became of a process, and what a subject can do, as people and Python say it."""

from __future__ import annotations

import inspect
import re
import signal
from collections.abc import Sequence
from typing import Any

from brainscore_core.scoring.subjects._values import expect

__all__ = ["ended", "remedy_for", "signature_of", "tail_of"]

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_TAIL_LINES, _TAIL_CHARACTERS = 20, 2000


def ended(status: int) -> str:
    """How a process ended, in words.

    Examples
    --------
    >>> ended(-11)
    'ended by signal 11 (segmentation fault)'
    >>> ended(3)
    'ended with exit status 3'
    """
    if status < 0:
        return f"ended by signal {-status} ({_name(-status)})"
    if 128 < status <= 192:
        return f"ended with exit status {status}, as after signal {status - 128} ({_name(status - 128)})"
    return f"ended with exit status {status}"


def _name(number: int) -> str:
    try:
        return (signal.strsignal(number) or "unknown").lower()
    except ValueError:
        return "unknown"


def remedy_for(lines: Sequence[str], interpreter: str) -> str:
    """What to do about an interpreter in which a subject did not start, by the last line that it printed."""
    missing = _MISSING.search(lines[-1]) if lines else None
    if missing:
        package = "brainscore" if missing[1].startswith("brainscore") else missing[1].partition(".")[0]
        return f"install what is missing: {interpreter} -m pip install {package}"
    return f"find out why with: {interpreter} -c 'import brainscore_core.scoring.subjects'"


def tail_of(log: str) -> str:
    """The last lines of a log, indented."""
    lines = log[-_TAIL_CHARACTERS:].rstrip().splitlines()[-_TAIL_LINES:]
    return "\n".join(f"  | {line}" for line in lines)


def signature_of(parameters: Any) -> inspect.Signature:
    """Parameters as a subject describes them: name, kind, whether there is a default; defaults become None.

    Raises
    ------
    WireError, ValueError, TypeError
        It describes none.
    """
    made = []
    for parameter in expect(parameters, list):
        name, kind, optional = parameter
        default = None if expect(optional, bool) else inspect.Parameter.empty
        made.append(inspect.Parameter(expect(name, str), inspect._ParameterKind(expect(kind, int)), default=default))
    return inspect.Signature(made, __validate_parameters__=False)
