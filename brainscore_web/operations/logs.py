"""Logging: each line names its request or task, without secrets or e-mail addresses."""

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

_current: ContextVar[str] = ContextVar("brainscore_log_id", default="")
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+/=-]{7,63}")


def is_valid_identifier(text: str) -> bool:
    """Whether a request name from a client may be used in logs."""
    return _IDENTIFIER.fullmatch(text) is not None


def current_identifier() -> str:
    """The name of the current request or task; empty if there is none."""
    return _current.get()


@contextmanager
def log_context(name: str = "") -> Iterator[str]:
    """Give a name to all log lines within this context."""
    name = name or secrets.token_hex(16)
    previous = _current.set(name)
    try:
        yield name
    finally:
        _current.reset(previous)


_HIDDEN = (
    # passwords in addresses of databases and servers
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@:]*:[^\s/@]*@", re.IGNORECASE), r"\1<secret>@"),
    # e-mail addresses
    (re.compile(r"(?<![A-Za-z0-9._%+'-])[A-Za-z0-9._%+'-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}"), "<address>"),
    # tokens of this site, and credentials in headers
    (re.compile(r"\bbs_[A-Za-z0-9_-]{16,}"), "<secret>"),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE), r"\1 <secret>"),
    # links in e-mails
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
    """Remove secrets and e-mail addresses from a text.

    Examples
    --------
    >>> without_secrets("mail to me@example.org failed: smtp://me:hunter2@mail.example.org")
    'mail to <address> failed: smtp://<secret>@mail.example.org'
    """
    for pattern, replacement in _HIDDEN:
        text = pattern.sub(replacement, text)
    return text


class WithIdentifier(logging.Filter):
    """Adds the name of the request or task to log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let all lines pass."""
        record.identifier = current_identifier()
        return True


class PlainLines(logging.Formatter):
    """Formats log lines for reading."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}{of}: {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        identifier = getattr(record, "identifier", "")
        record.of = f" [{identifier}]" if identifier else ""
        return without_secrets(super().format(record))


class JsonLines(logging.Formatter):
    """Formats log lines for programs: one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
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
        return json.dumps(line, default=str)  # in ASCII, so that messages cannot contain line breaks


def configuration(kind: str) -> dict[str, Any]:
    """Django's setting ``LOGGING``."""
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
    """The tasks that this thread is running."""

    def __init__(self) -> None:
        self.named: list[AbstractContextManager[str]] = []


_running_tasks = _RunningTasks()


def connect_task_signals() -> None:
    """Log the start and end of tasks."""
    from django_tasks.signals import task_enqueued, task_finished, task_started

    task_enqueued.connect(_log_task_enqueued, dispatch_uid="operations-enqueued")
    task_started.connect(_log_task_started, dispatch_uid="operations-started")
    task_finished.connect(_log_task_finished, dispatch_uid="operations-finished")


def task_identifier(result: Any) -> str:
    """The name of a task in log lines."""
    return f"task-{result.id}"


def _log_task_enqueued(*, task_result: Any, **_: Any) -> None:
    """Log the task under the name of the request that enqueued it."""
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
