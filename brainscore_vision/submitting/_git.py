"""Submissions as commits of a public repository."""

from __future__ import annotations

import re

from brainscore_core.errors import UserError
from brainscore_vision.submitting._addresses import place_of
from brainscore_vision.submitting._gather import gather
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package
from brainscore_vision.submitting._repository import GitFailed, Repository, opened

__all__ = ["read_git"]

_WHOLE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PART = re.compile(r"[0-9a-f]{7,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+@=-]*")
_WHICH = "name a branch, a tag, or at least 7 digits of a commit"


def read_git(url: str, commit: str, *, limits: Limits | None = None) -> Package:
    """Read a submission from a commit.

    Parameters
    ----------
    url : str
        Of a public repository: ``https://github.com/name/repository``. What is taken is what `read_folder` would take
        of a checkout.
    commit : str
        Its hash, whole or at least 7 digits; or a branch or tag, of which the commit is kept. Empty: what is checked
        out by default.
    limits : Limits, optional
        How much is fetched, and for how long.

    Returns
    -------
    Package
        Its plugins; `Package.commit` has the whole hash.

    Raises
    ------
    UserError
        If there is no such repository or commit, it is not public, too large, or holds no plugin.

    Notes
    -----
    Git runs without the machine's and the user's settings, speaks https alone, follows no redirects, and fetches no
    submodules. Nothing is checked out: files are read as git's objects. Addresses of private networks are refused.
    """
    limits = limits or Limits()
    place = place_of(url)
    commit = commit.strip()
    if commit and (not _NAME.fullmatch(commit) or ".." in commit or len(commit) > 250):
        raise UserError(f"{commit[:80]!a} is no commit", remedy=_WHICH)
    with opened(place, limits) as repository:
        whole = _resolved(repository, commit, place.url)
        try:
            repository.fetch(whole, depth=1)
        except GitFailed as error:
            if not re.search("unadvertised object|not our ref|not allow", str(error)):
                raise
            repository.fetch("+refs/heads/*:refs/heads/*")  # a server that gives no commit by its hash
            if whole not in repository.run("rev-list", "--all").decode().split():
                raise
        name = place.url.rstrip("/").rpartition("/")[2].removesuffix(".git")
        return gather(repository.tree(whole), limits=limits, name=name, address=place.url, commit=whole)


def _resolved(repository: Repository, commit: str, url: str) -> str:
    """The whole hash of a commit."""
    if _WHOLE.fullmatch(commit.lower()):
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
    if not _PART.fullmatch(commit.lower()):
        raise UserError(f"{url} has no branch or tag {commit!r}", remedy=_WHICH)
    found = {one for one in heads.values() if one.startswith(commit.lower())}
    if not found:
        repository.fetch("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        listed = repository.run("rev-list", "--all", "--max-count=200000").decode().split()
        found = {one for one in listed if one.startswith(commit.lower())}
    if len(found) != 1:
        what = "several commits that begin" if found else "no commit that begins"
        raise UserError(f"{url} has {what} with {commit}", remedy="push it, or write the whole hash")
    return found.pop()
