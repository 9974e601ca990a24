"""Readers of submissions from public Git repositories: commits and pull requests.

Repositories are fetched as bare copies and read as objects. Nothing in them is run or unpacked: hooks, filters,
submodules, links and attributes have no effect, since there is never a working tree.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import unquote, urlsplit

from brainscore_core.errors import UserError
from brainscore_core.submission.package import KIND_FOLDERS, Limits, Package
from brainscore_core.submission.readers import Budget, Tree, read_tree

LOCAL_VARIABLE = "BRAINSCORE_GIT_LOCAL"
"""Environment variable that allows repositories in folders of this machine, for tests."""

_ADDRESS_REMEDY = "write it as https://github.com/name/repository"


class RepositoryAddress(NamedTuple):
    """Location of a repository: the URL for git, and the host with its port (empty: a folder)."""

    url: str
    host: str
    port: int


def local_allowed() -> bool:
    """Whether repositories in folders of this machine and on its network may be read."""
    return os.environ.get(LOCAL_VARIABLE) == "1"


def parse_address(url: str) -> RepositoryAddress:
    """Parse and check the address of a repository.

    A UserError unless it is a plain ``https://`` address of another machine.
    """
    url = url.strip()
    if len(url) > 500 or not url.isascii() or not url.isprintable() or re.search(r"[\s\\'\"<>]", url):
        raise UserError(f"{url[:100]!a} is not the address of a repository", remedy=_ADDRESS_REMEDY)
    try:
        address = urlsplit(url)
        port = address.port or 443
    except ValueError as error:
        raise UserError(f"{url!r} is not the address of a repository: {error}", remedy=_ADDRESS_REMEDY) from error
    if address.scheme == "file" and local_allowed() and not address.netloc:
        return RepositoryAddress(f"file://{unquote(address.path)}", "", 0)
    if address.scheme != "https" or not address.hostname:
        raise UserError(f"{url!r} does not begin with https://", remedy=_ADDRESS_REMEDY)
    if address.username is not None or address.password is not None:
        message = "the address contains a user name or a password"
        raise UserError(message, remedy="send a public repository, or a ZIP file")
    if address.query or address.fragment or not address.path.strip("/"):
        raise UserError(f"{url!r} does not name a repository", remedy=_ADDRESS_REMEDY)
    if address.hostname == "github.com" and len(address.path.strip("/").split("/")) != 2:
        raise UserError(f"{url!r} is a page of a repository, not the repository", remedy=_ADDRESS_REMEDY)
    return RepositoryAddress(f"https://{address.netloc}{address.path.rstrip('/')}", address.hostname, port)


def resolve_host(place: RepositoryAddress) -> str | None:
    """Address of the host, so that git uses this one only; None if a proxy resolves names.

    A UserError if the host is unknown, or is this machine or on its network.
    """
    if not place.host or local_allowed():
        return None
    proxy = any(os.environ.get(name) for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"))
    try:
        results = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except OSError as error:
        if proxy:
            return None
        raise UserError(f"there is no host {place.host!r}", remedy="check the address") from error
    addresses = [str(result[4][0]) for result in results]
    for address in addresses:
        if not is_public_address(address):
            raise UserError(f"{place.host} is an address of a private network", remedy="name a public repository")
    return None if proxy else addresses[0]


def is_public_address(address: str) -> bool:
    """Whether an IP address is one of the public internet.

    Examples
    --------
    >>> list(map(is_public_address, ("10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "8.8.8.8")))
    [False, False, False, False, True]
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if parsed in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return is_public_address(str(inner))
    return parsed.is_global and not parsed.is_multicast


_SETTINGS = (
    *("protocol.allow=never", "http.followRedirects=false", "core.hooksPath=/dev/null", "credential.helper="),
    *("submodule.recurse=false", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"),
    "pack.threads=1",  # each thread has its own stack and heap, and memory may be limited
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=20", "transfer.bundleURI=false", "fetch.writeCommitGraph=false"),
    "advice.detachedHead=false",
)
_KEPT_VARIABLES = (
    *("PATH", "TMPDIR", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE"),
)
_POLL_SECONDS = 0.05
_MAX_OUTPUT = 64_000_000
_MAX_FILES = 100_000


class GitFailed(Exception):
    """A git command failed; the text is its error output."""


class Repository:
    """The fetched part of a repository; a context manager."""

    def __init__(self, place: RepositoryAddress, limits: Limits) -> None:
        self._place, self._limits = place, limits
        self._deadline = time.monotonic() + limits.seconds
        self._home = Path(tempfile.mkdtemp(prefix="brainscore-git-"))
        self.folder = self._home / "repository.git"
        self._address: str | None = None

    def __enter__(self) -> Self:
        if shutil.which("git") is None:
            raise UserError("git is not installed", remedy="install git, or send a ZIP file")
        self._address = resolve_host(self._place)
        self.run("init", "--quiet", "--bare", str(self.folder), inside=False)
        self.run("config", "remote.origin.url", self._place.url)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._home, ignore_errors=True)

    def heads(self, *patterns: str) -> dict[str, str]:
        """Branches and tags with their commits; those that match, or all."""
        lines = self._git_text("ls-remote", "--", "origin", *patterns).splitlines()
        pairs = [line.split("\t", 1) for line in lines if "\t" in line]
        heads = {name: commit for commit, name in pairs}
        return {name: heads.get(f"{name}^{{}}", commit) for name, commit in heads.items() if not name.endswith("^{}")}

    def fetch(self, *what: str, depth: int | None = None) -> None:
        """Fetch commits and folders without the contents of files."""
        shallow = [] if depth is None else [f"--depth={depth}"]
        self._git_text(
            "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--filter=blob:none",
            *shallow, "origin", *what,
        )  # fmt: skip

    def tree(self, commit: str) -> CommitTree:
        """Files of a commit that was fetched."""
        return CommitTree(self, commit)

    def fetch_objects(self, objects: Sequence[str]) -> None:
        """Fetch the contents of files that are not there yet."""
        data = "\n".join(objects).encode()
        info = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", data=data).decode()
        missing = [line.split()[0] for line in info.splitlines() if line.endswith("missing")]
        if missing:
            self._git_text(
                "-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
                "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin", data="\n".join(missing).encode(),
            )  # fmt: skip

    def _git_text(self, *arguments: str, data: bytes = b"") -> str:
        return self.run(*arguments, data=data).decode(errors="replace")

    def run(self, *arguments: str, data: bytes = b"", inside: bool = True) -> bytes:
        """Run git, watching time and size.

        GitFailed if git fails; a UserError if it takes too long, or the repository or the output is too large.
        """
        command = ["git", *self._settings(), *(["--git-dir", str(self.folder)] if inside else []), *arguments]
        with (
            tempfile.TemporaryFile(dir=self._home) as stdin,
            tempfile.TemporaryFile(dir=self._home) as out,
            tempfile.TemporaryFile(dir=self._home) as err,
        ):
            stdin.write(data)
            stdin.seek(0)
            process = subprocess.Popen(  # noqa: S603 - no shell; every argument is ours or checked
                command, stdin=stdin, stdout=out, stderr=err, env=self._environment(), cwd=self._home,
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
            output = out.read(_MAX_OUTPUT + 1)
        if len(output) > _MAX_OUTPUT:
            raise UserError("the repository is too large", remedy="send the plugins' folders as a ZIP file")
        return output

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECONDS)
            if time.monotonic() > self._deadline:
                raise UserError(
                    f"the repository could not be fetched within {self._limits.seconds:g} s",
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
        if self._address is not None:  # the address that was checked, even if the name server changes its answer
            address = f"[{self._address}]" if ":" in self._address else self._address
            yield from ("-c", f"http.curloptResolve={self._place.host}:{self._place.port}:{address}")

    def _environment(self) -> Mapping[str, str]:
        inherited = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        return {
            **inherited,
            **dict.fromkeys(("HOME", "XDG_CONFIG_HOME"), str(self._home)),
            **dict.fromkeys(("GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND"), "false"),
            **dict.fromkeys(("GIT_TERMINAL_PROMPT", "GIT_PROTOCOL_FROM_USER"), "0"),
            **dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM", "GIT_NO_REPLACE_OBJECTS"), "1"),
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "https" if self._place.host else "file",
            "LC_ALL": "C.UTF-8",
        }


class CommitTree(Tree):
    """Files of a commit."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self.commit = commit
        self._objects: dict[str, str] = {}
        self.links: list[str] = []
        listed = repository.run("ls-tree", "-r", "-z", "--full-tree", commit)
        for entry in listed.split(b"\0"):
            if not entry:
                continue
            head, _, path = entry.partition(b"\t")
            mode, kind, name = head.decode().split()
            tree_path = path.decode(errors="backslashreplace")
            if kind == "blob" and mode.startswith("100"):
                self._objects[tree_path] = name
            else:
                self.links.append(tree_path)
        if len(self._objects) > _MAX_FILES:
            raise UserError(f"the repository holds more than {_MAX_FILES:,} files", remedy="send a ZIP file")
        self.names = list(self._objects)

    def content(self, path: str, budget: Budget) -> bytes:
        return self.read([path], budget)[path]

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        names = {path: self._objects[path] for path in paths}
        if not names:
            return {}
        objects = list(dict.fromkeys(names.values()))
        self._repository.fetch_objects(objects)
        query = "\n".join(objects).encode()
        sizes = self._repository.run("cat-file", "--batch-check=%(objectname) %(objectsize)", data=query)
        size_of = dict(line.split() for line in sizes.decode().splitlines())
        small = [name for name in objects if int(size_of[name]) <= budget.limits.file]
        for name in small:
            budget.take(int(size_of[name]))
        contents = dict(self._contents(small))
        too_large = bytes(budget.limits.file + 1)  # only its size is used
        return {path: contents.get(name, too_large) for path, name in names.items()}

    def _contents(self, objects: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        output = self._repository.run("cat-file", "--batch", data="\n".join(objects).encode()) if objects else b""
        at = 0
        for name in objects:
            end = output.index(b"\n", at)
            size = int(output[at:end].split()[2])
            yield name, output[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        return {path for path, file in others.items() if _object_name(file) != self._objects[path]}


def _object_name(file: Path) -> str | None:
    """Git's hash of a file's content; None if the file cannot be read."""
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
def open_repository(place: RepositoryAddress, limits: Limits) -> Iterator[Repository]:
    """Open a repository; failures of git are raised as `UserError`."""
    repository = Repository(place, limits)
    try:
        with repository:
            yield repository
    except GitFailed as error:
        raise _fetch_error(place, str(error)) from error
    finally:
        repository.__exit__()


_PROBLEMS = (
    (
        ("terminal prompts disabled", "authentication failed", "could not read username"),
        "{} does not exist or is not public", "check the address; of a private repository, send a ZIP file",
    ),
    (
        ("not found", "does not exist", "does not appear to be a git repository"),
        "there is no repository at {}", "check the address; it must be public",
    ),
    (
        ("not our ref", "couldn't find remote ref", "unadvertised object"),
        "{} has no such commit", "push it, or name another branch, tag or commit",
    ),
    (("redirect", " 301", " 302"), "{} redirects to another address", "use the address that it redirects to"),
)  # fmt: skip
"""Phrases in the output of git, the problem, and the remedy."""


def _fetch_error(address: RepositoryAddress, output: str) -> UserError:
    for phrases, problem, remedy in _PROBLEMS:
        if any(phrase in output.lower() for phrase in phrases):
            return UserError(problem.format(address.url), remedy=remedy)
    last = output.splitlines()[-1] if output else "git failed"
    return UserError(f"{address.url} cannot be fetched: {last[:300]}", remedy="try again later, or send a ZIP file")


_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+@=-]*")
_COMMIT_REMEDY = "name a branch, a tag, or at least 7 digits of a commit"


def read_git(url: str, commit: str, *, limits: Limits | None = None) -> Package:
    """Read a submission from a commit.

    Parameters
    ----------
    url : str
        Address of a public repository: ``https://github.com/name/repository``. The same files are read as `read_folder`
        reads from a checkout.
    commit : str
        Hash, complete or at least 7 digits; or a branch or tag, whose commit is recorded. Empty: the default branch.
    limits : Limits, optional
        Limits on size and time.

    Returns
    -------
    Package
        Its plugins; `Package.commit` has the complete hash.

    Raises
    ------
    UserError
        If the repository or commit does not exist, is not public or too large, or contains no plugin.

    Notes
    -----
    Git runs without the settings of the machine and the user, uses https only, follows no redirects, and fetches no
    submodules. Nothing is checked out: files are read from git objects. Addresses of private networks are rejected.
    """
    limits = limits or Limits()
    address = parse_address(url)
    commit = commit.strip()
    if commit and (not _NAME.fullmatch(commit) or ".." in commit or len(commit) > 250):
        raise UserError(f"{commit[:80]!a} is not a commit", remedy=_COMMIT_REMEDY)
    with open_repository(address, limits) as repository:
        whole = _resolve_commit(repository, commit, address.url)
        try:
            repository.fetch(whole, depth=1)
        except GitFailed as error:
            if not re.search("unadvertised object|not our ref|not allow", str(error)):
                raise
            repository.fetch("+refs/heads/*:refs/heads/*")  # the server does not serve commits by their hash
            if whole not in repository.run("rev-list", "--all").decode().split():
                raise
        name = address.url.rstrip("/").rpartition("/")[2].removesuffix(".git")
        return read_tree(repository.tree(whole), limits=limits, name=name, address=address.url, commit=whole)


def _resolve_commit(repository: Repository, commit: str, url: str) -> str:
    """The complete hash of a commit."""
    if _FULL_COMMIT.fullmatch(commit.lower()):
        return commit.lower()
    if not commit:
        heads = repository.heads("HEAD")
        if "HEAD" not in heads:
            raise UserError(f"{url} is empty", remedy="push a commit, or name a branch")
        return heads["HEAD"]
    heads = repository.heads()
    for name in (commit, f"refs/heads/{commit}", f"refs/tags/{commit}"):
        if name in heads:
            return heads[name]
    if not _SHORT_COMMIT.fullmatch(commit.lower()):
        raise UserError(f"{url} has no branch or tag {commit!r}", remedy=_COMMIT_REMEDY)
    matches = {head for head in heads.values() if head.startswith(commit.lower())}
    if not matches:
        repository.fetch("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        listed = repository.run("rev-list", "--all", "--max-count=200000").decode().split()
        matches = {candidate for candidate in listed if candidate.startswith(commit.lower())}
    if len(matches) != 1:
        problem = "several commits that begin" if matches else "no commit that begins"
        raise UserError(f"{url} has {problem} with {commit}", remedy="push it, or write the complete hash")
    return matches.pop()


_PULL = re.compile(
    r"(?P<repository>https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+|file:///[^?#]+?)/pull/(?P<number>[1-9][0-9]{0,8})"
    r"(?:/(?:files|commits|checks|changes))?/?"
)
_HEAD, _BASE = "refs/brainscore/head", "refs/brainscore/base"


def is_pull(url: str) -> bool:
    """Whether an address is that of a pull request."""
    match = _PULL.fullmatch(url.strip())
    return match is not None and (match["repository"].startswith("https://") or local_allowed())


def read_pull(url: str, *, limits: Limits | None = None) -> Package:
    """Read a submission from a pull request: each plugin that it changes.

    Parameters
    ----------
    url : str
        ``https://github.com/owner/repository/pull/123``.
    limits : Limits, optional
        Limits on size and time.

    Returns
    -------
    Package
        The complete plugins; `Package.commit` has the commit of the pull request.

    Raises
    ------
    UserError
        If the pull request does not exist, changes no plugin, or is too large.

    Notes
    -----
    Changes are relative to the commit at which the pull request's branch left the repository's default branch. As in
    `read_git`, nothing is checked out.
    """
    limits = limits or Limits()
    match = _PULL.fullmatch(url.strip())
    if match is None or not is_pull(url):
        remedy = "write https://github.com/owner/repository/pull/123"
        raise UserError(f"{url[:200]!a} is not the address of a pull request", remedy=remedy)
    address, number = parse_address(match["repository"]), match["number"]
    with open_repository(address, limits) as repository:
        try:
            repository.fetch(f"+refs/pull/{number}/head:{_HEAD}", f"+HEAD:{_BASE}")
        except GitFailed as error:
            if "couldn't find remote ref" not in str(error).lower():
                raise
            raise UserError(f"{address.url} has no pull request {number}", remedy="check its number") from error
        head = repository.run("rev-parse", "--verify", _HEAD).decode().strip()
        only = _plugins_of_pull(repository, head)
        tree = repository.tree(head)
        existing = {folder for folder in only if any(path.startswith(f"{folder}/") for path in tree.names)}
        if not existing:
            raise UserError(
                "the pull request changes no plugin: nothing in models/, benchmarks/, data/ or metrics/",
                remedy="add a plugin, such as brainscore_vision/models/my_model/__init__.py, and push",
            )
        return read_tree(tree, limits=limits, address=url.strip().rstrip("/"), commit=head, only=sorted(existing))


def _plugins_of_pull(repository: Repository, head: str) -> set[str]:
    """Folders of the plugins with files that differ from the commit at which the branch began."""
    try:
        base = repository.run("merge-base", _BASE, head).decode().strip()
    except GitFailed as error:
        message = "the pull request and its repository have no common history"
        raise UserError(message, remedy="start from a fork of the repository") from error
    listed = repository.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head)
    plugins = set()
    for path in listed.decode(errors="backslashreplace").split("\0"):
        names = path.split("/")
        for index, name in enumerate(names[:-2]):
            if name in KIND_FOLDERS and names[:1] != ["tests"] and names[index + 1][:1] not in ("_", "."):
                plugins.add("/".join(names[: index + 2]))
                break
    return plugins
