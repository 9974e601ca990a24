"""Facts about the data that were read while a score was computed.

Code that reads data calls :func:`note`; code that writes a receipt wraps the work in :func:`recording`.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Record", "note", "recording", "timed"]


@dataclass
class Record:
    """What was noted, in the order of notes, each fact once."""

    items: list[dict[str, Any]] = field(default_factory=list)


_active: ContextVar[tuple[Record, ...]] = ContextVar("active_records", default=())


@contextmanager
def recording() -> Iterator[Record]:
    """Collect everything noted inside the ``with`` block.

    Examples
    --------
    >>> with recording() as record:
    ...     note("data", identifier="MajajHong2015")
    >>> record.items
    [{'kind': 'data', 'identifier': 'MajajHong2015'}]
    """
    record = Record()
    token = _active.set((*_active.get(), record))
    try:
        yield record
    finally:
        _active.reset(token)


def note(kind: str, **fields: Any) -> None:
    """Add a fact to every active record; without one, do nothing.

    Parameters
    ----------
    kind : str
        ``'file'``, ``'data'``, ``'stimulus_set'``, ``'weights'``, ``'seed'``, ``'cache'``, ``'time'``, ``'remark'``
        (with ``text``, a note of the receipt), ``'readout'`` (with ``text``: how behaviour was read out where the model
        does not do the task by itself; a note of the receipt and ``attrs['readout']`` of the score) …
    **fields
        The fact, in plain JSON types.
    """
    item = {"kind": kind, **fields}
    for record in _active.get():
        if item not in record.items:
            record.items.append(item)


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Note how long the ``with`` block takes, whatever comes of it: a fact of kind ``'time'``, in seconds.

    Examples
    --------
    >>> with recording() as record, timed("extraction"):
    ...     pass
    >>> record.items[0]["step"], record.items[0]["seconds"] >= 0
    ('extraction', True)
    """
    start = time.perf_counter()
    try:
        yield
    finally:
        note("time", step=step, seconds=time.perf_counter() - start)
