"""Isolated models as seen from the scoring process: start one, call its methods, and report how it ended."""

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

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_core.isolation.children import LifeCheck, Output, end, ender, ending_text, guarded
from brainscore_core.isolation.sandbox import Sandbox
from brainscore_core.isolation.tables import KINDS
from brainscore_core.isolation.values import (
    Cause,
    Decoder,
    Encoder,
    SubjectFailed,
    SubjectOutOfMemory,
    raise_error,
    take_over,
)
from brainscore_core.isolation.wire import PROTOCOL, Channel, Closed, Limits, WireError, expect
from brainscore_core.memory import available_memory, format_size, memory_limit
from brainscore_core.paths import cache_home, home
from brainscore_core.plugins.environments import environment_of, plugin_requirements, without_python_settings
from brainscore_core.plugins.loading import is_file_reference, referenced_file

if TYPE_CHECKING:
    from brainscore_core.isolation.sandbox import Verdict
    from brainscore_core.plugins.environments import Environment


_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_TAIL_LINES, _TAIL_CHARACTERS = 20, 2000


_KINDS = [  # by number
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
]


def signature_of(parameters: Any) -> inspect.Signature:
    """Signature from the parameters that a model process describes by name, kind and whether they have a default.

    Defaults become None. Raises WireError, LookupError, ValueError or TypeError if the description is invalid.
    """
    parsed = []
    for parameter in expect(parameters, list):
        name, kind, optional = parameter
        default = None if expect(optional, bool) else inspect.Parameter.empty
        parsed.append(inspect.Parameter(expect(name, str), _KINDS[expect(kind, int)], default=default))
    return inspect.Signature(parsed, __validate_parameters__=False)


TIMEOUT = 12 * 3600.0
"""Seconds that one call may take."""

START_TIMEOUT = 300.0
"""Seconds until a process must be ready, before it loads anything."""

MAX_OUTPUT = 64 << 20
"""Bytes that a model process may print."""

_GRACE = 2.0  # seconds in which a process may end by itself


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
    sandbox: Sandbox | None = None,
) -> ModelProcess:
    """Start a process that loads a model.

    Parameters
    ----------
    loader : str
        ``'package.module:function'``, which is called in that process with `identifier` and returns the model.
    identifier : str
        Name of the model.
    options : mapping, optional
        Further keyword arguments of the function, of plain types.
    python : Path, optional
        The interpreter, whose environment must contain this platform; by default the running one.
    environment : mapping, optional
        All environment variables of the process; by default this one's.
    prefix : sequence of str
        Start of the command line, before the interpreter, such as a wrapper with its arguments. It must pass on
        inherited descriptors and exit statuses.
    timeout : float
        Seconds that loading and each call may take.
    start_timeout : float
        Seconds until the process must be ready.
    max_output : int
        Bytes that it may print before it is killed.
    on_output : callable, optional
        Called, from another thread, with each piece of text that it prints.
    sandbox : Sandbox, optional
        What the process may see and use. `environment` is then that of the watching process; the model gets the
        variables of the sandbox.

    Returns
    -------
    ModelProcess
        A context manager, which must be closed.

    Raises
    ------
    SubjectFailed
        If the process did not start, or ended while it loaded the model.
    NotApplicable, UserError
        If loading raised it.

    Examples
    --------
    >>> with start_model_process("fractions:Fraction", "3/4") as process:
    ...     process.call("numerator")
    3
    """
    if not hasattr(socket, "AF_UNIX") or os.name != "posix":
        raise UserError("isolated models require Linux or macOS", remedy="score without isolation here")
    interpreter = str(python or sys.executable)
    command = [*prefix, interpreter, "-P", "-m", "brainscore_core.isolation"]
    process = ModelProcess(
        command,
        name=identifier,
        environment=environment,
        timeout=timeout,
        max_output=max_output,
        on_output=on_output,
        sandbox=sandbox,
    )
    try:
        process.await_greeting(start_timeout, interpreter)
        process.load(loader, identifier, dict(options or {}))
    except BaseException:
        process.close()
        raise
    return process


