"""Logging: each line names its request or task, and contains neither secrets nor addresses of people."""

from __future__ import annotations

import json
import logging
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from brainscore_core.errors import UserError

__all__ = [
    "JsonLines",
    "PlainLines",
    "WithIdentifier",
    "configuration",
    "connect_task_signals",
    "current_identifier",
    "is_valid_identifier",
    "log_context",
    "task_identifier",
    "without_secrets",
]

_current: ContextVar[str] = ContextVar("brainscore_log_id", default="")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+/=-]{7,63}")


def is_valid_identifier(text: str) -> bool:
    """Whether a name that somebody else gave to a request may stand in the log."""
    return _IDENTIFIER.fullmatch(text) is not None


def current_identifier() -> str:
    """The name of the request or task that is worked on; empty where there is none."""
    return _current.get()


@contextmanager
def log_context(name: str = "") -> Iterator[str]:
    """Name all lines that are logged from here on.

    Parameters
    ----------
    name : str
        Of the request, task or job; empty: a random one.
    """
    name = name or secrets.token_hex(16)
    before = _current.set(name)
    try:
        yield name
    finally:
        _current.reset(before)


_HIDDEN = (
    # passwords in addresses of databases and servers
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@:]*:[^\s/@]*@", re.IGNORECASE), r"\1<secret>@"),
    # e-mail addresses
    (re.compile(r"(?<![A-Za-z0-9._%+'-])[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}"), "<address>"),
    # tokens of this site, and what stands in headers
    (re.compile(r"\bbs_[A-Za-z0-9_-]{16,}"), "<secret>"),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE), r"\1 <secret>"),
    # links of mails
    (re.compile(r"(/accounts/(?:confirm-email|password/reset/key)/)[^\s/?\"']+"), r"\1<secret>"),
    # name=value and "name": "value"
    (
        re.compile(
            r"((?:password\d?|passwd|secret\w{0,40}|token|csrfmiddlewaretoken|csrftoken|sessionid|authorization|api_?key"
            r"|signature|x-amz-[\w-]{1,60}|aws\w{0,40}key\w{0,40})[\"']?\s{0,20}[=:]\s{0,20}[\"']?)(?!<)[^\s\"'&,;}]+",
            re.IGNORECASE,
        ),
        r"\1<secret>",
    ),
)


def without_secrets(text: str) -> str:
    """Take out what must stand in no log.

    Examples
    --------
    >>> without_secrets("mail to me@example.org failed: smtp://me:hunter2@mail.example.org")
    'mail to <address> failed: smtp://<secret>@mail.example.org'
    """
    for pattern, instead in _HIDDEN:
        text = pattern.sub(instead, text)
    return text


class WithIdentifier(logging.Filter):
    """Adds the name of the request or task."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let all lines pass."""
        record.identifier = current_identifier()
        return True


class PlainLines(logging.Formatter):
    """For people."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}{of}: {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        """Write one."""
        identifier = getattr(record, "identifier", "")
        record.of = f" [{identifier}]" if identifier else ""
        return without_secrets(super().format(record))


class JsonLines(logging.Formatter):
    """For programs: one JSON object a line, whatever is in the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            "id": getattr(record, "identifier", "") or None,
            "process": record.process,
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(line, default=str)  # in ASCII: nothing else can break a line


def configuration(kind: str) -> dict[str, Any]:
    """Django's setting ``LOGGING``.

    Parameters
    ----------
    kind : str
        ``'plain'``, or ``'json'``: then each request has a line as well.

    Raises
    ------
    UserError
        If it is neither.
    """
    if kind not in ("plain", "json"):
        raise UserError(f"BRAINSCORE_SITE_LOG is {kind!r}", remedy="set it to plain or json")
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"identifier": {"()": f"{__name__}.WithIdentifier"}},
        "formatters": {"plain": {"()": f"{__name__}.PlainLines"}, "json": {"()": f"{__name__}.JsonLines"}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": kind, "filters": ["identifier"]},
        },
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            "django.request": {"level": "ERROR"},  # not every address that does not exist
            "django.security.DisallowedHost": {"level": "CRITICAL"},  # nor every scan by address
            "brainscore_web": {"level": "INFO" if kind == "json" else "WARNING"},
        },
    }


_log = logging.getLogger(__name__)


class _RunningTasks(threading.local):
    """Tasks that this thread is in the midst of."""

    def __init__(self) -> None:
        self.named: list[AbstractContextManager[str]] = []


_running_tasks = _RunningTasks()


def connect_task_signals() -> None:
    """Listen to what becomes of tasks."""
    from django_tasks.signals import task_enqueued, task_finished, task_started

    task_enqueued.connect(_log_task_enqueued, dispatch_uid="operations-enqueued")
    task_started.connect(_log_task_started, dispatch_uid="operations-started")
    task_finished.connect(_log_task_finished, dispatch_uid="operations-finished")


def task_identifier(result: Any) -> str:
    """By which lines of a task are found."""
    return f"task-{result.id}"


def _log_task_enqueued(*, task_result: Any, **_: Any) -> None:
    """Logged under the name of the request that began it."""
    _log.info("%s enqueued: %s", task_identifier(task_result), task_result.task.module_path)


def _log_task_started(*, task_result: Any, **_: Any) -> None:
    named = log_context(task_identifier(task_result))
    named.__enter__()
    _running_tasks.named.append(named)
    _log.info("%s started: %s", task_identifier(task_result), task_result.task.module_path)


def _log_task_finished(*, task_result: Any, **_: Any) -> None:
    _log.info("%s finished: %s", task_identifier(task_result), task_result.status)
    if _running_tasks.named:
        _running_tasks.named.pop().__exit__(None, None, None)
