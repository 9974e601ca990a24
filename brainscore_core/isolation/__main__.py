"""Process of an isolated model: ``python -m brainscore_core.isolation SOCKET``.

``SOCKET`` is the number of an open descriptor, one end of a Unix socket pair, which is the only connection to the
process that started it. Standard output and standard error belong to the model.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import platform
import socket
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.isolation.tables import KINDS
from brainscore_core.isolation.values import Decoder, Encoder
from brainscore_core.isolation.wire import PROTOCOL, Channel, Closed, Limits
from brainscore_core.memory import available_memory
from brainscore_core.plugins.loading import MissingRequirementError, missing_package
from brainscore_core.provenance import recording
from brainscore_core.strict_json import plain
from brainscore_core.supported_data_standards.brainio.downloads import Offline, is_unreachable


def main() -> None:
    """Serve on the descriptor in the first argument."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)  # not for programs that the model starts
    channel = Channel(socket.socket(fileno=descriptor), limits=Limits(line=1 << 30, inline=1 << 30))
    try:
        serve(channel)
    except Closed:
        sys.exit(0)
    finally:
        channel.close()


_MAX_WARNINGS = 100  # in one call
_MAX_CHARACTERS = 100_000  # of a message or a traceback


def serve(channel: Channel) -> None:
    """Answer until the connection is closed."""
    if not sys.warnoptions:  # the scoring process filters warnings; filters set by a plugin also hold
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
    channel.send({"protocol": PROTOCOL, "python": platform.python_version(), "pid": os.getpid()})
    model: Any = None
    while True:
        try:
            body, payloads = channel.receive()
        except Closed:
            return
        request = Decoder(payloads, KINDS).decode(body)
        loading = request["ask"] == "load"
        work = functools.partial(_load, request) if loading else functools.partial(_call, model, request)
        result = _answer(channel, request["id"], work, describe=loading)
        model = result if loading else model
        del body, payloads, request, work, result  # may be large, and the next request may come much later


def _load(request: dict[str, Any]) -> Any:
    module, _, name = request["loader"].partition(":")
    return getattr(importlib.import_module(module), name)(request["identifier"], **request["options"])


def _call(model: Any, request: dict[str, Any]) -> Any:
    name = request["method"]
    if name.startswith("_"):
        raise UserError(f"{name!r} is private", remedy="call a public method")
    attribute = getattr(model, name)
    return attribute(*request["args"], **request["kwargs"]) if callable(attribute) else attribute


def _answer(channel: Channel, number: int, work: Callable[[], Any], *, describe: bool) -> Any:
    """Do the requested work, send the answer, and return the result (None after an error)."""
    body: dict[str, Any] = {"id": number}
    result, encoder = None, Encoder()
    with recording() as record, _collected_warnings() as collected:
        try:
            result = work()
            encoder = Encoder(KINDS, memory=available_memory() // 2)
            body["answer"] = _description(result) if describe else encoder.encode(result)
        except Exception as error:  # noqa: BLE001 - every error is reported to the scoring process
            encoder.close()
            encoder = Encoder()
            body["error"] = _error(error)
    body["about"] = encoder.json({"notes": plain(record.items), "warnings": collected, "peak_bytes": _peak_memory()})
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    try:
        channel.send(body, encoder.payloads)
    finally:
        encoder.close()
    return result


def _description(model: Any) -> dict[str, Any]:
    """Describe the public methods of a model by their parameters: name, kind, whether there is a default."""
    methods = {}
    for name in dir(model):
        if name.startswith("_") or isinstance(inspect.getattr_static(model, name, None), property):
            continue
        method = getattr(model, name, None)
        if not callable(method):
            continue
        try:
            parameters = inspect.signature(method).parameters.values()
        except (TypeError, ValueError):
            continue
        methods[name] = [[item.name, int(item.kind), item.default is not item.empty] for item in parameters]
    return {"methods": methods}


def _error(error: Exception) -> dict[str, Any]:
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace))
    offline, missing = is_unreachable(error), missing_package(error)
    user = offline or missing or isinstance(error, UserError)
    name = MissingRequirementError.__name__ if missing else type(error).__qualname__
    message = error.message if isinstance(error, UserError) else str(error)
    memory = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    kind = "user" if user else "memory" if memory else "other"
    return {
        "kind": "not applicable" if isinstance(error, NotApplicable) else kind,
        "type": Offline.__name__ if offline else name,
        "message": (f"{missing} is not installed: {message}" if missing else message)[:_MAX_CHARACTERS],
        "remedy": str(error.remedy)[:_MAX_CHARACTERS] if isinstance(error, UserError) and error.remedy else None,
        "traceback": text[-_MAX_CHARACTERS:],
    }


@contextmanager
def _collected_warnings() -> Iterator[list[list[Any]]]:
    """Collect warnings during the block instead of printing them; filters that a plugin sets stay."""
    items: list[list[Any]] = []

    def take(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        item = [str(message)[:_MAX_CHARACTERS], [kind.__name__ for kind in category.__mro__], filename, lineno]
        if len(items) < _MAX_WARNINGS and item not in items:
            items.append(item)

    before, warnings.showwarning = warnings.showwarning, take
    try:
        yield items
    finally:
        warnings.showwarning = before


def _peak_memory() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


if __name__ == "__main__":
    main()
