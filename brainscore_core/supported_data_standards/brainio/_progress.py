"""How a download shows itself: a bar in a terminal, a plain line elsewhere, nothing when not wanted."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["BatchMeter", "CancelledDownload", "Meter", "file_meter"]


class CancelledDownload(Exception):
    """Another thread asked for the end of this download."""


class Meter:
    """What the downloader reports to (pooch's protocol: `total`, `update`, `reset`, `close`). Shows nothing."""

    def __init__(self, cancelled: threading.Event | None = None) -> None:
        self.total = 0
        self._cancelled = cancelled

    def update(self, count: int) -> None:
        """Note that `count` more bytes arrived."""
        if self._cancelled is not None and self._cancelled.is_set():
            raise CancelledDownload

    def reset(self) -> None:
        """Start again from 0 bytes."""

    def close(self) -> None:
        """End the report."""


class _Bar(Meter):
    """A bar of bytes in the terminal."""

    def __init__(self, bar: "Progress", name: str) -> None:
        super().__init__()
        self._bar = bar
        self._task = bar.add_task(name, total=None)

    def update(self, count: int) -> None:
        self._bar.update(self._task, advance=count, total=self.total or None)

    def reset(self) -> None:
        self._bar.reset(self._task)


@contextmanager
def file_meter(name: str, *, progress: bool) -> Iterator[Meter]:
    """Show the download of one file."""
    if progress and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Bar(bar, name)
    else:
        if progress:
            sys.stderr.write(f"Downloading {name}\n")
        yield Meter()


class BatchMeter:
    """Show the progress of many files; a plain line appears only once something must be downloaded."""

    def __init__(self, total: int, *, progress: bool) -> None:
        self.cancelled = threading.Event()
        self._total = total
        self._progress = progress
        self._announced = False
        self._lock = threading.Lock()
        self._bar: Progress | None = None

    def __enter__(self) -> "BatchMeter":
        if self._progress and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar.add_task("Fetching files", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.cancelled.set()
        if self._bar is not None:
            self._bar.stop()

    @contextmanager
    def file_meter(self, name: str, *, progress: bool) -> Iterator[Meter]:
        """Stand in for :func:`file_meter` inside a batch; `name` is not shown."""
        with self._lock:
            if self._progress and self._bar is None and not self._announced:
                sys.stderr.write(f"Fetching {self._total} files\n")
            self._announced = True
        yield Meter(self.cancelled)

    def advance(self) -> None:
        """One more file is there."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1)
