"""Receive plugins from a ZIP file, a Git repository or a pull request, within limits, and start their pipeline."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_core.isolation.children import Output, end, ender, ending_text, guarded
from brainscore_vision import submission as submitting
from brainscore_vision.submission.repositories import LOCAL_VARIABLE
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import Revision, Submission
from brainscore_web.submissions.pipeline.checking import examine_names

__all__ = [
    "Git",
    "Limits",
    "Pull",
    "Refused",
    "Source",
    "Use",
    "Zip",
    "limits",
    "max_form_size",
    "receive",
    "require_room",
    "run_examination",
    "source_at",
    "takes_revisions",
    "too_large_error",
    "use_of",
]

_REVISABLE = (Submission.State.QUEUED, Submission.State.CHANGES, Submission.State.REVIEW)
_SEVERITIES = {"error": 0, "warning": 1, "note": 2}
_DAY = timedelta(hours=24)
_log = logging.getLogger(__name__)
_ENVELOPE = 65_536  # the most bytes that a form needs besides its file
_MAX_OUTPUT = 1 << 20  # bytes that an examination may print
_PASSED_VARIABLES = frozenset(
    {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "http_proxy", "no_proxy", "NO_PROXY", LOCAL_VARIABLE}
    | {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE"}
)
_START_SECONDS = 10  # in which an examination has begun, on a busy machine
_BUSY_SECONDS = 5  # after which to try again
_counting = threading.Lock()
_now_examining: list[str] = []  # origins of the submissions that this process has examined


@dataclass(frozen=True)
class Limits:
    """Limits on submissions; sizes in bytes.

    Attributes
    ----------
    size : int
        The size of one submission: of the ZIP file that is sent, and of the one that is stored.
    person : int
        The total size of all revisions of a user's submissions.
    open : int
        How many submissions of a user may be open at a time.
    day : int
        How many revisions a user may send in 24 hours.
    fetching : float
        How many seconds fetching from a Git repository may take while the user waits.
    fetches : int
        How many repositories a server process fetches at a time.
    examinations : int
        How many submissions a server process examines at a time, repositories included. It must be smaller than the
        number of threads that process requests.
    seconds : int
        Processor time in which a submission must be examined.
    memory : int
        Memory in which a submission must be examined.
    """

    size: int = 20_000_000
    person: int = 500_000_000
    open: int = 20
    day: int = 50
    fetching: float = 20.0
    fetches: int = 2
    examinations: int = 3
    seconds: int = 15
    memory: int = 1_000_000_000


def limits() -> Limits:
    """Return the limits in the settings, with the defaults above."""
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.SUBMISSIONS.items() if name in known})


class Refused(UserError):
    """A submission is refused.

    Parameters
    ----------
    message, remedy : str
        The reason, and what to do.
    status : int
        HTTP status of the response.
    retry_after : int
        Seconds after which to try again, if `status` is 429 or 503.
    """

    def __init__(self, message: str, remedy: str, *, status: int = 400, retry_after: int = 60) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Use:
    """What a user has sent.

    Attributes
    ----------
    open : int
        Number of open submissions.
    day : int
        Number of revisions in the last 24 hours.
    size : int
        Total size of all revisions in bytes.
    """

    open: int
    day: int
    size: int


def use_of(user: User) -> Use:
    """Count what a user has sent. Lock the user's row first if a decision depends on the result."""
    sent = Revision.objects.filter(by=user).aggregate(day=Count("pk", filter=Q(created__gt=timezone.now() - _DAY)))
    kept = Revision.objects.filter(submission__owner=user).aggregate(size=Sum("size"))
    return Use(
        open=Submission.objects.filter(owner=user).exclude(state__in=Submission.CLOSED).count(),
        day=sent["day"],
        size=kept["size"] or 0,
    )


def require_room(user: User, *, new: bool, size: int = 0) -> None:
    """Refuse a submission that exceeds the limits.

    Parameters
    ----------
    user : User
        The submitter.
    new : bool
        Whether it is a new submission, rather than a revision of one.
    size : int
        Its size in bytes, if known.

    Raises
    ------
    Refused
        If a limit is exceeded; the message says which one and how to free space.
    """
    use, limit = use_of(user), limits()
    if new and use.open >= limit.open:
        raise Refused(
            f"you have {use.open} open submissions, and the limit is {limit.open}",
            "wait until some are done, or withdraw some",
            status=429,
        )
    if use.day >= limit.day:
        raise Refused(
            f"you have sent {use.day} revisions in 24 hours, and the limit is {limit.day}",
            "try again tomorrow",
            status=429,
        )
    if use.size + size > limit.person:
        raise Refused(
            f"your submissions take up {size_text(use.size)} of {size_text(limit.person)}, and this needs "
            f"{size_text(size)}",
            "ask the administrators for more space",
            status=413,
        )


@dataclass(frozen=True)
class Zip:
    """An uploaded ZIP file."""

    content: bytes | Path | BinaryIO
    name: str = ""


