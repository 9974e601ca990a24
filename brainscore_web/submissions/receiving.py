"""Receive plugins from a ZIP file, a Git repository or a pull request, and start their pipeline."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_vision import submission as submitting
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.models import Revision, Submission
from brainscore_web.submissions.names import clashes, holders
from brainscore_web.submissions.quota import CLOSED, Refused, limits, require_room

__all__ = [
    "Git",
    "Pull",
    "Refused",
    "Source",
    "Zip",
    "max_form_size",
    "receive",
    "source_at",
    "takes_revisions",
    "too_large_error",
]

_REVISABLE = (Submission.State.QUEUED, Submission.State.CHANGES, Submission.State.REVIEW)
_SEVERITIES = {"error": 0, "warning": 1, "note": 2}
_ENVELOPE = 65_536  # bytes that a form needs around its file, at most
_fetching = threading.Lock()
_now_fetching = 0


@dataclass(frozen=True)
class Zip:
    """A ZIP file that was sent."""

    content: bytes | Path | BinaryIO
    name: str = ""


@dataclass(frozen=True)
class Git:
    """A Git repository, and what of it: a commit, a branch, a tag; its newest commit where nothing is said."""

    address: str
    commit: str


@dataclass(frozen=True)
class Pull:
    """A pull request at GitHub."""

    address: str


Source = Zip | Git | Pull


def source_at(address: str, commit: str = "") -> Git | Pull:
    """What an address names: a pull request, or a repository, at a commit, branch or tag.

    Raises
    ------
    Refused
        If it is neither.
    """
    address = address.strip()
    if submitting.is_pull(address):
        return Pull(address)
    if not address.startswith(("https://", "file://")):
        raise Refused(f"{address or 'the address'} does not begin with https://", "give the address for cloning")
    return Git(address, commit.strip())


def takes_revisions(submission: Submission) -> bool:
    """Whether a new revision may be sent: not while it is published or scored, nor once it has ended."""
    return submission.state in _REVISABLE


def receive(
    user: User,
    source: Source,
    *,
    visibility: str = Visibility.PUBLIC,
    note: str = "",
    submission: Submission | None = None,
) -> Revision:
    """Take plugins as a new submission, or as a new revision of one.

    Parameters
    ----------
    user : User
        Who sends.
    source : Zip, Git or Pull
        From where.
    visibility : str
        Of its models; counts for a new submission only.
    note : str
        What its sender says about it.
    submission : Submission, optional
        Of which this is a new revision.

    Returns
    -------
    Revision
        With its findings. What has errors is kept, too; nothing of it runs.

    Raises
    ------
    Refused
        Nothing was kept: it cannot be read, or there is no room.
    """
    require_room(user, new=submission is None)
    if submission is not None:
        _require_revisable(submission)
    package = _read(source)
    archive = package.to_zip()
    findings = _in_order(
        (
            *package.findings,
            *submitting.examine(package, taken=holders(package, owner=user, submission=submission)),
            *clashes(package, owner=user, submission=submission),
        )
    )
    described: dict[str, Any] = {
        "by": user,
        "origin": _origin(source),
        "address": _storable(source.name if isinstance(source, Zip) else package.address or source.address)[-500:],
        "commit": _storable(package.commit or "")[:64],
        "note": _storable(note)[:10_000],
        "archive": archive,
        "digest": package.digest,
        "size": len(archive),
        "plugins": _storable([one.as_dict() for one in package.plugins]),
        "findings": _storable([one.as_dict() for one in findings]),
    }
    title = _title(package)
    with transaction.atomic():
        # other transactions may point at the person meanwhile, while nobody else counts
        owner = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if submission is None:
            _require_news(owner, package.digest)
        require_room(owner, new=submission is None, size=len(archive))
        if submission is None:
            row = Submission.objects.create(owner=owner, title=title, visibility=visibility)
        else:
            row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
            _require_revisable(row)
            row.title, row.changed = title, timezone.now()
            row.save(update_fields=["title", "changed"])
        last = row.revisions.aggregate(number=Max("number"))["number"] or 0
        revision = Revision.objects.create(submission=row, number=last + 1, **described)
        from brainscore_web.submissions import pipeline

        pipeline.start(revision, has_errors=any(one.severity == "error" for one in findings))
    return revision


def max_form_size() -> int:
    """Bytes that a form with a submission may have."""
    return submitting.Limits(size=limits().size).archive + _ENVELOPE


def too_large_error() -> Refused:
    """What is said of a file that is too large."""
    return Refused(
        f"a submission may have {limits().size / 1e6:,.0f} MB",
        "leave out weights and data: upload data, and load weights from their address",
        status=413,
    )


def _require_revisable(submission: Submission) -> None:
    if takes_revisions(submission):
        return
    closed = submission.state in CLOSED
    raise Refused(
        f"this submission is {submission.get_state_display()}, and takes no revisions any more",
        "send it as a new submission" if closed else "wait until it is done, then send a new submission",
        status=409,
    )


def _require_news(owner: User, digest: str) -> None:
    """Refuse the very same files while they are on their way: a form that was sent twice makes one submission."""
    same = Submission.objects.filter(owner=owner, revisions__digest=digest).exclude(state__in=CLOSED).first()
    if same is not None:
        raise Refused(
            f"you have sent exactly these files already: {same}",
            f"see submission {same.pk}; withdraw it if you want to send them anew",
            status=409,
        )


def _read(source: Source) -> submitting.Package:
    bounds = submitting.Limits(size=limits().size, seconds=limits().fetching)
    try:
        if isinstance(source, Zip):
            return submitting.read_zip(source.content, limits=bounds, name=source.name)
        with _fetch_slot():
            if isinstance(source, Git):
                return submitting.read_git(source.address, source.commit, limits=bounds)
            return submitting.read_pull(source.address, limits=bounds)
    except Refused:
        raise
    except UserError as error:
        raise Refused(_storable(error.message), _storable(error.remedy or "mend it, and send it again")) from error


@contextmanager
def _fetch_slot() -> Iterator[None]:
    """Fetch while not too many others do: whoever waits for a repository keeps a thread of the server."""
    global _now_fetching
    with _fetching:
        if _now_fetching >= limits().fetches:
            raise Refused("the site fetches other repositories just now", "try again in a minute", status=503)
        _now_fetching += 1
    try:
        yield
    finally:
        with _fetching:
            _now_fetching -= 1


def _origin(source: Source) -> str:
    return {Zip: "zip", Git: "git", Pull: "pull"}[type(source)]


def _title(package: submitting.Package) -> str:
    names = _storable(", ".join(dict.fromkeys(plugin.name for plugin in package.plugins))) or "nothing yet"
    return names if len(names) <= 300 else f"{names[:299]}…"


def _in_order(findings: Iterable[submitting.Finding]) -> list[submitting.Finding]:
    """Each once: what must be mended first, by file and line."""
    return sorted(
        dict.fromkeys(findings), key=lambda one: (_SEVERITIES[one.severity], one.file, one.line or 0, one.message)
    )


def _storable(value: Any) -> Any:
    """What every database can keep: no NUL, nothing that is no Unicode."""
    if isinstance(value, str):
        return value.replace("\0", "\N{SYMBOL FOR NULL}").encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_storable(name): _storable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value
