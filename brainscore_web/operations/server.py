"""What the server's processes share: the folder of their counts, the form of their logs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brainscore_web.operations.counting import FOLDER, process_ended

__all__ = ["counted_together", "server_settings"]


@contextmanager
def counted_together() -> Iterator[None]:
    """Give the processes that are started within a folder for their counts, empty at first."""
    named = os.environ.get(FOLDER)
    folder = Path(named) if named else Path(tempfile.mkdtemp(prefix="brainscore-metrics-"))
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.db"):  # of a server that ran before
        old.unlink(missing_ok=True)
    os.environ[FOLDER] = str(folder)
    owner = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == owner and not named:  # not in the processes that were started within
            os.environ.pop(FOLDER, None)
            shutil.rmtree(folder, ignore_errors=True)


def server_settings() -> dict[str, Any]:
    """Settings of gunicorn: it logs as the site does, and says when one of its processes is gone."""
    from django.conf import settings

    chosen: dict[str, Any] = settings.LOGGING
    of_server = {"level": "WARNING", "handlers": ["console"], "propagate": False}
    loggers = {**chosen["loggers"], "gunicorn.error": of_server, "gunicorn.access": of_server}
    return {"child_exit": _gone, "logconfig_dict": {**chosen, "loggers": loggers}}


def _gone(_server: Any, worker: Any) -> None:
    process_ended(worker.pid)