@dataclass(frozen=True)
class Git:
    """A Git repository at a commit, branch or tag; by default at its newest commit."""

    address: str
    commit: str


@dataclass(frozen=True)
class Pull:
    """A pull request on GitHub."""

    address: str


Source = Zip | Git | Pull


def source_at(address: str, commit: str = "") -> Git | Pull:
    """Return the source at an address: a pull request, or a repository at a commit, branch or tag.

    Raises
    ------
    Refused
        If it is neither.
    """
    address = address.strip()
    if submitting.is_pull(address):
        return Pull(address)
    if not address.startswith(("https://", "file://")):
        raise Refused(
            f"{address or 'the address'} does not begin with https://", "give the address that you would clone"
        )
    return Git(address, commit.strip())


def takes_revisions(submission: Submission) -> bool:
    """Whether a new revision may be sent: not during publication or scoring, nor after its end."""
    return submission.state in _REVISABLE


def receive(
    user: User,
    source: Source,
    *,
    visibility: str = Visibility.PUBLIC,
    note: str = "",
    submission: Submission | None = None,
) -> Revision:
    """Store plugins as a new submission or as a new revision, and start the pipeline.

    Parameters
    ----------
    user : User
        The submitter.
    source : Zip, Git or Pull
        The source of the plugins.
    visibility : str
        Visibility of its models; used for new submissions only.
    note : str
        The submitter's note to the reviewer.
    submission : Submission, optional
        The submission of which this is a new revision.

    Returns
    -------
    Revision
        The revision with its findings. One with errors is stored as well, but none of its code runs.

    Raises
    ------
    Refused
        If it cannot be read, or exceeds a limit; nothing is stored then.
    """
    require_room(user, new=submission is None)
    if submission is not None:
        _require_revisable(submission)
    examined = _examine(source)
    names = examine_names(examined.plugins, owner=user, submission=submission)
    findings = _in_order((*examined.findings, *names))
    described: dict[str, Any] = {
        "by": user,
        "origin": _origin(source),
        "address": _storable(source.name if isinstance(source, Zip) else examined.address or source.address)[-500:],
        "commit": _storable(examined.commit)[:64],
        "note": _storable(note)[:10_000],
        "archive": examined.archive,
        "digest": examined.digest,
        "size": len(examined.archive),
        "plugins": _storable([one.as_dict() for one in examined.plugins]),
        "findings": _storable([one.as_dict() for one in findings]),
    }
    title = _title(examined.plugins)
    with transaction.atomic():
        # a weak lock: others may still refer to this user, but cannot count its submissions meanwhile
        owner = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if submission is None:
            _require_news(owner, examined.digest)
        require_room(owner, new=submission is None, size=len(examined.archive))
        if submission is None:
            row = Submission.objects.create(owner=owner, title=title, visibility=visibility)
        else:
            row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
            _require_revisable(row)
            row.title, row.changed = title, timezone.now()
            row.save(update_fields=["title", "changed"])
        last = row.revisions.aggregate(number=Max("number"))["number"] or 0
        revision = Revision.objects.create(submission=row, number=last + 1, **described)
        pipeline.start(revision, has_errors=any(one.severity == "error" for one in findings))
    return revision


def max_form_size() -> int:
    """The largest size in bytes of a form with a submission."""
    return submitting.Limits(size=limits().size).archive + _ENVELOPE


def too_large_error() -> Refused:
    """The error for a file that is too large."""
    return Refused(
        f"a submission may not exceed {size_text(limits().size)}",
        "leave out weights and data: upload data to the site, and load weights from a web address",
        status=413,
    )


def _require_revisable(submission: Submission) -> None:
    if takes_revisions(submission):
        return
    closed = submission.state in Submission.CLOSED
    raise Refused(
        f"this submission is {submission.get_state_display()} and accepts no further revisions",
        "send it as a new submission" if closed else "wait until it is done, then send a new submission",
        status=409,
    )


def _require_news(owner: User, digest: str) -> None:
    """Refuse files that are already in an open submission, so that a form sent twice creates one submission."""
    same = Submission.objects.filter(owner=owner, revisions__digest=digest).exclude(state__in=Submission.CLOSED).first()
    if same is not None:
        raise Refused(
            f"you have already sent exactly these files: {same}",
            f"see submission {same.pk}; withdraw it if you want to send them again",
            status=409,
        )


@dataclass(frozen=True)
class _Examined:
    """A submission that was read and examined."""

    archive: bytes
    digest: str
    address: str
    commit: str
    plugins: tuple[submitting.SubmittedPlugin, ...]
    findings: tuple[submitting.Finding, ...]


