"""Files that a submission declares in its code: fetched and verified before any of its code runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.submission import DeclaredFile, Finding, Package, declared_files, read_zip
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest
from brainscore_web.jobs.leases import Postponed, Unavailable
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.models import Plugin, Revision, Submission
from brainscore_web.uploads.files import limits
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage

_PASSED_VARIABLES = frozenset(
    {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR", "AWS_ENDPOINT_URL", "SSL_CERT_FILE"}
    | {name for proxy in ("http_proxy", "https_proxy", "no_proxy") for name in (proxy, proxy.upper())}
    | {"REQUESTS_CA_BUNDLE"}
)
_FETCH_SECONDS = 3600.0
_MAX_FILES = 200  # files of a submission
_WATCH_INTERVAL = 1.0  # seconds
_OPERATORS_SETTING = re.compile(r"BRAINSCORE_|BRAINIO_|AWS_|PROXY|credentials")  # which submitters cannot change


@dataclass(frozen=True)
class FetchedFile:
    """The result of fetching one declared file."""

    declared: DeclaredFile  # the declaration in the code
    verified: bool  # whether its content matches the hash in the code
    private: bool = False  # whether it is a private upload. Such a file is compared, but not used before approval
    # problem, remedy: why the file cannot be used, and what to do
    problem: str = ""
    remedy: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for the step's result."""
        declared = self.declared
        note = "private: not used before approval" if self.private else self.problem
        return {
            "url": declared.url, "sha1": declared.sha1 or "", "sha256": declared.sha256 or "",
            "verified": self.verified,
            "private": self.private, "note": note, "file": declared.file, "line": declared.line,
        }  # fmt: skip

    @property
    def finding(self) -> Finding:
        """The error of a file that cannot be used."""
        remedy = self.remedy or "check the address and the hash"
        return Finding("error", "declared files", self.declared.file, self.declared.line, self.problem, remedy)


def files_home() -> Path:
    """The cache of declared files, with the layout of ``BRAINIO_HOME``.

    It is separate from the cache of the site itself, where private data are stored under their hashes, which are not
    secret.
    """
    return Path(settings.SUBMISSIONS["folder"]).expanduser().absolute() / "files"


def fetch_request(declared: DeclaredFile) -> FetchRequest:
    """The request that the library's loaders will make for the file."""
    return FetchRequest(declared.url, sha1=declared.sha1, sha256=declared.sha256, version_id=declared.version_id)


def available_files(package: Package) -> list[tuple[DeclaredFile, Path]]:
    """Declared files of a package that are in the cache of this machine."""
    available = []
    for declared in declared_files(package):
        try:
            path = _cached_path(fetch_request(declared))
        except (UserError, IndexError):
            continue  # the check step has reported the problem
        if path.is_file():
            available.append((declared, path))
    return available


def _cached_path(request: FetchRequest) -> Path:
    return files_home() / request.digests[0].value / request.name


def fetch_declared_files(
    package: Package, revision: Revision, *, say: Callable[[str], None], stopped: Callable[[], bool]
) -> list[FetchedFile]:
    """Fetch the declared files of a package into the cache of this machine, and verify them."""
    all_declared = declared_files(package)
    if len(all_declared) > _MAX_FILES:
        problem = f"the code names more than {_MAX_FILES} files"
        return [_refused(all_declared[_MAX_FILES], problem, "pack files together")]
    fetched, outside = [], []
    for declared in all_declared:
        if problem := _declaration_problem(declared):
            fetched.append(_refused(declared, problem, "give an https:// address and a hash"))
        elif (uploaded := _uploaded_file(declared)) is not None:
            fetched.append(_from_storage(declared, uploaded, revision))
            say(f"{declared.url}: an upload of this site")
        else:
            outside.append(declared)
    return fetched + _from_network(outside, say=say, stopped=stopped)


def _refused(declared: DeclaredFile, problem: str, remedy: str) -> FetchedFile:
    return FetchedFile(declared, verified=False, problem=problem, remedy=remedy)


def _declaration_problem(declared: DeclaredFile) -> str:
    scheme = urllib.parse.urlsplit(declared.url).scheme
    if scheme not in ("https", "http"):
        return f"{declared.url} is not a web address"
    if not (declared.sha1 or declared.sha256):
        return f"{declared.url} has no hash, so a change of the file could not be detected"
    try:
        fetch_request(declared)
    except UserError as error:
        return error.message
    return ""


def _uploaded_file(declared: DeclaredFile) -> UploadedFile | None:
    """The upload that a declared address refers to, if any."""
    url = urllib.parse.urlsplit(declared.url)
    path = urllib.parse.unquote(url.path).lstrip("/")
    version = declared.version_id or dict(urllib.parse.parse_qsl(url.query)).get("versionId", "")
    bucket, host = storage().bucket, (url.hostname or "").lower()
    if path.startswith(f"uploads/files/{bucket}/") and host in _own_hosts():
        key = path.removeprefix(f"uploads/files/{bucket}/")
    elif path.startswith(f"{bucket}/"):
        key = path.removeprefix(f"{bucket}/")
    elif host.startswith(f"{bucket}."):
        key = path
    else:
        return None
    rows = UploadedFile.objects.filter(bucket=bucket, key=key, upload__state=Upload.State.ACCEPTED)
    rows = rows.filter(version_id=version) if version else rows.order_by("-upload__changed")
    return rows.select_related("upload").first()


