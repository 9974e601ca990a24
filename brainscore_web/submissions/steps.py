"""Automatic steps of submissions: leases, outcomes, logs without paths of the server, and what submitters see."""

from __future__ import annotations

import re
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import Q

from brainscore_core.isolation.sandbox import platform_folders
from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy
from brainscore_web.jobs.workers import resume, wake_for
from brainscore_web.submissions.models import Step

LOG_LIMIT = 256_000
"""Number of characters of a log that are kept, from its beginning and its end."""

_LOG_INTERVAL = 2.0  # seconds between two updates of a stored log
_ENVIRONMENTS = re.compile(r"(?:(?:\.\./)+|(?<![\w.-])/)[^\s'\":()\[\]]*/(?:site|dist)-packages/")
_LIBRARY = re.compile(r"(?:(?:\.\./)+|(?<![\w.-])/)[^\s'\":()\[\]]*/lib/python3\.\d+/")
_KINDS = "models|benchmarks|data|metrics"
_PLACE = re.compile(r"^(?P<file>\S[^:\n]*\.py):(?P<line>\d+): (?:in )?(?P<rest>.*)$")
_OWN_FILE = re.compile(rf"(?:{_KINDS})/.+\.py")
_LONGEST_DETAIL = 4000  # characters


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a step."""

    passed: bool  # whether the step passed
    # reason, internal: the reason for the submitter, and the one for administrators
    reason: str = ""
    internal: str = ""
    log: str = ""  # the log of the step
    result: Mapping[str, Any] = field(default_factory=dict)  # plain values, stored with the step
    findings: Sequence[Mapping[str, Any]] | None = None  # new findings of the revision; None if they are unchanged
    gave_up: bool = False  # whether the failure is the site's


class StepFailed(Exception):
    """The step has failed for a reason that its submitter can fix."""

    def __init__(self, reason: str, **others: Any) -> None:
        super().__init__(reason)
        self.outcome = Outcome(passed=False, reason=reason, **others)


class StepIsLong(Exception):
    """The step must be run where others do not wait for it: it fetches files or installs packages."""


def shortened(text: str, limit: int = LOG_LIMIT) -> str:
    """Leave out the middle of a long text.

    Examples
    --------
    >>> shortened("a" * 50 + "b" * 50, 60).count("a")
    20
    """
    if len(text) <= limit:
        return text
    half = max((limit - 20) // 2, 0)
    return f"{text[:half]}\n… cut here …\n{text[len(text) - half :]}"


_AUTOMATIC = (Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH)

STEPS = LeaseQueue(
    Step,
    waiting=Q(kind__in=_AUTOMATIC, state=Step.State.WAITING),
    held=Q(kind__in=_AUTOMATIC, state=Step.State.RUNNING),
    order=("due", "pk"),
    on_claim={"state": Step.State.RUNNING, "ended": None},
    on_release={"state": Step.State.WAITING},
    related=("revision__submission",),
    retry=RetryPolicy(timedelta(seconds=30), factor=4, longest=timedelta(minutes=30), attempts=5),
    restarted=True,
)
"""The automatic steps."""

LONG_LANE = "long"


def _lane(name: str, is_long: Q, task: str) -> LeaseQueue[Step]:
    path, owner = f"brainscore_web.submissions.tasks.{task}", "revision__submission__owner"
    waiting, held = STEPS.waiting & is_long, STEPS.held & is_long
    return replace(STEPS, waiting=waiting, held=held, lane=name, owner=owner, exclusive=True, task=path)


_IS_LONG = Q(kind=Step.Kind.TEST) | Q(long=True)
LANES = (_lane("short", ~_IS_LONG, "do_next_step"), _lane(LONG_LANE, _IS_LONG, "do_next_long_step"))
"""The short and the long steps. Users take turns in both."""


def resume_steps() -> int:
    """Make interrupted steps due again, and wake a worker if any are due; return the number of due steps."""
    resume(STEPS, internal="its worker stopped responding")
    wake_for_steps()
    return STEPS.due().count()


def wake_for_steps() -> None:
    """Wake a worker for each lane with a step that can be claimed."""
    wake_for(*LANES)


class StepLog:
    """Lines that the submitter can read while a step runs."""

    def __init__(self, lease: Lease[Any]) -> None:
        self._lease = lease
        self._text = ""
        self._lock = threading.Lock()
        self._written = time.monotonic()

    @property
    def text(self) -> str:
        """The log; if it is long, without its middle."""
        return shortened(self._text)

    def say(self, line: str) -> None:
        """Add a line."""
        self.add(f"{line}\n")
        self.flush()

    def add(self, text: str) -> None:
        """Add text; may be called from any thread."""
        with self._lock:
            self._text = shortened(self._text + text.replace("\0", "").encode(errors="replace").decode())

    def flush(self) -> None:
        """Store the log so far, at most every few seconds."""
        if time.monotonic() - self._written > _LOG_INTERVAL:
            self._written = time.monotonic()
            self._lease.renew(log=self._text)


class PathFilter:
    """Replaces paths of the server in text.

    Paths in `folders`, which have ``models/``, ``benchmarks/`` and so on, are shown from there; in folders that are
    `hidden`, only the name of the file.

    Examples
    --------
    >>> hide = PathFilter([Path("/srv/site/live/3f2a")], [Path("/srv/site")])
    >>> hide("/srv/site/live/3f2a/models/mine/test.py:3: no file '/srv/site/files/1f/weights.pth'")
    "models/mine/test.py:3: no file '…/weights.pth'"
    >>> hide("/usr/lib/python3.11/json/decoder.py:5: in decode")
    'json/decoder.py:5: in decode'
    """

    def __init__(self, folders: Iterable[Path], hidden: Iterable[Path] = ()) -> None:
        roots = {str(path) for folder in folders for path in (folder, folder.resolve())}
        roots |= {str(folder.parent) for folder in platform_folders()} | {sysconfig.get_paths()["purelib"]}
        self._roots = [_below(root, "/") for root in sorted(roots, key=len, reverse=True) if len(root) > 1]
        paths = {str(path) for folder in hidden for path in (folder, folder.resolve())} | {sys.prefix}
        ordered = sorted(paths, key=len, reverse=True)
        self._hidden = [_below(place, r"/(?:[^\s'\":()\[\]/]+/)*") for place in ordered if len(place) > 1]

    def __call__(self, text: str) -> str:
        """Return the text without paths of the server."""
        for root in self._roots:
            text = root.sub("", text)
        text = _LIBRARY.sub("", _ENVIRONMENTS.sub("", text))
        for pattern in self._hidden:
            text = pattern.sub("…/", text)
        return text


def _below(folder: str, following: str) -> re.Pattern[str]:
    """Match a folder with what follows it: absolute, or relative to another one, such as ``../../revisions/3f2a``."""
    whole, end = folder.lstrip("/"), "/".join(folder.split("/")[-2:])
    between = r"(?:\.\./)+(?:[^\s'\":()\[\]]*/)?"
    return re.compile(rf"(?:(?:(?:\.\./)+|(?<![\w.-])/){re.escape(whole)}|{between}{re.escape(end)}){following}")


class OutputLines:
    """Passes on complete lines of output, filtered; parts of lines wait for the rest. A context manager.

    `hide` filters complete lines. `take` is called with each of them, and returns what is passed on.
    """

    _LONGEST = 100_000  # characters of a line, after which it is passed on in parts

    def __init__(
        self, add: Callable[[str], None], hide: Callable[[str], str], take: Callable[[str], str] | None = None
    ) -> None:
        self._add, self._hide, self._take = add, hide, take
        self._rest = ""
        self._lock = threading.Lock()

    def __enter__(self) -> OutputLines:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._rest:
                self._add(self._hide(self._rest))
                self._rest = ""

    def add(self, text: str) -> None:
        """Add output; may be called from any thread."""
        with self._lock:
            text = self._rest + text
            end = text.rfind("\n") + 1
            if not end and len(text) > self._LONGEST:
                end = len(text)
            lines, self._rest = text[:end], text[end:]
            if self._take is not None:
                lines = "".join(map(self._take, lines.splitlines(keepends=True)))
            if lines:
                self._add(self._hide(lines))


def failed_lines(traceback: str) -> tuple[str, int | None, str]:
    r"""Return the place of a failure in the plugin, and its lines, from pytest's short traceback without server paths.

    Lines of other packages are left out, except those with the error.

    Examples
    --------
    >>> file, line, text = failed_lines(
    ...     "models/mine/test.py:5: in test_it\n    load()\njson/decoder.py:9: in decode\n    raise X\nE   X: no"
    ... )
    >>> file, line
    ('models/mine/test.py', 5)
    >>> print(text)
    models/mine/test.py:5: in test_it
        load()
    … 1 call in other packages …
    E   X: no
    """
    file, number = "", None
    shown: list[str] = []
    skipped, in_plugin = 0, True
    for line in traceback.splitlines():
        if position := _PLACE.match(line):
            in_plugin = _OWN_FILE.fullmatch(position["file"]) is not None
            if in_plugin:
                file, number = position["file"], int(position["line"])
            else:
                skipped += 1
        if in_plugin or line.startswith("E "):
            if skipped:
                shown.append(f"… {skipped} call{'s' if skipped > 1 else ''} in other packages …")
                skipped = 0
            shown.append(line)
    return file, number, shortened("\n".join(shown).strip("\n"), _LONGEST_DETAIL)
