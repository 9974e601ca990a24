"""A bounded cache of expensive values; each is computed once, even if several threads need it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


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
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
            try:
                value = make()
            except BaseException:
                with self._lock:
                    self._making.pop(key, None)
                raise
            with self._lock:
                self._making.pop(key, None)
                self._keep(key, value)
            return value

    def _keep(self, key: K, value: V) -> None:
        weight = self._weigh(value)
        if weight > self._most:
            return
        if key in self._values:  # after a failure, two threads may have computed it
            self._weight -= self._weigh(self._values.pop(key))
        self._values[key] = value
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._weigh(self._values.popitem(last=False)[1])

    def find(self, key: K) -> V | None:
        """Return the value of a key if it is cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def drop(self, which: Callable[[K], bool]) -> None:
        """Remove the values of the keys for which `which` is true."""
        with self._lock:
            for key in [key for key in self._values if which(key)]:
                self._weight -= self._weigh(self._values.pop(key))

    def clear(self) -> None:
        """Remove all values."""
        self.drop(lambda key: True)
