"""A bare copy of somebody's repository: fetched with git, read as objects, never checked out.

Nothing of the repository is run or unpacked: no hooks, filters, submodules, links or attributes come into play, as no
working tree is ever made.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from brainscore_core.errors import UserError
from brainscore_vision.submitting._addresses import Place, looked_up
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._tree import Budget

__all__ = ["CommitTree", "GitFailed", "Repository", "opened"]

_SETTINGS = (
    *("protocol.allow=never", "http.followRedirects=false", "core.hooksPath=/dev/null", "credential.helper="),
    *(
        "submodule.recurse=false",
        "core.fsmonitor=false",
        "gc.auto=0",
        "maintenance.auto=false",
        "http.lowSpeedLimit=1000",
    ),
    *("http.lowSpeedTime=20", "transfer.bundleURI=false", "fetch.writeCommitGraph=false", "advice.detachedHead=false"),
)
_KEPT = (
    *("PATH", "TMPDIR", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE"),
)
_PATIENCE = 0.05
_MOST_OUTPUT = 64_000_000
_MOST_FILES = 100_000


class GitFailed(Exception):
    """Git said no; the text is what it said."""


class Repository:
    """A repository, as far as it was asked for; use it as a context."""

    def __init__(self, place: Place, limits: Limits) -> None:
        self._place, self._limits = place, limits
        self._deadline = time.monotonic() + limits.seconds
        self._home = Path(tempfile.mkdtemp(prefix="brainscore-git-"))
        self.folder = self._home / "repository.git"
        self._address: str | None = None

    def __enter__(self) -> Self:
        if shutil.which("git") is None:
            raise UserError("git is not installed", remedy="install git, or send a ZIP file")
        self._address = looked_up(self._place)
        self.run("init", "--quiet", "--bare", str(self.folder), inside=False)
        self.run("config", "remote.origin.url", self._place.url)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._home, ignore_errors=True)

    def heads(self, *patterns: str) -> dict[str, str]:
        """Names of branches and tags, and their commits; those that match, or all."""
        lines = self._said("ls-remote", "--", "origin", *patterns).splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        found = {name: commit for commit, name in pairs}
        return {name: found.get(f"{name}^{{}}", commit) for name, commit in found.items() if not name.endswith("^{}")}

    def fetch(self, *what: str, depth: int | None = None) -> None:
        """Fetch commits and folders, not yet what is in the files."""
        shallow = [] if depth is None else [f"--depth={depth}"]
        self._said(
            "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--filter=blob:none",
            *shallow, "origin", *what,
        )  # fmt: skip

    def tree(self, commit: str) -> CommitTree:
        """Files of a commit that was fetched."""
        return CommitTree(self, commit)

    def fetch_objects(self, objects: Sequence[str]) -> None:
        """Fetch what is in files, where it did not come already."""
        there = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", data="\n".join(objects).encode())
        missing = [line.split()[0] for line in there.decode().splitlines() if line.endswith("missing")]
        if missing:
            self._said(
                "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin", data="\n".join(missing).encode(),
            )  # fmt: skip

    def _said(self, *arguments: str, data: bytes = b"") -> str:
        return self.run(*arguments, data=data).decode(errors="replace")

    def run(self, *arguments: str, data: bytes = b"", inside: bool = True) -> bytes:
        """Run git, watching time and size.

        Raises
        ------
        GitFailed
            If git fails.
        UserError
            If it takes too long, or becomes too large.
        """
        command = ["git", *self._settings(), *(["--git-dir", str(self.folder)] if inside else []), *arguments]
        with (
            tempfile.TemporaryFile(dir=self._home) as given,
            tempfile.TemporaryFile(dir=self._home) as out,
            tempfile.TemporaryFile(dir=self._home) as err,
        ):
            given.write(data)
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603 - no shell; every argument is ours or checked
                command, stdin=given, stdout=out, stderr=err, env=self._environment(), cwd=self._home,
                start_new_session=True,
            )  # fmt: skip
            try:
                self._watch(process)
            finally:
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            err.seek(0)
            if process.returncode:
                raise GitFailed(err.read(10_000).decode(errors="replace").strip())
            out.seek(0)
            said = out.read(_MOST_OUTPUT + 1)
        if len(said) > _MOST_OUTPUT:
            raise UserError("the repository is too large", remedy="send the plugins' folders as a ZIP file")
        return said

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
            if time.monotonic() > self._deadline:
                raise UserError(
                    f"the repository did not come within {self._limits.seconds:g} s",
                    remedy="try again later, or send the plugins' folders as a ZIP file",
                )
            if _size(self._home) > self._limits.repository:
                raise UserError(
                    f"the repository is larger than {self._limits.repository / 1e6:,.0f} MB",
                    remedy="send the plugins' folders as a ZIP file",
                )
            if process.poll() is not None:
                return

    def _settings(self) -> Iterator[str]:
        scheme = "https" if self._place.host else "file"
        for setting in (*_SETTINGS, f"protocol.{scheme}.allow=always"):
            yield from ("-c", setting)
        if self._address is not None:  # what was looked up and checked, whatever the name server says next
            address = f"[{self._address}]" if ":" in self._address else self._address
            yield from ("-c", f"http.curloptResolve={self._place.host}:{self._place.port}:{address}")

    def _environment(self) -> Mapping[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {
            **kept,
            "HOME": str(self._home),
            "XDG_CONFIG_HOME": str(self._home),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "SSH_ASKPASS": "false",
            "GIT_SSH_COMMAND": "false",
            "GIT_ALLOW_PROTOCOL": "https" if self._place.host else "file",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LFS_SKIP_SMUDGE": "1",
        }


class CommitTree:
    """Files of a commit."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self.commit = commit
        self._objects: dict[str, str] = {}
        self._links: list[str] = []
        listed = repository.run("ls-tree", "-r", "-z", "--full-tree", commit)
        for entry in listed.split(b"\0"):
            if not entry:
                continue
            head, _, path = entry.partition(b"\t")
            mode, kind, name = head.decode().split()
            place = path.decode(errors="backslashreplace")
            if kind == "blob" and mode.startswith("100"):
                self._objects[place] = name
            else:
                self._links.append(place)
        if len(self._objects) > _MOST_FILES:
            raise UserError(f"the repository holds more than {_MOST_FILES:,} files", remedy="send a ZIP file")

    @property
    def names(self) -> Sequence[str]:
        return list(self._objects)

    @property
    def links(self) -> Sequence[str]:
        return self._links

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        names = {path: self._objects[path] for path in paths}
        if not names:
            return {}
        objects = list(dict.fromkeys(names.values()))
        self._repository.fetch_objects(objects)
        asked = "\n".join(objects).encode()
        sizes = self._repository.run("cat-file", "--batch-check=%(objectname) %(objectsize)", data=asked)
        size_of = dict(line.split() for line in sizes.decode().splitlines())
        small = [name for name in objects if int(size_of[name]) <= budget.limits.file]
        for name in small:
            budget.take(int(size_of[name]))
        contents = dict(self._contents(small))
        too_large = bytes(budget.limits.file + 1)  # it is only looked at for its size
        return {path: contents.get(name, too_large) for path, name in names.items()}

    def _contents(self, objects: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        said = self._repository.run("cat-file", "--batch", data="\n".join(objects).encode()) if objects else b""
        at = 0
        for name in objects:
            end = said.index(b"\n", at)
            size = int(said[at:end].split()[2])
            yield name, said[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        return {path for path, other in others.items() if _object_name(other) != self._objects[path]}


def _object_name(file: Path) -> str | None:
    """What git calls a file's content."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _size(folder: Path) -> int:
    total = 0
    for current, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(current, name)).st_size
    return total


@contextmanager
def opened(place: Place, limits: Limits) -> Iterator[Repository]:
    """Open a repository; what git says is told in words."""
    repository = Repository(place, limits)
    try:
        with repository:
            yield repository
    except GitFailed as error:
        raise _told(place, str(error)) from error
    finally:
        repository.__exit__()


def _told(place: Place, said: str) -> UserError:
    low = said.lower()
    if "terminal prompts disabled" in low or "authentication failed" in low or "could not read username" in low:
        return UserError(
            f"{place.url} is not there, or not public", remedy="check the address; of a private one, send a ZIP file"
        )
    if "not found" in low or "does not exist" in low or "does not appear to be a git repository" in low:
        return UserError(f"there is no repository at {place.url}", remedy="check the address; it must be public")
    if "not our ref" in low or "couldn't find remote ref" in low or "unadvertised object" in low:
        return UserError(f"{place.url} has no such commit", remedy="push it, or name another branch, tag or commit")
    if "redirect" in low or " 301" in low or " 302" in low:
        return UserError(f"{place.url} sends to another address", remedy="name the address that it sends to")
    last = said.splitlines()[-1] if said else "git failed"
    return UserError(f"{place.url} cannot be fetched: {last[:300]}", remedy="try again later, or send a ZIP file")
