"""The side of the scoring process: start an isolated model, ask it, and report what became of it."""

from __future__ import annotations

import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from brainscore_core.errors import UserError
from brainscore_core.isolation.children import Look, Output, end, ender, ending_text, guarded
from brainscore_core.isolation.errors import Cause, SubjectFailed, SubjectOutOfMemory
from brainscore_core.isolation.shared_files import WireError
from brainscore_core.isolation.tables import KINDS
from brainscore_core.isolation.values import Decoder, Encoder, expect, raise_error, take_over
from brainscore_core.isolation.wire import PROTOCOL, Channel, Closed, Limits
from brainscore_core.memory import available_memory, format_size

if TYPE_CHECKING:
    from brainscore_core.isolation.sandbox import OpenSandbox, Sandbox, Verdict

__all__ = ["MAX_OUTPUT", "START_TIMEOUT", "TIMEOUT", "ModelProcess", "start_model_process"]

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_TAIL_LINES, _TAIL_CHARACTERS = 20, 2000


def remedy_for(lines: Sequence[str], interpreter: str) -> str:
    """What to do about an interpreter in which a subject did not start, by the last line that it printed."""
    missing = _MISSING.search(lines[-1]) if lines else None
    if missing:
        package = "brainscore" if missing[1].startswith("brainscore") else missing[1].partition(".")[0]
        return f"install what is missing: {interpreter} -m pip install {package}"
    return f"find out why with: {interpreter} -c 'import brainscore_core.isolation'"


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


TIMEOUT = 12 * 3600.0
"""Seconds that one call may take."""

START_TIMEOUT = 300.0
"""Seconds until a process must be ready to be asked, before it loads anything."""

MAX_OUTPUT = 64 << 20
"""Bytes that a subject may print."""

_GRACE = 2.0  # seconds in which a subject may end by itself


def start_model_process(
    loader: str,
    identifier: str,
    *,
    options: Mapping[str, Any] | None = None,
    python: Path | None = None,
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    timeout: float = TIMEOUT,
    start_timeout: float = START_TIMEOUT,
    max_output: int = MAX_OUTPUT,
    on_output: Callable[[str], None] | None = None,
    shared: Sequence[Path] = (),
    cage: Sandbox | None = None,
) -> ModelProcess:
    """Start a process and let it load a subject.

    Parameters
    ----------
    loader : str
        ``'package.module:function'``, which is called in that process with `identifier` and returns the subject.
    identifier : str
        Name of the subject.
    options : mapping, optional
        Further keyword arguments of the function; plain types.
    python : Path, optional
        The interpreter, in whose environment this platform can be imported; by default the running one.
    environment : mapping, optional
        All environment variables of the process; by default this one's.
    prefix : sequence of str
        What stands before the interpreter on the command line, such as a sandbox with its arguments. It must let
        inherited descriptors through and pass on exit statuses.
    timeout : float
        Seconds that loading, and each call, may take.
    start_timeout : float
        Seconds until the process must be ready.
    max_output : int
        Bytes that it may print; beyond, it is killed.
    on_output : callable, optional
        Called, from another thread, with each piece of text that it prints.
    shared : sequence of Path
        Folders that both processes know by the same names, with files that are never changed, such as a store of
        arrays. What the subject maps of these, this process maps, too, without a copy; a subject that shortened such
        a file would take this process down.
    cage : Cage, optional
        What it may see and use. `environment` is then that of whoever watches over it; its own is the cage's.

    Returns
    -------
    SubjectProcess
        To be closed; a context manager.

    Raises
    ------
    SubjectFailed
        The process did not start, or did not survive loading.
    NotApplicable, UserError
        What loading raised.

    Examples
    --------
    >>> with start_model_process("fractions:Fraction", "3/4") as subject:
    ...     subject.call("numerator")
    3
    """
    if not hasattr(socket, "AF_UNIX") or os.name != "posix":
        raise UserError("subject processes need Linux or macOS", remedy="score without isolation here")
    interpreter = str(python or sys.executable)
    command = [*prefix, interpreter, "-P", "-m", "brainscore_core.isolation"]
    with ExitStack() as stack:
        opened = None if cage is None else stack.enter_context(cage.opened(socket=True))
        subject = ModelProcess(
            command if opened is None else [*opened.prefix, *command],
            name=identifier,
            environment=environment,
            timeout=timeout,
            max_output=max_output,
            on_output=on_output,
            shared=shared,
            cage=opened,
            closing=stack.pop_all(),
        )
    try:
        subject._greet(start_timeout, interpreter)
        subject._load(loader, identifier, dict(options or {}), list(shared))
    except BaseException:
        subject.close()
        raise
    return subject


