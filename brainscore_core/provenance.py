"""Facts about the data that were read while a score was computed.

Code that reads data calls :func:`note`; code that writes a receipt wraps the work in :func:`recording`.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

NOT_REPEATABLE = "not a function of the stimulus"
"""In the text of a remark: responses are random, or depend on the other stimuli of a batch."""


@dataclass
class Record:
    """The noted facts, in order and without duplicates."""

    items: list[dict[str, Any]] = field(default_factory=list)


_active: ContextVar[tuple[Record, ...]] = ContextVar("active_records", default=())
_ignored: ContextVar[frozenset[str]] = ContextVar("ignored_kinds", default=frozenset())
_prefixed: ContextVar[dict[str, str]] = ContextVar("prefixed_kinds", default={})  # noqa: B039 # never changed in place


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


@contextmanager
def ignoring(kind: str) -> Iterator[None]:
    """Note no facts of this kind inside the ``with`` block.

    Examples
    --------
    >>> with recording() as record, ignoring("data"):
    ...     note("data", identifier="MajajHong2015")
    >>> record.items
    []
    """
    token = _ignored.set(_ignored.get() | {kind})
    try:
        yield
    finally:
        _ignored.reset(token)


@contextmanager
def prefixing(purpose: str, *kinds: str) -> Iterator[None]:
    """Note facts of these kinds under another kind inside the ``with`` block: the purpose, a space, and the kind.

    Examples
    --------
    >>> with recording() as record, prefixing("selection", "data"):
    ...     note("data", identifier="MajajHong2015")
    >>> record.items
    [{'kind': 'selection data', 'identifier': 'MajajHong2015'}]
    """
    token = _prefixed.set(_prefixed.get() | {kind: f"{purpose} {kind}" for kind in kinds})
    try:
        yield
    finally:
        _prefixed.reset(token)


def is_recorded(kind: str) -> bool:
    """Whether a fact of this kind would be added to a record: some take time to compute."""
    return bool(_active.get()) and kind not in _ignored.get()


def note(kind: str, **fields: Any) -> None:
    """Add a fact to every active record; do nothing if there is none, or facts of this kind are ignored.

    Parameters
    ----------
    kind : str
        ``'file'``, ``'data'``, ``'stimulus_set'``, ``'collection'`` and ``'study'`` (with ``identifier``: what stimuli
        are taken from, and who took part, where data sets of several plugins share them), ``'weights'``, ``'seed'``,
        ``'cache'``, ``'time'``, ``'remark'`` (with ``text``, a note of the receipt), ``'readout'`` (with ``text``: how
        behaviour was read out if the model does not perform the task itself; a note of the receipt and
        ``attrs['readout']`` of the score), ``'features'`` (with the fields of
        :class:`~brainscore_core.receipts.receipt.FeaturesItem`: what was recorded of the model) …
    **fields
        The fact, as JSON types.
    """
    if not is_recorded(kind):
        return
    item = {"kind": _prefixed.get().get(kind, kind), **fields}
    for record in _active.get():
        if item not in record.items:
            record.items.append(item)


def remark(text: str) -> str:
    """Warn, and note the warning in the receipt.

    Examples
    --------
    >>> import warnings
    >>> with recording() as record, warnings.catch_warnings(action="ignore"):
    ...     remark("2 of 20 answers are missing")
    '2 of 20 answers are missing'
    >>> record.items
    [{'kind': 'remark', 'text': '2 of 20 answers are missing'}]
    """
    note("remark", text=text)
    warnings.warn(text, stacklevel=4)
    return text


@contextmanager
def timed(step: str) -> Iterator[None]:
    """Note the seconds that the ``with`` block takes, also if it fails, as a fact of kind ``'time'``.

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
