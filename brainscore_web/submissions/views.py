"""Pages of submissions: own ones, one with all its steps, its code, what changed between two revisions."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from brainscore_web.submissions.differing import changes as changes_between
from brainscore_web.submissions.entrance import confirmed, me, revision_of, visible
from brainscore_web.submissions.highlighting import highlighted
from brainscore_web.submissions.limits import limits
from brainscore_web.submissions.models import PluginKind, Revision, Step, Submission
from brainscore_web.submissions.quota import use_of
from brainscore_web.submissions.receiving import takes_revisions
from brainscore_web.submissions.review.shown import anchor_of, discussion
from brainscore_web.submissions.texts import FileText, texts_of
from brainscore_web.submissions.words import standing_of

__all__ = ["archive", "changes", "code", "file_name", "home", "page_of", "progress", "room", "show"]

_AT_ONCE = 50
_FINDINGS = 300  # on one page
_SYMBOLS = {"waiting": "○", "running": "◐", "passed": "✓", "failed": "✗", "skipped": "–", "cancelled": "⊘"}
_LONGEST_LOG = 200_000  # characters that a page shows of a log: its end
_STATES = Submission.State


@dataclass(frozen=True)
class _Found:
    """A finding, with the line that it is about."""

    finding: dict[str, Any]
    source: SafeString | str
    anchor: str


@confirmed
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Own submissions."""
    rows = Submission.objects.filter(owner=me(request)).order_by("-created", "pk")
    page = Paginator(rows, _AT_ONCE).get_page(request.GET.get("page", "1"))
    return render(request, "submissions/home.html", {"rows": page, **room(request)})