def _examine(source: Source) -> _Examined:
    """Read and examine a submission in another process, which has limits on time and memory.

    Raises
    ------
    Refused
        If it cannot be read, or exceeds a limit, or if too many are being examined.
    """
    limit, origin = limits(), _origin(source)
    request = {
        "origin": origin,
        "name": source.name if isinstance(source, Zip) else "",
        "address": "" if isinstance(source, Zip) else source.address,
        "commit": source.commit if isinstance(source, Git) else "",
        "limits": {"size": limit.size, "seconds": limit.fetching},
        "seconds": limit.seconds,
        "memory": limit.memory,
    }
    timeout = _START_SECONDS + 2 * limit.seconds + (0 if origin == "zip" else limit.fetching)
    with _examination_slot(origin), tempfile.TemporaryDirectory(prefix="brainscore-examination-") as name:
        folder = Path(name)
        if isinstance(source, Zip):
            _write_upload(source, folder / "upload")
        (folder / "request.json").write_text(json.dumps(request))
        answer = run_examination(folder, timeout=timeout)
        if "error" in answer:
            raise Refused(_storable(answer["error"]), _storable(answer["remedy"]))
        if exceeded := answer.get("exceeded"):
            amount = size_text(limit.memory) + " of memory" if exceeded == "memory" else f"{limit.seconds} s"
            raise Refused(
                f"the submission could not be examined within {amount}",
                "divide it into several submissions, with smaller files",
            )
        return _Examined(
            archive=(folder / "archive").read_bytes(),
            digest=answer["digest"],
            address=answer["address"],
            commit=answer["commit"],
            plugins=tuple(map(submitting.SubmittedPlugin.from_dict, answer["plugins"])),
            findings=tuple(map(submitting.Finding.from_dict, answer["findings"])),
        )


def run_examination(folder: Path, *, timeout: float) -> dict[str, Any]:
    """Run `examination_process` on a folder, and return its answer; ``{"exceeded": …}`` if it exceeded a limit.

    Raises
    ------
    Refused
        If the process took too long, or ended unexpectedly: the site may be busy.
    """
    kept = {name: value for name, value in os.environ.items() if name in _PASSED_VARIABLES}
    command = [sys.executable, "-P", "-m", "brainscore_web.submissions.examination_process", str(folder)]
    folders = {"HOME": str(folder), "TMPDIR": str(folder)}  # removed by the caller even if the process is killed
    process = guarded(command, environment={**kept, **folders, "LC_ALL": "C.UTF-8"})
    assert process.stdout is not None
    output = Output(os.dup(process.stdout.fileno()), limit=_MAX_OUTPUT, on_flood=ender(process))
    process.stdout.close()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        _log.warning("the examination of a submission took longer than %s s, and was ended", timeout)
        raise Refused(
            f"the submission could not be examined within {timeout:g} s", "try again in a minute", status=503
        ) from None
    finally:
        status = end(process, os.getpid())
        output.finish(1.0)
    if status == -signal.SIGXCPU:
        return {"exceeded": "time"}
    try:
        answer: dict[str, Any] = json.loads((folder / "answer.json").read_bytes())
    except (OSError, ValueError):
        if "MemoryError" in output.text:  # it had no memory left to write the answer
            return {"exceeded": "memory"}
        _log.error("the examination of a submission %s: %s", ending_text(status), output.text[-2_000:])
        raise Refused(
            "the examination of the submission ended unexpectedly", "try again in a minute", status=503
        ) from None
    return answer


def _write_upload(source: Zip, target: Path) -> None:
    most = submitting.Limits(size=limits().size).archive + 1  # one more shows that it is too large
    if isinstance(source.content, bytes):
        content = source.content
    elif isinstance(source.content, Path):
        with source.content.open("rb") as stream:
            content = stream.read(most)
    else:
        content = source.content.read(most)
    target.write_bytes(content)


@contextmanager
def _examination_slot(origin: str) -> Iterator[None]:
    """Limit how many submissions are examined at a time, since each occupies a thread of the server."""
    with _counting:
        if origin != "zip" and sum(one != "zip" for one in _now_examining) >= limits().fetches:
            raise Refused("the site is busy fetching other repositories", "try again in a minute", status=503)
        if len(_now_examining) >= limits().examinations:
            raise Refused(
                "the site is busy examining other submissions",
                f"try again in {_BUSY_SECONDS} seconds",
                status=503,
                retry_after=_BUSY_SECONDS,
            )
        _now_examining.append(origin)
    try:
        yield
    finally:
        with _counting:
            _now_examining.remove(origin)


def _origin(source: Source) -> str:
    return {Zip: "zip", Git: "git", Pull: "pull"}[type(source)]


def _title(plugins: Iterable[submitting.SubmittedPlugin]) -> str:
    names = _storable(", ".join(dict.fromkeys(plugin.name for plugin in plugins))) or "nothing yet"
    return names if len(names) <= 300 else f"{names[:299]}…"


def _in_order(findings: Iterable[submitting.Finding]) -> list[submitting.Finding]:
    """Sort findings without duplicates by severity, file and line."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda finding: (_SEVERITIES[finding.severity], finding.file, finding.line or 0, finding.message),
    )


def _storable(value: Any) -> Any:
    """Replace characters that some databases cannot store: NUL, and invalid Unicode."""
    if isinstance(value, str):
        return value.replace("\0", "\N{SYMBOL FOR NULL}").encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_storable(name): _storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
