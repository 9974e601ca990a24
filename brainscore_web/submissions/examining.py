"""Examination of submissions in processes with limits on time and memory.

`receive` examines what arrives while the request waits, for a short time; the check step examines what takes longer.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from brainscore_core import submission as submitting
from brainscore_core.domain_names import FIRST
from brainscore_core.formatting import size_text
from brainscore_core.isolation.children import Output, end, ender, ending_text, guarded
from brainscore_core.submission.repositories import LOCAL_VARIABLE
from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Submission
from brainscore_web.uploads.files import Refused

_log = logging.getLogger(__name__)
_MAX_OUTPUT = 1 << 20  # bytes that an examination may print
_PASSED_VARIABLES = frozenset(
    {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "http_proxy", "no_proxy", "NO_PROXY", LOCAL_VARIABLE}
    | {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE"}
)
_START_SECONDS = 10  # in which an examination has begun, on a busy machine


@dataclass(frozen=True)
class Limits:
    """Limits on submissions; sizes in bytes."""

    size: int = 20_000_000  # the size of one submission: of the ZIP file that is sent, and of the one that is stored
    person: int = 500_000_000  # the total size of all revisions of a user's submissions
    open: int = 20  # how many submissions of a user may be open at a time
    day: int = 50  # how many revisions a user may send in 24 hours
    fetching: float = 20.0  # how many seconds fetching from a Git repository may take
    waiting: float = 2.0  # how many seconds a request waits for the examination of what it sends
    # how many requests of a server process wait for examinations at a time. It must be smaller than the number of
    # threads that process requests
    examinations: int = 2
    seconds: int = 15  # processor time in which a submission must be examined
    memory: int = 1_000_000_000  # memory in which a submission must be examined


def limits() -> Limits:
    """Return the limits in the settings, with the defaults above."""
    names = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.SUBMISSIONS.items() if name in names})


@dataclass(frozen=True)
class Source:
    """Plugins that were sent: a ZIP file, a Git repository at a commit, branch or tag, or a pull request on GitHub."""

    origin: str  # one of `Submission.Origin`
    name: str  # the name of the ZIP file, or the address
    content: bytes | Path | BinaryIO = b""  # the ZIP file
    commit: str = ""  # of the repository; by default the newest one

    def read(self) -> bytes:
        """Return the content of the ZIP file; of one that is too large, as much as shows this."""
        most = submitting.Limits(size=limits().size).archive + 1
        if isinstance(self.content, bytes):
            return self.content
        if isinstance(self.content, Path):
            with self.content.open("rb") as stream:
                return stream.read(most)
        return self.content.read(most)


def source_at(address: str, commit: str = "") -> Source:
    """Return the source at an address: a pull request, or a repository at a commit, branch or tag."""
    address = address.strip()
    if submitting.is_pull(address):
        return Source("pull", address)
    if not address.startswith(("https://", "file://")):
        message = f"{address or 'the address'} does not begin with https://"
        raise Refused(message, "give the address that you would clone")
    return Source("git", address, commit=commit.strip())


def require_news(owner: User | None, digests: Collection[str], *, but: Submission | None = None) -> None:
    """Refuse files that are already in an open submission, so that a form sent twice creates one submission."""
    hashes = set(filter(None, digests))
    rows = Submission.objects.filter(owner=owner, revisions__digest__in=hashes).exclude(state__in=Submission.CLOSED)
    same = rows.exclude(pk=None if but is None else but.pk).first()
    if same is not None:
        remedy = f"see submission {same.pk}; withdraw it if you want to send them again"
        raise Refused(f"you have already sent exactly these files: {same}", remedy, status=409)


@dataclass(frozen=True)
class Examined:
    """A submission that was read and examined."""

    archive: bytes
    digest: str
    address: str
    commit: str
    plugins: tuple[submitting.SubmittedPlugin, ...]
    findings: tuple[submitting.Finding, ...]

    def columns(self, findings: Iterable[submitting.Finding]) -> dict[str, Any]:
        """Return the columns of a revision, with these findings."""
        return {
            "archive": self.archive,
            "digest": self.digest,
            "size": len(self.archive),
            "commit": storable(self.commit)[:64],
            "plugins": storable([plugin.as_dict() for plugin in self.plugins]),
            "findings": storable([finding.as_dict() for finding in findings]),
        }


def examine(source: Source, *, timeout: float | None = None) -> Examined | None:
    """Read and examine a submission in another process, which has limits on time and memory.

    After `timeout` seconds, by default as long as its limits allow, the process is ended and the result is None. A
    submission that cannot be read or exceeds a limit is `Refused`.
    """
    limit = limits()
    request = {
        **{name: getattr(source, name) for name in ("origin", "name", "commit")},
        **{name: getattr(limit, name) for name in ("seconds", "memory")},
        "limits": {"size": limit.size, "seconds": limit.fetching},
    }
    if timeout is None:
        timeout = _START_SECONDS + 2 * limit.seconds + limit.fetching
    with tempfile.TemporaryDirectory(prefix="brainscore-examination-") as name:
        folder = Path(name)
        (folder / "upload").write_bytes(source.read())
        (folder / "request.json").write_text(json.dumps(request))
        answer = run_examination(folder, timeout=timeout)
        if answer is None:
            return None
        if "error" in answer:
            raise Refused(storable(answer["error"]), storable(answer["remedy"]))
        if exceeded := answer.get("exceeded"):
            amount = size_text(limit.memory) + " of memory" if exceeded == "memory" else f"{limit.seconds} s"
            remedy = "divide it into several submissions, with smaller files"
            raise Refused(f"the submission could not be examined within {amount}", remedy)
        return Examined(
            archive=(folder / "archive").read_bytes(),
            **{name: answer[name] for name in ("digest", "address", "commit")},
            plugins=tuple(map(submitting.SubmittedPlugin.from_dict, answer["plugins"])),
            findings=tuple(map(submitting.Finding.from_dict, answer["findings"])),
        )


def run_examination(folder: Path, *, timeout: float) -> dict[str, Any] | None:
    """Run `examination_process` on a folder, and return its answer; None if it took longer than `timeout`.

    The answer is ``{"exceeded": …}`` if the process exceeded a limit.
    """
    environment = {name: value for name, value in os.environ.items() if name in _PASSED_VARIABLES}
    command = [sys.executable, "-P", "-m", "brainscore_web.submissions.examination_process", str(folder)]
    folders = {"HOME": str(folder), "TMPDIR": str(folder)}  # removed by the caller even if the process is killed
    process = guarded(command, environment={**environment, **folders, "LC_ALL": "C.UTF-8"})
    assert process.stdout is not None
    output = Output(os.dup(process.stdout.fileno()), limit=_MAX_OUTPUT, on_flood=ender(process))
    process.stdout.close()
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
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


def title_of(plugins: Iterable[submitting.SubmittedPlugin]) -> str:
    """Return the title of a submission: the names of its plugins."""
    names = storable(", ".join(dict.fromkeys(plugin.name for plugin in plugins))) or "nothing yet"
    return names if len(names) <= 300 else f"{names[:299]}…"


def domain_of(plugins: Iterable[submitting.SubmittedPlugin]) -> str:
    """Return the domain of a submission: that of its plugins; of several domains, it is refused."""
    return next((plugin.domain for plugin in plugins), FIRST)


def storable(value: Any) -> Any:
    """Replace characters that some databases cannot store: NUL, and invalid Unicode."""
    if isinstance(value, str):
        return value.replace("\0", "\N{SYMBOL FOR NULL}").encode(errors="replace").decode()
    if isinstance(value, dict):
        return {storable(name): storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value
