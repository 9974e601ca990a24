"""Tasks in the log: which request began which, and all lines of one under its name."""

from __future__ import annotations

import logging
import threading
from contextlib import AbstractContextManager
from typing import Any

from brainscore_web.operations import logs

__all__ = ["connect", "name_of"]

_log = logging.getLogger(__name__)


class _Running(threading.local):
    """Tasks that this thread is in the midst of."""

    def __init__(self) -> None:
        self.named: list[AbstractContextManager[str]] = []


_running = _Running()


def connect() -> None:
    """Listen to what becomes of tasks."""
    from django_tasks.signals import task_enqueued, task_finished, task_started

    task_enqueued.connect(_enqueued, dispatch_uid="operations-enqueued")
    task_started.connect(_started, dispatch_uid="operations-started")
    task_finished.connect(_finished, dispatch_uid="operations-finished")


def name_of(result: Any) -> str:
    """By which lines of a task are found."""
    return f"task-{result.id}"


def _enqueued(*, task_result: Any, **_: Any) -> None:
    """Logged under the name of the request that began it."""
    _log.info("%s enqueued: %s", name_of(task_result), task_result.task.module_path)


def _started(*, task_result: Any, **_: Any) -> None:
    named = logs.begin(name_of(task_result))
    named.__enter__()
    _running.named.append(named)
    _log.info("%s started: %s", name_of(task_result), task_result.task.module_path)


def _finished(*, task_result: Any, **_: Any) -> None:
    _log.info("%s finished: %s", name_of(task_result), task_result.status)
    if _running.named:
        _running.named.pop().__exit__(None, None, None)
