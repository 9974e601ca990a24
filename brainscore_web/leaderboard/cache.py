"""A bounded cache of what is expensive to make: made once however many ask at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Cache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """The most recently used values; safe to use from several threads.

    Parameters
    ----------
    most : int
        How many values are kept; with `weigh`, how much they may weigh together.
    weigh : callable, optional
        What a value weighs. One that weighs more than `most` is not kept.

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
        self._made: OrderedDict[K, V] = OrderedDict()
        self._making: dict[K, threading.Lock] = {}

    def __len__(self) -> int:
        return len(self._made)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key. One thread makes it, others that ask for it wait; if that fails, the next one tries."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._made:
                    self._made.move_to_end(key)
                    return self._made[key]
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
        if key in self._made:  # after a failure two may have made it
            self._weight -= self._weigh(self._made.pop(key))
        self._made[key] = value
        self._weight += weight
        while self._weight > self._most:
            self._weight -= self._weigh(self._made.popitem(last=False)[1])

    def find(self, key: K) -> V | None:
        """The value of a key if it is there."""
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)

    def drop(self, which: Callable[[K], bool]) -> None:
        """Forget the values of some keys."""
        with self._lock:
            for key in [key for key in self._made if which(key)]:
                self._weight -= self._weigh(self._made.pop(key))

    def clear(self) -> None:
        """Forget everything."""
        self.drop(lambda key: True)
