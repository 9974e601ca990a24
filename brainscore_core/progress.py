"""What a long call is doing, shown in a terminal or a notebook.

Long calls open stages, one inside another. A third of a second after the first one opened, a terminal (standard error)
or a notebook shows them, how far the innermost one is, and the seconds so far; elsewhere nothing is shown. Each stage
is also a message of the logger ``brainscore_core.progress`` at the level INFO. ``BRAINSCORE_PROGRESS=off`` shows
nothing.
"""

from __future__ import annotations

import contextvars
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeVar

from brainscore_core.formatting import printable, size_text

Item = TypeVar("Item")

DELAY = 0.3  # seconds before anything is shown
_INTERVAL = 0.25  # seconds between updates of a notebook
_WIDTH = 20  # of the bar in a terminal
_SHORTEST = 12  # characters to which what a terminal has no room for is shortened, before it is left out

_logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Stage:
    """A part of a long call."""

    text: str  # what is being done
    total: int | None = None  # number of steps, if known
    unit: str = ""  # what the steps are, such as ``'stimuli'``; ``'bytes'`` are written as kB, MB or GB
    done: int = 0  # number of steps that are done
    start: float = field(default_factory=time.monotonic)

    def advance(self, number: int = 1) -> None:
        """Count further steps as done."""
        self.done += number


_open: list[Stage] = []


@contextmanager
def stage(text: str, total: int | None = None, *, unit: str = "") -> Iterator[Stage]:
    """Show what is being done until the end of the block.

    `unit` is what the steps are.
    """
    opened = Stage(text, total, unit)
    _logger.info("%s", text)
    _open.append(opened)
    draw = _destination() if len(_open) == 1 else None
    try:
        with _Display(draw) if draw is not None else nullcontext():
            yield opened
    finally:
        _open.remove(opened)


def track(items: Iterable[Item], text: str, total: int, *, unit: str = "") -> Iterator[Item]:
    """Iterate, and show how many of the items are done."""
    with stage(text, total, unit=unit) as opened:
        for item in items:
            yield item
            opened.done += 1


class _Display:
    """A thread that draws the open stages."""

    def __init__(self, draw: Callable[[threading.Event], None]) -> None:
        self._draw = draw
        self._stop = threading.Event()
        # in the context of the cell that runs, to which a notebook's output belongs
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._run,), name="progress", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        if self._stop.wait(DELAY):
            return
        try:
            self._draw(self._stop)
        except Exception:
            _logger.debug("progress cannot be shown", exc_info=True)


def _destination() -> Callable[[threading.Event], None] | None:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    terminal = _draw_in_terminal if sys.stderr is not None and sys.stderr.isatty() else None
    draw = terminal if getattr(shell, "kernel", None) is None else _draw_in_notebook
    return None if os.environ.get("BRAINSCORE_PROGRESS", "").lower() in {"off", "0"} else draw


def _draw_in_terminal(stop: threading.Event) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.spinner import Spinner
    from rich.table import Table
    from rich.text import Text

    spinner, console = Spinner("dots"), Console(stderr=True)

    def table() -> Table:
        line, innermost = _line(console.width - _WIDTH - 2)
        row = Table.grid(padding=(0, 1))
        bar: Any = spinner
        if innermost is not None and innermost.total:
            bar = ProgressBar(total=innermost.total, completed=innermost.done, width=_WIDTH)
        row.add_row(bar, Text(line, no_wrap=True, overflow="ellipsis"))
        return row

    with Live(
        get_renderable=table,
        console=console,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=sys.stdout.isatty(),  # what is written to a file stays there
    ):
        stop.wait()


def _draw_in_notebook(stop: threading.Event) -> None:
    from IPython.display import HTML, display

    def html(*, final: bool = False) -> Any:
        line, innermost = (last, None) if final else _line()
        bar = ""
        if innermost is not None and innermost.total:
            bar = f'<progress max="{innermost.total}" value="{innermost.done}"></progress> '
        return HTML(f"<div>{bar}{escape(line)}</div>")

    outermost = _open[0] if _open else Stage("")
    last = ""
    handle = display(html(), display_id=True)
    while not stop.wait(_INTERVAL):
        handle.update(html())
    last = f"{printable(outermost.text)}: {_seconds(outermost)}"
    handle.update(html(final=True))


def _line(room: int | None = None) -> tuple[str, Stage | None]:
    """The open stages in one line of at most so many characters, if possible, and the innermost stage.

    How far the innermost stage is and the seconds are needed most: stages between it and the outermost one are left out
    first, then the outermost one is shortened or left out.
    """
    stages = list(_open)  # other threads may open and close stages
    if not stages:
        return "", None
    innermost = stages[-1]
    texts = [
        printable(stage.text) + (f": {_count(stage)}" if stage.total or (stage is innermost and stage.done) else "")
        for stage in stages
    ]
    texts.append(_seconds(stages[0]))
    while room is not None and len(texts) > 2 and len(" · ".join(texts)) > room:
        if len(texts) > 3:
            del texts[-3]
            continue
        free = room - len(" · ".join(["", *texts[1:]]))
        texts[:1] = [f"{texts[0][: free - 1]}…"] if free >= _SHORTEST else []
        break
    return " · ".join(texts), innermost


def _count(stage: Stage) -> str:
    if stage.unit == "bytes":
        return f"{size_text(stage.done)} of {size_text(stage.total)}" if stage.total else size_text(stage.done)
    count = f"{stage.done:,} of {stage.total:,}" if stage.total else f"{stage.done:,}"
    return f"{count} {stage.unit}".rstrip()


def _seconds(stage: Stage) -> str:
    seconds = time.monotonic() - stage.start
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
