"""Claims on pairs: if several processes want to score a pair, one of them gets it."""

import json
import os
import random
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from uuid import uuid4

from brainscore_core.errors import UserError


def this_process() -> dict[str, Any]:
    """Describe this process in plain JSON types.

    Examples
    --------
    >>> has_ended(this_process())
    False
    """
    pid = os.getpid()
    return {"host": socket.gethostname(), "machine": _machine(), "pid": pid, "started": _start_of(pid)}


def has_ended(process: dict[str, Any]) -> bool:
    """Whether a process with this description is known to have ended; False for other machines.

    Examples
    --------
    >>> has_ended({**this_process(), "machine": "another"})
    False
    """
    pid = process.get("pid")
    if process.get("machine") != _machine() or not isinstance(pid, int) or os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False  # the process of another user
    started = _start_of(pid)
    return started == "ended" or (started is not None and started != process.get("started"))


@lru_cache(maxsize=1)
def _machine() -> str:
    """Identify the scope in which process ids are unique: the machine, its last start, and the container."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        numbering = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:  # not Linux
        start, numbering = str(uuid.getnode()), ""
    return sha256(f"{socket.gethostname()}\n{start}\n{numbering}".encode()).hexdigest()[:16]


def _start_of(pid: int) -> str | None:
    """Start time of a process in the system's unit; None if the system does not report it."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # after the name of the process, which may contain any character
    return "ended" if fields[0] in ("Z", "X") else fields[19]


CLAIM_SECONDS = 120.0
"""Seconds after which a claim that was not renewed is free for others."""

_RENEWALS = 4  # in that time, so that a few may fail
_ATTEMPTS = 20


@dataclass(frozen=True, kw_only=True)
class ClaimInfo:
    """Who has claimed a pair.

    Attributes
    ----------
    model, benchmark : str
        The pair.
    owner : str
        Name that the owner gave.
    host : str
        Name of its machine.
    pid : int
        Id of its process there.
    since, renewed : str
        When it was claimed and last renewed, in UTC, ISO 8601.
    """

    model: str
    benchmark: str
    owner: str
    host: str
    pid: int
    since: str
    renewed: str


@dataclass(frozen=True)
class Held:
    """A claim as it was read."""

    content: dict[str, Any]  # content written by its owner; empty if it is not valid
    age: float  # seconds since it was last renewed, by the clock of the file server or bucket
    mark: Any  # identifies the state of the file, for the place that read it

    @property
    def is_free(self) -> bool:
        """Whether others may take it over."""
        return self.age >= CLAIM_SECONDS or has_ended(self.content)


class ClaimPlace(Protocol):
    """Where the claims of one store are kept. Marks identify the state of a file.

    `keeps_finished`: whether the claim of a finished pair stays until it expires, which saves requests: the first claim
    of a pair is then written without a look at earlier ones, and proves that no run has scored the pair before.
    """

    keeps_finished: bool

    def get(self, pair: str) -> Held | None:
        """Read the claim of a pair, valid or expired."""

    def take(self, pair: str, content: dict[str, Any], over: Held | None) -> Any | None:
        """Replace `over` by a claim, unless it has changed; None if another process was faster."""

    def renew(self, pair: str, content: dict[str, Any], mark: Any) -> Any | None:
        """Renew a claim; None if another process has taken it over."""

    def release(self, pair: str, content: dict[str, Any], mark: Any) -> None:
        """Remove a claim, unless another process has taken it over."""

    def all(self) -> Iterator[Held]:
        """Iterate over all claims."""