@confirmed
@require_safe
def show(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """One submission, at its newest revision or at another."""
    asked = request.GET.get("revision", "")
    number = int(asked) if asked.isdecimal() and len(asked) < 10 else None
    return page_of(request, visible(request, key), number=number)


@confirmed
@require_safe
def progress(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """How far it is, for a page that asks again and again; nothing where nothing has changed."""
    submission = visible(request, key)
    context = _progress(request, submission, revision_of(submission))
    if request.GET.get("seen") == context["seen"] and context["standing"].seconds:
        return HttpResponse(status=204)
    return render(request, "submissions/_progress.html", context)


@confirmed
@require_safe
def code(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """The files of a revision, with findings and comments beside their lines."""
    submission = visible(request, key)
    revision = revision_of(submission, number, files=True)
    only = request.GET.get("path")
    asked: dict[str, Any] = {"only": only, "lines": 100_000} if only else {}
    context = discussion(revision, me(request), back=request.get_full_path(), **asked)
    if only and not context["files"]:
        raise Http404("there is no such file")
    more = {"submission": submission, "only": only, "whole": request.path, "own": submission.owner_id == me(request).pk}
    return render(request, "submissions/code.html", {**context, **more})


@confirmed
@require_safe
def archive(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """The files of a revision as a ZIP."""
    revision = revision_of(visible(request, key), number, files=True)
    answer = HttpResponse(bytes(revision.archive), content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="{file_name(revision)}"'
    return answer


@confirmed
@require_safe
def changes(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """What differs between a revision and an earlier one: the one before, unless another is asked for."""
    submission = visible(request, key)
    asked = request.GET.get("since", "")
    since = int(asked) if asked.isdecimal() and len(asked) < 10 else number - 1
    if not 0 < since < number:
        raise Http404("there is nothing to compare with")
    after = revision_of(submission, number, files=True)
    before = revision_of(submission, since, files=True)
    context = {
        "submission": submission,
        "before": before,
        "after": after,
        "changes": changes_between(texts_of(before), texts_of(after)),
        "earlier": range(1, number),
    }
    return render(request, "submissions/changes.html", context)


def room(request: HttpRequest) -> dict[str, Any]:
    """What the visitor has sent, of how much."""
    return {"use": use_of(me(request)), "limits": limits()}


def file_name(revision: Revision) -> str:
    """What a revision's archive is called when it is downloaded."""
    return f"submission-{str(revision.submission_id)[:8]}-{revision.number}.zip"


def page_of(
    request: HttpRequest, submission: Submission, *, number: int | None = None, problem: Any = None, status: int = 200
) -> HttpResponse:
    """The page of a submission; `problem` is why something that was asked for was not done."""
    revision = revision_of(submission, number, files=True)
    files = texts_of(revision)
    context = {
        **_progress(request, submission, revision),
        "files": [{"path": path, "size": file.size, "anchor": anchor_of(path)} for path, file in files.items()],
        "found": _found(revision, files),
        "left_out": max(len(revision.findings) - _FINDINGS, 0),
        "counts": _counts(revision),
        "revisions": list(submission.revisions.defer("archive", "findings", "plugins").order_by("-number")),
        "reviews": list(revision.reviews.select_related("reviewer").order_by("created", "pk")),
        "comments": revision.comments.filter(resolved=None).count(),
        "problem": problem,
    }
    return render(request, "submissions/show.html", context, status=status)


def _progress(request: HttpRequest, submission: Submission, revision: Revision) -> dict[str, Any]:
    latest = revision_of(submission) if request.GET.get("revision") else revision
    if latest.pk == revision.pk:
        latest = revision
    rows = list(revision.steps.order_by("order"))
    for row in rows:  # the model has no such attributes: they are for the template
        row.symbol = _SYMBOLS[row.state]  # type: ignore[attr-defined]
        row.shown_log = row.log[-_LONGEST_LOG:]  # type: ignore[attr-defined]
        row.left_out = len(row.log) > _LONGEST_LOG  # type: ignore[attr-defined]
    current = latest is revision
    standing = standing_of(submission, latest, rows if current else latest.steps.order_by("order"))
    own = submission.owner_id == me(request).pk
    context: dict[str, Any] = {
        "submission": submission,
        "revision": revision,
        "latest": latest,
        "current": current,
        "steps": rows,
        "standing": standing,
        "poll": standing.seconds if current else 0,
        "seen": _seen(submission, rows),
        "own": own,
        "has_models": any(plugin["kind"] == PluginKind.MODELS for plugin in revision.plugins),
        "may_revise": own and takes_revisions(submission),
        "may_withdraw": own and (takes_revisions(submission) or submission.state == _STATES.PUBLISHING),
        "may_cancel": own and submission.state in (_STATES.QUEUED, _STATES.SCORING),
        "poll_at": reverse("submissions:progress", args=[submission.pk]),
    }
    if current and submission.state in (_STATES.SCORING, _STATES.DONE):
        from brainscore_web.scoring.tables import jobs_of

        context |= jobs_of(request, submission)
        context["with_jobs"] = True
    return context


def _seen(submission: Submission, steps: list[Step]) -> str:
    """What is on the page, in short."""
    told = [(step.state, step.attempts, step.started, step.ended, step.reason, len(step.log)) for step in steps]
    return hashlib.sha256(repr((submission.state, submission.visibility, told)).encode()).hexdigest()[:16]


def _found(revision: Revision, files: Mapping[str, FileText]) -> list[_Found]:
    shown = revision.findings[:_FINDINGS]
    paths = {finding["file"] for finding in shown if finding["line"] and finding["file"] in files}
    marked = highlighted({path: files[path].lines for path in paths})
    found = []
    for finding in shown:
        path, line = finding["file"], finding["line"]
        source: SafeString | str = ""
        if line and path in marked:
            source = marked[path][line - 1] if line <= len(marked[path]) else ""
        found.append(_Found(finding, source, anchor_of(path, line) if path in files else ""))
    return found


def _counts(revision: Revision) -> dict[str, int]:
    severities = [finding["severity"] for finding in revision.findings]
    return {f"{one}s": severities.count(one) for one in ("error", "warning", "note")}