def _own_hosts() -> set[str]:
    host = urllib.parse.urlsplit(settings.ADDRESS).hostname
    return {name.lower().strip("[]") for name in (*settings.ALLOWED_HOSTS, host or "localhost")}


def _from_storage(declared: DeclaredFile, own: UploadedFile, revision: Revision) -> FetchedFile:
    private = own.upload.visibility == Visibility.PRIVATE
    if private and (own.upload.owner_id is None or own.upload.owner_id != revision.by_id):
        # the same answer as for a missing file, so that the uploads of others stay unknown
        return _refused(declared, f"{declared.url} is not available", "check the address")
    if (declared.sha1 and declared.sha1 != own.sha1) or (declared.sha256 and declared.sha256 != own.sha256):
        return _refused(declared, f"{declared.url} has another hash", "copy the code from the upload's page again")
    target = _cached_path(fetch_request(declared))
    if not private and not (target.is_file() and target.stat().st_size == own.size):
        stored = storage().at_hand("", own.key, own.version_id)
        with stored as there, replacing(target) as stream, there.path.open("rb") as source:
            shutil.copyfileobj(source, stream)
    return FetchedFile(declared, verified=True, private=private)


def _from_network(
    wanted: list[DeclaredFile], *, say: Callable[[str], None], stopped: Callable[[], bool]
) -> list[FetchedFile]:
    if not wanted:
        return []
    names = ("url", "sha1", "sha256", "version_id")
    question = {
        "files": [{name: getattr(file, name) for name in names} for file in wanted],
        "limit": limits().file,
        "total": limits().person,
        "trusted": list(filter(None, [os.environ.get("AWS_ENDPOINT_URL", "")])),
    }
    answers = []
    for declared, line in zip(wanted, _run_fetch_process(question, stopped), strict=False):
        answer = json.loads(line)
        problem, remedy = answer.get("error", ""), answer.get("remedy", "")
        if answer.get("whose") == "site":
            raise Postponed("the site has no space for files at the moment", problem)
        if answer.get("whose") == "network":
            host = urllib.parse.urlsplit(declared.url).hostname or declared.url
            raise Unavailable(f"the site could not reach {host} ({declared.file}:{declared.line})", problem)
        result = problem or f"{answer['size']} bytes, verified"
        say(f"{declared.url}: {result}")
        if _OPERATORS_SETTING.search(remedy):
            remedy = "check that everyone can download the file from this address, and its hash"
        answers.append(FetchedFile(declared, verified=not problem, problem=problem, remedy=remedy))
    problem = "fetching took too long or ended unexpectedly"
    return answers + [_refused(file, problem, "try again later") for file in wanted[len(answers) :]]


def _run_fetch_process(question: dict[str, Any], stopped: Callable[[], bool]) -> Iterable[str]:
    """Send the request to a process without secrets, and yield its answers line by line."""
    environment = {name: value for name, value in os.environ.items() if name in _PASSED_VARIABLES}
    with tempfile.TemporaryDirectory(prefix="brainscore-fetching-") as home:
        process = subprocess.Popen(
            [sys.executable, "-m", "brainscore_web.submissions.fetch_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment, "HOME": home, "BRAINIO_HOME": str(files_home()), "AWS_EC2_METADATA_DISABLED": "true"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        end, done = time.monotonic() + _FETCH_SECONDS, threading.Event()

        def watch() -> None:
            while not done.wait(_WATCH_INTERVAL):
                if stopped() or time.monotonic() > end:
                    process.kill()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            with process.stdin as stream:
                json.dump(question, stream)
            yield from process.stdout
        finally:
            done.set()
            process.kill()
            process.wait()
            watcher.join()


def files_of(revision: Revision) -> list[Path]:
    """Declared files of a revision that are in `files_home` on this machine."""
    return [path for _declared, path in available_files(package_of(revision))]


def delete_old_files(before: datetime, *, dry: bool = False) -> int:
    """Remove fetched files that neither a live plugin nor an open submission names."""
    limit = before.timestamp()
    old = [path for path in files_home().glob("*/*") if path.is_file() and path.stat().st_mtime < limit]
    if not old:
        return 0
    live = Plugin.objects.values_list("revision", flat=True)
    open_ones = Revision.objects.exclude(submission__state__in=Submission.CLOSED).values_list("pk", flat=True)
    needed: set[Path] = set()
    for key in {*live, *open_ones}:  # one archive after the other
        needed.update(files_of(Revision.objects.get(pk=key)))
    unused = [path for path in old if path not in needed]
    if not dry:
        for path in unused:
            path.unlink(missing_ok=True)
    return len(unused)


def package_of(revision: Revision) -> Package:
    """The package of files in a revision."""
    return read_zip(bytes(revision.archive))
