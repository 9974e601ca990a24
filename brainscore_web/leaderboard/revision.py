"""The revision of the leaderboard, a number that grows with every visible change, and caches by such keys."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.db.models.signals import post_delete, post_save

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import models

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


_UNKNOWN: Any = object()


class Cache(Generic[K, V]):
    """The most recently used values; safe to use from several threads.

    Parameters
    ----------
    most : int
        The maximum number of values; with `weigh`, their maximum total weight.
    weigh : callable, optional
        Returns the weight of a value. A value that weighs more than `most` is not cached.

    Examples
    --------
    >>> cache = Cache[str, int](most=2)
    >>> [cache.get(key, lambda: len(key)) for key in ("a", "bb", "ccc")]
    [1, 2, 3]
    >>> len(cache)
    2
    """

    def __init__(self, most: int, weigh: Callable[[V], int] = lambda value: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[K, V] = OrderedDict()
        self._making: dict[K, threading.Lock] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key. One thread computes it while others wait; if that fails, the next thread tries."""
        found = self.find(key, _UNKNOWN)
        if found is not _UNKNOWN:
            return found
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            try:
                found = self.find(key, _UNKNOWN)
                if found is _UNKNOWN:
                    self.put(key, found := make())
                return found
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def put(self, key: K, value: V) -> None:
        """Keep a value that is computed already."""
        weight = self._weigh(value)
        if weight > self._most:
            return
        with self._lock:
            if key in self._values:  # after a failure, two threads may have computed it
                self._weight -= self._weigh(self._values.pop(key))
            self._values[key] = value
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])

    def find(self, key: K, default: Any = None) -> Any:
        """Return the value of a key if it is cached, otherwise another one."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key, default)

    def drop(self, which: Callable[[K], bool]) -> None:
        """Remove the values of the keys for which `which` is true."""
        with self._lock:
            for key in [key for key in self._values if which(key)]:
                self._weight -= self._weigh(self._values.pop(key))

    def clear(self) -> None:
        """Remove all values."""
        self.drop(lambda key: True)


def current() -> int:
    """Return the current revision."""
    return models.Revision.objects.filter(pk=1).values_list("number", flat=True).first() or 0


def bump() -> None:
    """Record that something has changed. Code that writes in bulk, which sends no signals, must call this itself.

    The number is at least the time in microseconds, so that no number is used twice, even after a database was restored
    or a transaction rolled back.
    """
    now = time.time_ns() // 1000
    if not models.Revision.objects.filter(pk=1).update(number=Greatest(F("number") + 1, now)):
        models.Revision.objects.get_or_create(pk=1, defaults={"number": now})


def connect() -> None:
    """Increment the revision after every change of a single row."""
    for changed in (
        models.VisionModel,
        models.Benchmark,
        models.BenchmarkVersion,
        models.Score,
        models.LayerProfile,
        models.StimulusSample,
        models.StoredAssessment,
    ):
        for signal in (post_save, post_delete):
            signal.connect(_changed, sender=changed, dispatch_uid=f"revision-{changed.__name__}-{id(signal)}")

    post_save.connect(_person_changed, sender=User, dispatch_uid="revision-person")


def _changed(**_: Any) -> None:
    bump()


def _person_changed(instance: User, created: bool, update_fields: Collection[str] | None, **_: Any) -> None:
    """Increment the revision if an owner changes, since cards show their names; a login does not count."""
    if created or (update_fields is not None and set(update_fields) <= {"last_login", "password"}):
        return
    if instance.models.exists() or instance.benchmarks.exists():
        bump()


@contextmanager
def exclusive_write() -> Iterator[None]:
    """Open a transaction that excludes other ingestions and synchronisations."""
    models.Revision.objects.get_or_create(pk=1)
    with transaction.atomic():
        models.Revision.objects.select_for_update().get(pk=1)  # on SQLite the transaction itself is the lock
        yield
