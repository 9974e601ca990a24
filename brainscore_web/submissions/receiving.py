"""Receive plugins from a ZIP file, a Git repository or a pull request, within limits, and start their pipeline."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from brainscore_core import submission as submitting
from brainscore_core.domain_names import FIRST
from brainscore_core.formatting import size_text
from brainscore_web.accounts.models import Lab, User
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.examining import (
    Examined,
    Refused,
    Source,
    domain_of,
    examine,
    limits,
    require_news,
    storable,
    title_of,
)
from brainscore_web.submissions.models import Revision, Submission, UnexaminedFiles
from brainscore_web.submissions.pipeline.checking import examine_names

_REVISABLE = (Submission.State.QUEUED, Submission.State.CHANGES, Submission.State.REVIEW)
_SEVERITIES = {"error": 0, "warning": 1, "note": 2}
_DAY = timedelta(hours=24)
_ENVELOPE = 65_536  # the most bytes that a form needs besides its file
_counting = threading.Lock()
_waiting: list[Source] = []  # sources for whose examination a thread of this process waits


@dataclass(frozen=True)
class Use:
    """What a user has sent."""

    open: int  # number of open submissions
    day: int  # number of revisions in the last 24 hours
    size: int  # total size of all revisions in bytes


def use_of(user: User) -> Use:
    """Count what a user has sent. Lock the user's row first if a decision depends on the result."""
    today = Count("pk", filter=Q(created__gt=timezone.now() - _DAY))
    sent = Revision.objects.filter(by=user).aggregate(day=today, size=Sum("size"))
    return Use(
        open=Submission.objects.filter(owner=user).exclude(state__in=Submission.CLOSED).count(),
        day=sent["day"],
        size=sent["size"] or 0,
    )


def require_room(user: User, *, new: bool, size: int = 0) -> None:
    """Refuse a submission that exceeds the limits."""
    use, limit = use_of(user), limits()
    if new and use.open >= limit.open:
        message = f"you have {use.open} open submissions, and the limit is {limit.open}"
        raise Refused(message, "wait until some are done, or withdraw some", status=429)
    if use.day >= limit.day:
        message = f"you have sent {use.day} revisions in 24 hours, and the limit is {limit.day}"
        raise Refused(message, "try again tomorrow", status=429)
    if use.size + size > limit.person:
        taken = f"your submissions take up {size_text(use.size)} of {size_text(limit.person)}"
        message = f"{taken}, and this needs {size_text(size)}"
        raise Refused(message, "ask the administrators for more space", status=413)


def takes_revisions(submission: Submission) -> bool:
    """Whether a new revision may be sent: not during publication or scoring, nor after its end."""
    return submission.state in _REVISABLE


def receive(
    user: User,
    source: Source,
    *,
    visibility: str = Visibility.PUBLIC,
    lab: Lab | None = None,
    note: str = "",
    submission: Submission | None = None,
) -> Revision:
    """Store plugins as a new submission, which may belong to a lab, or as a new revision, and start the pipeline."""
    require_room(user, new=submission is None)
    if submission is not None:
        _require_revisable(submission)
    source = replace(source, content=(content := source.read()))
    examined = _examined_while_waiting(source)
    if len(content) > submitting.Limits(size=limits().size).archive:
        raise too_large_error()
    # the hash of a ZIP file, by which one that is sent twice is recognised
    sent = hashlib.sha256(content).hexdigest() if content else ""
    described: dict[str, Any] = {"by": user, "origin": source.origin, "note": storable(note)[:10_000]}
    described |= {"address": storable(source.name)[-500:], "digest": sent, "archive": b"", "size": len(content)}
    title, domain = described["address"][-300:] or "submission", FIRST
    if examined is not None:
        names = examine_names(examined.plugins, owner=user, submission=submission)
        described |= examined.columns(_in_order((*examined.findings, *names)))
        described["address"] = storable(examined.address or source.name)[-500:]
        title, domain = title_of(examined.plugins), domain_of(examined.plugins)
    has_errors = any(finding["severity"] == "error" for finding in described.get("findings", ()))
    with transaction.atomic():
        # a weak lock: others may still refer to this user, but cannot count its submissions meanwhile
        owner = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if submission is None:
            require_news(owner, {described["digest"], sent})
        require_room(owner, new=submission is None, size=described["size"])
        if submission is None:
            row = Submission.objects.create(owner=owner, title=title, domain=domain, visibility=visibility, lab=lab)
        else:
            row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
            _require_revisable(row)
            row.title, row.domain, row.changed = title, domain, timezone.now()
            row.save(update_fields=["title", "domain", "changed"])
        last = row.revisions.aggregate(number=Max("number"))["number"] or 0
        revision = Revision.objects.create(submission=row, number=last + 1, **described)
        if examined is None:
            texts = {"name": storable(source.name), "commit": storable(source.commit)}
            UnexaminedFiles.objects.create(revision=revision, content=content, **texts)
        pipeline.start(revision, has_errors=has_errors)
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


def _examined_while_waiting(source: Source) -> Examined | None:
    """Examine a submission for a short time; None if it takes longer, or if enough other requests wait already."""
    with _counting:
        if len(_waiting) >= limits().examinations:
            return None
        _waiting.append(source)
    try:
        return examine(source, timeout=limits().waiting)
    finally:
        with _counting:
            _waiting.remove(source)


def _in_order(findings: Iterable[submitting.Finding]) -> list[submitting.Finding]:
    """Sort findings without duplicates by severity, file and line."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda finding: (_SEVERITIES[finding.severity], finding.file, finding.line or 0, finding.message),
    )
