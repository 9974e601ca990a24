"""What a subject prints: kept from its beginning and its end, and stopped when it is too much."""

from __future__ import annotations

import codecs
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

__all__ = ["Output"]

_KEPT = 512 << 10  # bytes, of the beginning and of the end each


class Output:
    """Reads a pipe to its end, in a thread of its own.

    Parameters
    ----------
    descriptor : int
        The pipe; it is closed at its end.
    limit : int
        Bytes beyond which there is too much.
    on_flood : callable
        Called once there is too much; what follows is counted, not kept.
    on_text : callable, optional
        Called with each piece of text.
    """

    def __init__(
        self, descriptor: int, *, limit: int, on_flood: Callable[[], None], on_text: Callable[[str], None] | None = None
    ) -> None:
        self.total = 0
        self.flooded = False
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._on_text = on_text
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="subject-output", daemon=True)
        self._thread.start()

    def finish(self, timeout: float) -> None:
        """Wait until the pipe has ended."""
        self._thread.join(timeout)

    @property
    def text(self) -> str:
        """What was printed; of very much the beginning and the end."""
        with self._lock:
            tail = b"".join(self._tail)[-_KEPT:]
            left_out = self.total - len(self._head) - len(tail)
            gap = f"\n[{left_out} bytes are left out here]\n".encode() if left_out else b""
            return (bytes(self._head) + gap + tail).decode("utf-8", "replace")

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with suppress(OSError):
            while block := os.read(self._descriptor, 1 << 16):
                self._take(block)
                if self.flooded:
                    continue
                if self.total > self._limit:
                    self.flooded = True
                    self._on_flood()
                elif self._on_text is not None:
                    with suppress(OSError, ValueError):  # whoever listened has gone
                        self._on_text(decoder.decode(block))
        with suppress(OSError):
            os.close(self._descriptor)

    def _take(self, block: bytes) -> None:
        with self._lock:
            self.total += len(block)
            room = _KEPT - len(self._head)
            self._head += block[:room]
            if rest := block[room:] if room > 0 else block:
                self._tail.append(rest)
                self._tail_bytes += len(rest)
                while self._tail_bytes - len(self._tail[0]) >= _KEPT:
                    self._tail_bytes -= len(self._tail.popleft())
