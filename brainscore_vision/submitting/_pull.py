"""Submissions as pull requests."""

from __future__ import annotations

import re

from brainscore_core.errors import UserError
from brainscore_vision.submitting._addresses import local_allowed, place_of
from brainscore_vision.submitting._gather import gather
from brainscore_vision.submitting._layout import KIND_FOLDERS
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package
from brainscore_vision.submitting._repository import GitFailed, Repository, opened

__all__ = ["is_pull", "read_pull"]

_PULL = re.compile(
    r"(?P<repository>https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+|file:///[^?#]+?)/pull/(?P<number>[1-9][0-9]{0,8})"
    r"(?:/(?:files|commits|checks|changes))?/?"
)
_HEAD, _BASE = "refs/brainscore/head", "refs/brainscore/base"


def is_pull(url: str) -> bool:
    """Whether an address is one of a pull request."""
    match = _PULL.fullmatch(url.strip())
    return match is not None and (match["repository"].startswith("https://") or local_allowed())


def read_pull(url: str, *, limits: Limits | None = None) -> Package:
    """Read a submission from a pull request: each plugin in which it changes something.

    Parameters
    ----------
    url : str
        ``https://github.com/owner/repository/pull/123``.
    limits : Limits, optional
        How much is fetched, and for how long.

    Returns
    -------
    Package
        The plugins, whole; `Package.commit` has the commit that the pull request was at.

    Raises
    ------
    UserError
        If there is no such pull request, it touches no plugin, or is too large.

    Notes
    -----
    Compared is with the commit at which the pull request's branch left the repository's default branch. As of
    `read_git`, nothing is checked out.
    """
    limits = limits or Limits()
    match = _PULL.fullmatch(url.strip())
    if match is None or not is_pull(url):
        raise UserError(
            f"{url[:200]!a} is no address of a pull request",
            remedy="write https://github.com/owner/repository/pull/123",
        )
    place, number = place_of(match["repository"]), match["number"]
    with opened(place, limits) as repository:
        try:
            repository.fetch(f"+refs/pull/{number}/head:{_HEAD}", f"+HEAD:{_BASE}")
        except GitFailed as error:
            if "couldn't find remote ref" not in str(error).lower():
                raise
            raise UserError(f"{place.url} has no pull request {number}", remedy="check its number") from error
        head = repository.run("rev-parse", "--verify", _HEAD).decode().strip()
        only = _changed(repository, head)
        tree = repository.tree(head)
        there = {folder for folder in only if any(path.startswith(f"{folder}/") for path in tree.names)}
        if not there:
            raise UserError(
                "the pull request changes no plugin: nothing in models/, benchmarks/, data/ or metrics/",
                remedy="add brainscore_vision/models/my_model/__init__.py, or its like, and push",
            )
        return gather(tree, limits=limits, address=url.strip().rstrip("/"), commit=head, only=sorted(there))


def _changed(repository: Repository, head: str) -> set[str]:
    """Folders of the plugins in which files differ from the commit at which the branch left."""
    try:
        base = repository.run("merge-base", _BASE, head).decode().strip()
    except GitFailed as error:
        raise UserError(
            "the pull request has no history in common with its repository", remedy="start from a fork of it"
        ) from error
    listed = repository.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head)
    found = set()
    for path in listed.decode(errors="backslashreplace").split("\0"):
        parts = path.split("/")
        for place, part in enumerate(parts[:-2]):
            if part in KIND_FOLDERS and parts[:1] != ["tests"] and parts[place + 1][:1] not in ("_", "."):
                found.add("/".join(parts[: place + 2]))
                break
    return found
