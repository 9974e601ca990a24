"""Run commands in a sandbox."""

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

Cause = Literal["", "exit", "crash", "timeout", "memory", "processes", "scratch", "entries", "output", "stopped"]

_TICK = 0.1


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a command ended.

    Attributes
    ----------
    cause : str
        Empty for exit status 0; ``'exit'`` for another one; ``'crash'`` for a signal; ``'stopped'``; or the limit that
        was exceeded: ``'timeout'``, ``'memory'``, ``'processes'``, ``'scratch'``, ``'entries'``, ``'output'``.
    status : int
        Exit status; negative for a signal.
    message : str
        Description of the cause; empty for exit status 0.
    output : str
        What it printed; if that is very long, the beginning and the end.
    seconds : float
        Run time.
    """

    cause: Cause
    status: int
    message: str
    output: str
    seconds: float


def run_in_sandbox(
    command: Sequence[str],
    sandbox: Sandbox,
    *,
    timeout: float,
    max_output: int = 16 << 20,
    on_output: Callable[[str], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Ended:
    """Run a command in a sandbox until it ends.

    Parameters
    ----------
    command : sequence of str
        Program, by its path in the sandbox, and arguments.
    sandbox : Sandbox
        What the command sees and may use.
    timeout : float
        Seconds after which it is killed.
    max_output : int
        Bytes that it may print before it is killed.
    on_output : callable, optional
        Called, from another thread, with each piece of text that it prints.
    stopped : callable, optional
        Called several times a second; returns whether to end the command.

    Returns
    -------
    Ended
        How it ended.

    Raises
    ------
    UserError
        If this machine cannot run a sandbox.
    """
    started = time.monotonic()
    with sandbox.opened() as opened:
        process = guarded([*opened.prefix, *command])
        assert process.stdout is not None
        output = Output(os.dup(process.stdout.fileno()), limit=max_output, on_flood=ender(process), on_text=on_output)
        process.stdout.close()
        try:
            reason = _wait(process, started + timeout, stopped)
        finally:
            status = end(process, os.getpid())
            output.finish(2.0)
        seconds = time.monotonic() - started
        verdict = opened.verdict
    if verdict is not None and verdict.cause == "start":
        raise UserError(
            f"the command {verdict.message}", remedy="see docs/operators/sandbox.md for what a sandbox requires"
        )
    cause, message = _cause(status, verdict)
    if output.flooded:
        cause, message = "output", f"printed more than {format_size(max_output)}"
    elif reason == "timeout":
        cause, message = "timeout", f"ran longer than {timeout:,g} s"
    elif reason == "stopped":
        cause, message = "stopped", "was stopped"
    return Ended(cause=cause, status=status, message=message, output=output.text, seconds=seconds)


def _wait(process: subprocess.Popen[bytes], deadline: float, stopped: Callable[[], bool] | None) -> Cause:
    while True:
        try:
            process.wait(_TICK)
            return ""
        except subprocess.TimeoutExpired:
            if time.monotonic() > deadline:
                return "timeout"
            if stopped is not None and stopped():
                return "stopped"


def _cause(status: int, verdict: Verdict | None) -> tuple[Cause, str]:
    if verdict is not None and verdict.cause != "start":
        return verdict.cause, verdict.message
    if status == 0:
        return "", ""
    signalled = status < 0 or 128 < status <= 192
    return ("crash" if signalled else "exit"), ending_text(status)
