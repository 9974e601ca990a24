"""The subject's side: load it, answer calls."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import platform
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.isolation.tables import KINDS
from brainscore_core.isolation.values import Decoder, Encoder
from brainscore_core.isolation.wire import PROTOCOL, Channel, Closed
from brainscore_core.memory import available_memory
from brainscore_core.provenance import recording
from brainscore_core.strict_json import plain

__all__ = ["serve"]

_MOST_WARNINGS = 100  # in one call
_MOST_CHARACTERS = 100_000  # of a message or a traceback


def serve(channel: Channel) -> None:
    """Answer until the other side has gone."""
    if not sys.warnoptions:  # the other side's filters count; what a plugin asks not to hear, it does not
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)
    channel.send({"protocol": PROTOCOL, "python": platform.python_version(), "pid": os.getpid()})
    subject: Any = None
    folders: list[Path] = []
    while True:
        try:
            body, payloads = channel.receive()
        except Closed:
            return
        request = Decoder(payloads, KINDS).decode(body)
        loading = request["ask"] == "load"
        folders = request["folders"] if loading else folders
        work = functools.partial(_load, request) if loading else functools.partial(_call, subject, request)
        made = _answer(channel, request["id"], work, folders=folders, describe=loading)
        subject = made if loading else subject
        del body, payloads, request, work, made  # they may be large, and the next question may be long in coming


def _load(request: dict[str, Any]) -> Any:
    module, _, name = request["loader"].partition(":")
    loader = getattr(importlib.import_module(module), name)
    return loader(request["identifier"], **request["options"])


def _call(subject: Any, request: dict[str, Any]) -> Any:
    name = request["method"]
    if name.startswith("_"):
        raise UserError(f"{name!r} is private", remedy="call a public method")
    found = getattr(subject, name)
    return found(*request["args"], **request["kwargs"]) if callable(found) else found


def _answer(channel: Channel, number: int, work: Callable[[], Any], *, folders: Sequence[Path], describe: bool) -> Any:
    """Do what was asked, and tell how it went; gives what was made."""
    body: dict[str, Any] = {"id": number}
    made, encoder = None, Encoder()
    with recording() as record, _Collected() as collected:
        try:
            made = work()
            encoder = Encoder(KINDS, memory=available_memory() // 2, folders=folders)
            body["answer"] = _described(made) if describe else encoder.encode(made)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other side is told
            encoder.close()
            encoder = Encoder()
            body["error"] = _error(error)
    body["about"] = encoder.json(
        {"notes": plain(record.items), "warnings": collected.seen, "peak_bytes": _peak_memory()}
    )
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    try:
        channel.send(body, encoder.payloads)
    finally:
        encoder.close()
    return made


def _described(subject: Any) -> dict[str, Any]:
    """Public methods of a subject with their parameters: name, kind, whether there is a default."""
    methods = {}
    for name in dir(subject):
        if name.startswith("_") or isinstance(inspect.getattr_static(subject, name, None), property):
            continue
        method = getattr(subject, name, None)
        if not callable(method):
            continue
        try:
            parameters = inspect.signature(method).parameters.values()
        except (TypeError, ValueError):
            continue
        methods[name] = [[one.name, int(one.kind), one.default is not one.empty] for one in parameters]
    return {"methods": methods}


def _error(error: Exception) -> dict[str, Any]:
    trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace))
    user = isinstance(error, UserError)
    return {
        "kind": "not applicable" if isinstance(error, NotApplicable) else "user" if user else _sort(error),
        "type": type(error).__qualname__,
        "message": (error.message if isinstance(error, UserError) else str(error))[:_MOST_CHARACTERS],
        "remedy": str(error.remedy)[:_MOST_CHARACTERS] if isinstance(error, UserError) and error.remedy else None,
        "traceback": text[-_MOST_CHARACTERS:],
    }


def _sort(error: Exception) -> str:
    return "memory" if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" else "other"


class _Collected:
    """Collects warnings instead of printing them."""

    def __init__(self) -> None:
        self.seen: list[list[Any]] = []

    def __enter__(self) -> _Collected:
        self._before = warnings.showwarning
        warnings.showwarning = self._take
        return self

    def __exit__(self, *error: object) -> None:
        warnings.showwarning = self._before

    def _take(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        names = [kind.__name__ for kind in category.__mro__]
        one = [str(message)[:_MOST_CHARACTERS], names, filename, lineno]
        if len(self.seen) < _MOST_WARNINGS and one not in self.seen:
            self.seen.append(one)


def _peak_memory() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