class ModelProcess:
    """A model in a process of its own; made by `start_model_process`.

    Parameters
    ----------
    command : sequence of str
        The command line, to which the number of a descriptor is appended.
    name : str
        Name of the model, for messages.
    environment, timeout, max_output, on_output, sandbox
        See :func:`start_model_process`.

    Attributes
    ----------
    name : str
        As above.
    python_version : str
        Version of the process's interpreter.
    peak_memory : int
        Highest resident memory of the process so far, in bytes, as it reports.
    sandbox : OpenSandbox or None
        The sandbox of the process.
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
        sandbox: Sandbox | None = None,
    ) -> None:
        self.name = name
        self.python_version = ""
        self.peak_memory = 0
        self._timeout = timeout
        self._max_output = max_output
        self._methods: dict[str, inspect.Signature] = {}
        self._number = 0
        self._end_reason: str | None = None
        self._verdict: Verdict | None = None  # of the sandbox
        self._lock = threading.RLock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs, ExitStack() as stack:
            self.sandbox = None if sandbox is None else stack.enter_context(sandbox.opened(socket=True))
            command = [*(self.sandbox.prefix if self.sandbox else ()), *command, str(theirs.fileno())]
            self._process = guarded(command, inherited=theirs.fileno(), environment=environment)
            self._closing = stack.pop_all()
        self._channel = Channel(ours, limits=Limits(), check=LifeCheck(self._process))
        assert self._process.stdout is not None
        self._output = Output(
            os.dup(self._process.stdout.fileno()), limit=max_output, on_flood=ender(self._process), on_text=on_output
        )
        self._process.stdout.close()
        self._abandon = weakref.finalize(self, end, self._process, os.getpid(), self._closing)

    # -- requests ------------------------------------------------------------------------------------------------

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of the model, or read one of its attributes.

        Parameters
        ----------
        method : str
            A public name.
        *args, **kwargs
            Plain types, arrays, stimulus sets, assemblies. They need not be hashable or picklable.

        Returns
        -------
        object
            What the method returned, of the same types. Large arrays are maps of memory that the model's process
            filled.

        Raises
        ------
        NotApplicable, UserError
            If the model raised it.
        SubjectFailed
            If the model raised another error (its traceback is a note); or the process ended, exceeded its timeout,
            printed too much, or gave an invalid answer. The process has then ended.
        CannotTravel
            If an argument or a result is of another type.
        """
        request = {"ask": "call", "method": method, "args": list(args), "kwargs": kwargs}
        return self._request(request, f"in {method}")

    def signature(self, method: str) -> inspect.Signature | None:
        """Signature of a method of the model, with None for defaults; None if the method does not exist."""
        return self._methods.get(method)

    @property
    def log(self) -> str:
        """What it printed so far; if that is very long, the beginning and the end."""
        return self._output.text

    @property
    def pid(self) -> int:
        """Id of the guarding process; when it has ended, all processes of the model have ended."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it answers calls."""
        return self._end_reason is None and self._process.poll() is None

    def close(self) -> None:
        """End the process and all its descendants; further calls do nothing."""
        if self._end_reason is None:
            self._end_reason = "was closed"
        self._channel.close()  # the process then cleans up and ends
        self._wait()
        self._kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait(self) -> bool:
        """Give the process time to end by itself, and its sandbox to report why; return whether it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        return self._process.poll() is not None

    def _kill(self) -> int:
        """End the process at once; return the exit status, negative for a signal."""
        self._abandon.detach()
        status = end(self._process, os.getpid())
        if self.sandbox is not None and self._verdict is None:
            self._verdict = self.sandbox.verdict
        self._closing.close()
        self._output.finish(2.0)
        return status

    # -- implementation ------------------------------------------------------------------------------------------

    def await_greeting(self, timeout: float, interpreter: str) -> None:
        """Wait until the process is ready."""
        deadline = time.monotonic() + timeout
        try:
            hello, _ = self._channel.receive(deadline=deadline)
        except TimeoutError:
            self._fail(f"was not ready within {timeout:,g} s", "start", "find out what it does when it starts")
        except Closed:
            self._fail_by_end("while it started", interpreter)
        except WireError as error:
            self._fail(f"sent an invalid greeting ({error})", "protocol")
        if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
            remedy = f"install the same version of Brain-Score for {interpreter} as here"
            self._fail("uses another protocol", "protocol", remedy)
        self.python_version = str(hello.get("python"))[:40]

    def load(self, loader: str, identifier: str, options: dict[str, Any]) -> None:
        request = {"ask": "load", "loader": loader, "identifier": identifier, "options": options}
        description = self._request(request, "while it was loaded")
        try:
            methods = expect(expect(description, dict).get("methods"), dict)
            self._methods = {str(name): signature_of(parameters) for name, parameters in methods.items()}
        except (WireError, ValueError, TypeError) as error:
            self._fail(f"gave an invalid description of itself ({error})", "protocol")

    def _request(self, request: dict[str, Any], doing: str) -> Any:
        with self._lock:
            if self._end_reason is not None:
                raise SubjectFailed(f"the subject {self.name!r} no longer answers: it {self._end_reason}", cause="exit")
            self._number += 1
            deadline = time.monotonic() + self._timeout
            encoder = Encoder(KINDS, memory=available_memory() // 2)
            try:
                body = encoder.encode({**request, "id": self._number})
                try:
                    self._channel.send(body, encoder.payloads, deadline=deadline)
                    reply, payloads = self._channel.receive(deadline=deadline)
                    self._output.drain()  # what it printed belongs to this request
                    return self._read(reply, Decoder(payloads, KINDS))
                except TimeoutError:
                    event = f"gave no answer within {self._timeout:,g} s ({doing})"
                    self._fail(event, "timeout", "allow more time, unless it was stuck")
                except Closed:
                    self._fail_by_end(doing)
                except (WireError, RecursionError) as error:
                    self._fail(f"gave an answer that cannot be read ({doing}): {error}", "protocol")
                except (KeyboardInterrupt, SystemExit):
                    self.close()  # its answer would be read as the answer to the next request
                    raise
            finally:
                encoder.close()

    def _read(self, reply: Any, decoder: Decoder) -> Any:
        """Read an answer; raise the error that it contains."""
        reply = expect(reply, dict)
        if reply.get("id") != self._number:
            raise WireError("an answer to another request")
        if ("answer" in reply) == ("error" in reply):
            raise WireError("not exactly one of an answer and an error")
        answer = decoder.decode(reply["answer"]) if "answer" in reply else None
        self.peak_memory = max(self.peak_memory, take_over(decoder.json(reply.get("about"))))
        if "error" in reply:
            raise_error(self.name, reply["error"])
        return answer

    def _fail_by_end(self, doing: str, interpreter: str | None = None) -> NoReturn:
        """Raise the error of a process that closed its connection; `interpreter`: in which it did not start."""
        by_itself = self._wait()
        status = self._kill()
        ending, verdict = ending_text(status), self._verdict
        number = -status if status < 0 else status - 128 if 128 < status <= 192 else 0
        if self._output.flooded:
            self._fail(f"printed more than {format_size(self._max_output)} ({doing})", "output", "make it print less")
        if verdict is not None:
            cause: Cause = verdict.cause if verdict.cause in ("timeout", "start") else "crash"
            remedy = "make it use less, or raise the limit"
            if cause == "start":
                remedy = "see docs/operators/sandbox.md for the requirements"
            self._fail(f"{verdict.message} ({doing})", cause, remedy, out_of_memory=verdict.cause == "memory")
        if interpreter is not None:
            lines = [line for line in self.log.splitlines() if line.strip()]
            remedy = f"find out why with: {interpreter} -c 'import brainscore_core.isolation'"
            if missing := _MISSING.search(lines[-1]) if lines else None:
                package = "brainscore" if missing[1].startswith("brainscore") else missing[1].partition(".")[0]
                remedy = f"install the missing package: {interpreter} -m pip install {package}"
            problem = f":  {lines[-1].strip()[:500]}" if lines else f", and {ending}"
            self._fail(f"did not start{problem}", "start", remedy)
        if not by_itself:
            self._fail(f"closed its connection ({doing})", "protocol")
        if number == signal.SIGKILL:
            event = f"{ending} ({doing}), most often because memory ran out"
            self._fail(event, "crash", "give it more memory, or make it use less", out_of_memory=True)
        self._fail(f"{ending} ({doing})", "crash" if number else "exit")

    def _fail(self, event: str, cause: Cause, remedy: str | None = None, *, out_of_memory: bool = False) -> NoReturn:
        """End the process and raise an error with the end of what it printed."""
        self._end_reason = event
        self._kill()
        self._channel.close()
        message = f"the subject {self.name!r} {event}"
        if lines := self.log[-_TAIL_CHARACTERS:].rstrip().splitlines()[-_TAIL_LINES:]:
            message += "".join(["\nIts last output:", *(f"\n  | {line}" for line in lines)])
        raise (SubjectOutOfMemory if out_of_memory else SubjectFailed)(message, remedy, cause=cause) from None


SANDBOX_REMARK = "the model ran in a cage: without network, seeing only its own files and the stimuli"

_OPTIONS = frozenset({"files", "memory", "processes", "seconds", "file_size", "scratch", "environment"})
_HOMES = {"TORCH_HOME": "~/.cache/torch", "HF_HOME": "~/.cache/huggingface"}


def sandbox_for(domain: Domain, model: str, environment: Environment | None, given: Mapping[str, Any]) -> Sandbox:
    """Configure the sandbox of a model, without importing the model.

    `domain`: that of the model. `model`: key of its `model_registry`, or ``path/to/file.py:make_model``. `given`: plain
    values: ``files`` (paths of files and folders that the model sees in addition to its plugin), ``environment``
    (variables), and the limits of `Sandbox`. Missing limits are the defaults of `Sandbox`; missing memory is the limit
    of this process. Result: argument for :func:`~brainscore_core.isolation.start_model_process`.
    """
    if unknown := sorted(set(given) - _OPTIONS):
        raise UserError(f"a sandbox has no option {unknown[0]!r}", remedy=f"options: {', '.join(sorted(_OPTIONS))}")
    paths = [Path(path).expanduser().absolute() for path in given.get("files", ())]
    files = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()]
    variables = _homes(paths)
    registry = domain.registries["model"]
    if is_file_reference(model):
        files.append(referenced_file(model))
    elif registry.resolver_of(model) is None:  # libraries are installed where the sandbox sees them
        location = registry.location(model)
        if location.folder is None:
            raise UserError(
                f"{model!r} was registered by {location.file}, which is not a plugin", remedy="move it into a plugin"
            )
        plugin = location.folder.absolute()
        variable = domain.plugin_index.variable
        if location.source == variable:
            variables[variable] = str(plugin.parent.parent)  # inside, it is the only plugin there
            variables[f"{variable}_REPLACE"] = os.environ.get(f"{variable}_REPLACE", "")
        elif location.source != "built in" and plugin.is_dir():
            plugin = plugin.parents[location.package.count(".") - 1] if "." in location.package else plugin
        (folders if plugin.is_dir() else files).append(plugin)
    if environment is not None:
        folders.append(environment.folder)
    limits = {name: given[name] for name in ("processes", "seconds", "file_size", "scratch") if name in given}
    return Sandbox(
        folders=folders,
        files=files,
        environment={**variables, **given.get("environment", {})},
        memory=int(given.get("memory") or memory_limit()),
        **limits,
    )


def _homes(files: list[Path]) -> dict[str, str]:
    """Variables of the cache folders that contain some of these files, so that libraries find them."""
    homes = {"BRAINIO_HOME": cache_home(), "BRAINSCORE_HOME": home()}
    homes |= {name: Path(os.environ.get(name) or default).expanduser().absolute() for name, default in _HOMES.items()}
    return {name: str(folder) for name, folder in homes.items() if any(file.is_relative_to(folder) for file in files)}


def isolated_model(
    domain: Domain,
    model: str,
    *,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    environment: Environment | None = None,
    timeout: float = TIMEOUT,
    cage: Mapping[str, Any] | None = None,
) -> Any:
    """Start a process that loads a model, and return a model of the domain that forwards calls to it.

    `model`: key of the domain's `model_registry`, or ``path/to/file.py:make_model``. `identifier`, `how`: name in the
    results and further options, for a model from a file. `environment`: by default that of :func:`environment_for`.
    `timeout`: limit for loading and for each call, in seconds. `cage`: runs the model in a sandbox with these options
    of :func:`sandbox_for`; an empty mapping: the defaults. Result: a context manager; close it to end the process. A
    SubjectFailed if the process did not start, or loading the model failed.
    """
    require_reference(domain, model, identifier, how)
    if is_file_reference(model):
        model = f"{referenced_file(model)}:{model.rpartition(':')[2]}"
    if environment is None:
        environment = environment_for(domain, model)
    options = {"identifier": identifier, "how": dict(how or {})}
    process = start_model_process(
        domain.features["model server"],
        model,
        options=options if is_file_reference(model) else None,
        python=None if environment is None else environment.python,
        # the environment lists the folders of PYTHONPATH after its own
        environment=None if environment is None else without_python_settings(),
        timeout=timeout,
        on_output=_to_standard_error,
        sandbox=None if cage is None else sandbox_for(domain, model, environment, cage),
    )
    try:
        return domain.feature("isolated model")(process, environment)
    except BaseException:
        process.close()
        raise


def environment_for(domain: Domain, model: str) -> Environment | None:
    """Find or make the environment that the ``requirements.txt`` in a model's folder requires.

    `model`: key of the domain's `model_registry`, or ``path/to/file.py:make_model``. Result: None for a model without
    requirements: it runs in the environment of this interpreter.
    """
    if is_file_reference(model):
        folder: Path | None = referenced_file(model).parent
    else:
        registry = domain.registries["model"]
        folder = None if registry.resolver_of(model) is not None else registry.location(model).folder
    requirements = plugin_requirements(folder)
    if not requirements:
        return None
    return environment_of(requirements, plugin=model, on_progress=lambda line: _to_standard_error(f"{line}\n"))


def require_reference(domain: Domain, model: Any, identifier: str | None, how: Mapping[str, Any] | None) -> None:
    """Raise an error for a model that cannot be made in another process, before anything is started."""
    if not isinstance(model, str):
        raise UserError(
            f"a {type(model).__name__} cannot move into another process",
            remedy="name a registered model, or a file and a function in it: path/to/file.py:make_model",
        )
    if not is_file_reference(model):
        domain.require_model(model, identifier, how)


def _to_standard_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