class Claim:
    """The right to score a pair, until it is released, or not renewed for :data:`CLAIM_SECONDS`.

    As a context manager it renews itself in the background, and is released at the end::

        with store.claim("pixels", "Some2026-pls") as claim: ...

    Attributes
    ----------
    model, benchmark : str
        The pair.
    lost : bool
        Whether another process took it over, because it was not renewed in time.
    is_first : bool
        Whether no run can have scored the pair before; False if that is not known.
    """

    def __init__(
        self, place: ClaimPlace, pair: str, content: dict[str, Any], mark: Any, *, is_first: bool = False
    ) -> None:
        self.model: str = content["model"]
        self.benchmark: str = content["benchmark"]
        self.lost = False
        self.is_first = is_first
        self._finished = False
        self._place, self._pair, self._content, self._mark = place, pair, content, mark
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._renewer: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"Claim(model={self.model!r}, benchmark={self.benchmark!r}, owner={self._content['owner']!r})"

    def renew(self) -> bool:
        """Hold the claim for another :data:`CLAIM_SECONDS`.

        Returns
        -------
        bool
            False if it was released, or another process took it over.

        Raises
        ------
        StoreError
            If the store cannot be reached; the claim may still be valid.
        """
        with self._lock:
            if self.lost or self._mark is None:
                return False
            content = {**self._content, "renewals": self._content["renewals"] + 1}
            mark = self._place.renew(self._pair, content, self._mark)
            self.lost = mark is None
            self._mark = mark
            self._content = content
            return not self.lost

    def finish(self) -> None:
        """State that the one receipt was written, so that the pair need not be released for others."""
        self._finished = bool(self._content.get("one_receipt"))

    def release(self) -> None:
        """Release the pair for others; a claim that was taken over is not changed."""
        self._stop.set()
        if self._renewer is not None:
            self._renewer.join()
            self._renewer = None
        with self._lock:
            if self._mark is not None and not (self._finished and self._place.keeps_finished):
                self._place.release(self._pair, self._content, self._mark)
            self._mark = None

    def __enter__(self) -> Self:
        self._stop.clear()
        self._renewer = threading.Thread(target=self._keep, name="brainscore-claim", daemon=True)
        self._renewer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.release()
        except (UserError, OSError) as failure:  # the work under the claim is complete nevertheless
            message = f"the claim of {self.model} on {self.benchmark} was not released; it expires: {failure}"
            warnings.warn(message, stacklevel=2)

    def _keep(self) -> None:
        while not self._stop.wait(CLAIM_SECONDS / _RENEWALS):
            try:
                if not self.renew():
                    return
            except (UserError, OSError):
                continue  # the store may be reachable again before the claim expires


def claim_pair(
    place: ClaimPlace, pair: str, *, model: str, benchmark: str, owner: str, one_receipt: bool = False
) -> Claim | None:
    """Claim a pair; None if another process has claimed it.

    With `one_receipt`, the owner writes one receipt under the claim, and does not have to release it after that.
    """
    content: dict[str, Any] = {
        "model": model,
        "benchmark": benchmark,
        "owner": owner,
        **this_process(),
        "since": _utc(time.time()),
        "token": uuid4().hex,
        "renewals": 0,
        **({"one_receipt": True} if one_receipt else {}),
    }
    for attempt in range(_ATTEMPTS):
        held = None if place.keeps_finished and attempt == 0 else place.get(pair)
        if held is not None and not held.is_free:
            return None
        mark = place.take(pair, content, held)
        if mark is not None:
            return Claim(place, pair, content, mark, is_first=place.keeps_finished and held is None)
        # another process was faster; if both gave way, the random pause lets one of them go first
        time.sleep(random.uniform(0, 0.01 * 2 ** min(attempt, 6)))  # noqa: S311 - not a secret
    return None


def all_claims(place: ClaimPlace) -> tuple[ClaimInfo, ...]:
    """List the claims that hold, by benchmark and model."""
    claims = []
    for held in place.all():
        if held.content and not held.is_free:
            fields = {name: held.content[name] for name in ("model", "benchmark", "owner", "host", "pid", "since")}
            claims.append(ClaimInfo(**fields, renewed=_utc(time.time() - held.age)))
    return tuple(sorted(claims, key=lambda claim: (claim.benchmark, claim.model)))


def parsed(data: bytes) -> dict[str, Any]:
    """Parse the content of a claim; empty if it is not valid."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    texts = ("model", "benchmark", "owner", "host", "since", "token")
    if not all(isinstance(content.get(name), str) for name in texts) or not isinstance(content.get("pid"), int):
        return {}
    return content


def _utc(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