class ModelProcess:
    """A subject in a process of its own; made by `start_model_process`.

    Parameters
    ----------
    command : sequence of str
        What to run; the number of a descriptor is appended to it.
    name : str
        For messages.
    environment, timeout, max_output, on_output, shared
        See :func:`start_model_process`.
    cage : OpenCage, optional
        The cage that it runs in.
    closing : ExitStack, optional
        Closed with it.

    Attributes
    ----------
    name : str
        As above.
    python_version : str
        Of the interpreter that answers.
    peak_memory : int
        Highest resident memory of the process so far, in bytes, as it says.
    cage : OpenCage or None
        As above.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        environment: Mapping[str, str] | None,
        timeout: float,
        max_output: int,
        on_output: Callable[[str], None] | None,
        shared: Sequence[Path] = (),
        cage: OpenSandbox | None = None,
        closing: ExitStack | None = None,
    ) -> None:
        self.name = name
        self.cage = cage
        self.python_version = ""
        self.peak_memory = 0
        self._timeout = timeout
        self._max_output = max_output
        self._methods: dict[str, inspect.Signature] = {}
        self._number = 0
        self._over: str | None = None  # what ended it
        self._verdict: Verdict | None = None  # of the cage
        self._lock = threading.RLock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            number = theirs.fileno()
            self._process = guarded([*command, str(number)], handed_on=number, environment=environment)
        self._channel = Channel(ours, limits=Limits(), trusted=shared, check=Look(self._process))
        assert self._process.stdout is not None
        self._output = Output(
            os.dup(self._process.stdout.fileno()), limit=max_output, on_flood=ender(self._process), on_text=on_output
        )
        self._process.stdout.close()
        self._abandon = weakref.finalize(self, end, self._process, os.getpid(), closing)
        self._closing = closing

    # -- what it is asked ----------------------------------------------------------------------------------------

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the subject, or read one of its attributes.

        Parameters
        ----------
        method : str
            Its name; not a private one.
        *args, **kwargs
            Plain types, arrays, stimulus sets, assemblies; neither need be hashable nor picklable.

        Returns
        -------
        object
            What the method returned: of the same types. Large arrays are maps of memory that the subject filled.

        Raises
        ------
        NotApplicable, UserError
            As the subject raised them.
        SubjectFailed
            Any other error of the subject, with its traceback as a note; or the process ended, took longer than its
            timeout, printed too much, or gave an answer that cannot be read. It is then gone for good.
        CannotTravel
            An argument or a result is of another type.
        """
        request = {"ask": "call", "method": method, "args": list(args), "kwargs": kwargs}
        return self._ask(request, f"in {method}")

    def signature(self, method: str) -> inspect.Signature | None:
        """Parameters of a method of the subject, defaults replaced by None; None where there is no such method."""
        return self._methods.get(method)

    @property
    def log(self) -> str:
        """What it printed so far; of very much the beginning and the end."""
        return self._output.text

    @property
    def pid(self) -> int:
        """Process that watches over the subject: when it has ended, nothing of the subject is left."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it can be asked."""
        return self._over is None and self._process.poll() is None

    def close(self) -> None:
        """End the process and all that it started; again does nothing."""
        if self._over is None:
            self._over = "was closed"
        self._channel.close()  # at which it ends by itself, and tidies up
        self._wait()
        self._kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait(self) -> bool:
        """Give it time to end by itself, and its cage to say why; whether it did."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        return self._process.poll() is not None

    def _kill(self) -> int:
        """End it at once; the exit status, negative for a signal."""
        self._abandon.detach()
        status = end(self._process, os.getpid())
        if self.cage is not None and self._verdict is None:
            self._verdict = self.cage.verdict
        if self._closing is not None:
            self._closing.close()
        self._output.finish(2.0)
        return status

    # -- inside --------------------------------------------------------------------------------------------------

    def _greet(self, timeout: float, interpreter: str) -> None:
        """Wait until it is ready."""
        deadline = time.monotonic() + timeout
        try:
            hello, _ = self._channel.receive(deadline=deadline)
        except TimeoutError:
            self._fail(f"was not ready within {timeout:,g} s", "start", "look at what it does when it starts")
        except Closed:
            self._fail_to_start(interpreter)
        except WireError as error:
            self._fail(f"gave no proper greeting ({error})", "protocol")
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
            remedy = f"install the same version of Brain-Score for {interpreter} as here"
            self._fail("speaks another protocol", "protocol", remedy)
        self.python_version = str(hello.get("python"))[:40]

    def _load(self, loader: str, identifier: str, options: dict[str, Any], folders: list[Path]) -> None:
        request = {"ask": "load", "loader": loader, "identifier": identifier, "options": options, "folders": folders}
        described = self._ask(request, "while it was loaded")
        try:
            methods = expect(expect(described, dict).get("methods"), dict)
            self._methods = {str(name): signature_of(parameters) for name, parameters in methods.items()}
        except (WireError, ValueError, TypeError) as error:
            self._fail(f"described itself wrongly ({error})", "protocol")

    def _ask(self, request: dict[str, Any], doing: str) -> Any:
        with self._lock:
            if self._over is not None:
                raise SubjectFailed(
                    f"the subject {self.name!r} cannot be asked any more: it {self._over}", cause="exit"
                )
            self._number += 1
            deadline = time.monotonic() + self._timeout
            encoder = Encoder(KINDS, memory=available_memory() // 2)
            try:
                body = encoder.encode({**request, "id": self._number})
                try:
                    self._channel.send(body, encoder.payloads, deadline=deadline)
                    reply, payloads = self._channel.receive(deadline=deadline)
                    self._output.drain()  # what it printed belongs to this question
                    return self._read(reply, Decoder(payloads, KINDS))
                except TimeoutError:
                    what = f"gave no answer within {self._timeout:,g} s ({doing})"
                    self._fail(what, "timeout", "allow it more time, if it was not stuck")
                except Closed:
                    self._fail_by_end(doing)
                except (WireError, RecursionError) as error:
                    self._fail(f"gave an answer that cannot be read ({doing}): {error}", "protocol")
                except (KeyboardInterrupt, SystemExit):
                    self.close()  # its answer would be taken for that to the next question
                    raise
            finally:
                encoder.close()

    def _read(self, reply: Any, decoder: Decoder) -> Any:
        """Read an answer; raise the error that it tells of."""
        reply = expect(reply, dict)
        if reply.get("id") != self._number:
            raise WireError("an answer to another question")
        if ("answer" in reply) == ("error" in reply):
            raise WireError("neither an answer nor an error, or both")
        answer = decoder.decode(reply["answer"]) if "answer" in reply else None
        self.peak_memory = max(self.peak_memory, take_over(decoder.json(reply.get("about"))))
        if "error" in reply:
            raise_error(self.name, reply["error"])
        return answer

    def _fail_to_start(self, interpreter: str) -> NoReturn:
        self._wait()
        status = self._kill()
        if self._verdict is not None:
            self._fail_by_cage(self._verdict, "while it started")
        lines = [line for line in self.log.splitlines() if line.strip()]
        what = f"did not start: {lines[-1].strip()[:500]}" if lines else f"did not start, and {ending_text(status)}"
        self._fail(what, "start", remedy_for(lines, interpreter))

    def _fail_by_end(self, doing: str) -> NoReturn:
        by_itself = self._wait()
        status = self._kill()
        if self._output.flooded:
            self._fail(f"printed more than {format_size(self._max_output)} ({doing})", "output", "let it print less")
        if self._verdict is not None:
            self._fail_by_cage(self._verdict, doing)
        if not by_itself:
            self._fail(f"closed its connection ({doing})", "protocol")
        number = -status if status < 0 else status - 128 if 128 < status <= 192 else 0
        if number == signal.SIGKILL:
            self._fail(
                f"{ending_text(status)} ({doing}), most often because memory ran out",
                "crash",
                "give it more memory, or let it use less",
                out_of_memory=True,
            )
        self._fail(f"{ending_text(status)} ({doing})", "crash" if number else "exit")

    def _fail_by_cage(self, verdict: Verdict, doing: str) -> NoReturn:
        cause: Cause = "crash" if verdict.cause not in ("timeout", "start") else verdict.cause
        remedy = (
            "let it use less, or allow it more" if cause != "start" else "see docs/sandbox.md for what a cage needs"
        )
        self._fail(f"{verdict.message} ({doing})", cause, remedy, out_of_memory=verdict.cause == "memory")

    def _fail(self, what: str, cause: Cause, remedy: str | None = None, *, out_of_memory: bool = False) -> NoReturn:
        """End the process, and say why, with the end of what it printed."""
        self._over = what
        self._kill()
        self._channel.close()
        message = f"the subject {self.name!r} {what}"
        if tail := tail_of(self.log):
            message += f"\nIt printed at last:\n{tail}"
        raise (SubjectOutOfMemory if out_of_memory else SubjectFailed)(message, remedy, cause=cause) from None
