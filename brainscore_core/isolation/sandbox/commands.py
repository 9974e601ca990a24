"""Commands in a cage."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from brainscore_core.errors import UserError
from brainscore_core.isolation.children import Output, end, ender, ending_text, guarded
from brainscore_core.isolation.sandbox.sandbox import Sandbox, Verdict
from brainscore_core.memory import format_size

__all__ = ["Ended", "run_in_sandbox"]

Cause = Literal["", "exit", "crash", "timeout", "memory", "processes", "scratch", "entries", "output", "stopped"]

_TICK = 0.1


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What became of a command.

    Attributes
    ----------
    cause : str
        Empty for exit status 0; ``'exit'`` for another, ``'crash'`` for a signal; else what was too much:
        ``'timeout'``, ``'memory'``, ``'processes'``, ``'scratch'``, ``'entries'``, ``'output'``; or ``'stopped'``.
    status : int
        Exit status; negative for a signal.
    message : str
        The cause in words; empty for exit status 0.
    output : str
        What it printed; of very much the beginning and the end.
    seconds : float
        How long it ran.
    """

    cause: Cause
    status: int
    message: str
    output: str
    seconds: float


def run_in_sandbox(
    command: Sequence[str],
    cage: Sandbox,
    *,
    timeout: float,
    max_output: int = 16 << 20,
    on_output: Callable[[str], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Ended:
    """Run a command in a cage, to its end.

    Parameters
    ----------
    command : sequence of str
        Program, by its path in the cage, and arguments.
    cage : Cage
        What it sees and may use.
    timeout : float
        Seconds until it is killed.
    max_output : int
        Bytes that it may print until it is killed.
    on_output : callable, optional
        Called, from another thread, with each piece of text that it prints.
    stopped : callable, optional
        Asked several times a second whether to end it.

    Returns
    -------
    Ended
        How it ended.

    Raises
    ------
    UserError
        There can be no cage here.
    """
    begun = time.monotonic()
    with cage.opened() as opened:
        process = guarded([*opened.prefix, *command])
        assert process.stdout is not None
        output = Output(os.dup(process.stdout.fileno()), limit=max_output, on_flood=ender(process), on_text=on_output)
        process.stdout.close()
        try:
            why = _wait(process, begun + timeout, stopped)
        finally:
            status = end(process, os.getpid())
            output.finish(2.0)
        seconds = time.monotonic() - begun
        verdict = opened.verdict
    if verdict is not None and verdict.cause == "start":
        raise UserError(f"the command {verdict.message}", remedy="see docs/sandbox.md for what a cage needs")
    cause, message = _told(status, verdict)
    if output.flooded:
        cause, message = "output", f"printed more than {format_size(max_output)}"
    elif why == "timeout":
        cause, message = "timeout", f"ran longer than {timeout:,g} s"
    elif why == "stopped":
        cause, message = "stopped", "was stopped"
    return Ended(cause=cause, status=status, message=message, output=output.text, seconds=seconds)


def _wait(process: subprocess.Popen[bytes], until: float, stopped: Callable[[], bool] | None) -> Cause:
    while True:
        try:
            process.wait(_TICK)
            return ""
        except subprocess.TimeoutExpired:
            if time.monotonic() > until:
                return "timeout"
            if stopped is not None and stopped():
                return "stopped"


def _told(status: int, verdict: Verdict | None) -> tuple[Cause, str]:
    if verdict is not None and verdict.cause != "start":
        return verdict.cause, verdict.message
    if status == 0:
        return "", ""
    signalled = status < 0 or 128 < status <= 192
    return ("crash" if signalled else "exit"), ending_text(status)
