"""Pages of reviewers: the queue, a revision, one file, what changed, the archive."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.submissions.differing import before, live_files
from brainscore_web.submissions.differing import changes as changes_between
from brainscore_web.submissions.models import ASPECTS, Review, Revision, Step, Submission
from brainscore_web.submissions.review.checklist import compute, material_of
from brainscore_web.submissions.review.claims import reviewer_key, since
from brainscore_web.submissions.review.entrance import me, reviewers_only, revision_of, submission_of
from brainscore_web.submissions.review.forms import FilterForm, VerdictForm
from brainscore_web.submissions.review.judging import case_of
from brainscore_web.submissions.review.queue import waiting
from brainscore_web.submissions.review.shown import discussion
from brainscore_web.submissions.texts import texts_of

__all__ = ["changes", "file", "newest", "queue", "review_page", "show"]

_AT_ONCE = 50
_LINES_OF_ONE_FILE = 20_000
_LOG = 40_000


@reviewers_only
@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """What waits."""
    form = FilterForm(request.GET or None)
    rows = waiting(me(request), **form.asked) if form.is_bound else waiting(me(request))
    page = Paginator(rows, _AT_ONCE).get_page(request.GET.get("page", "1"))
    asked = request.GET.copy()
    asked.pop("page", None)
    return render(
        request, "review/queue.html", {"form": form, "rows": page, "asked": asked.urlencode(), "now": timezone.now()}
    )


@reviewers_only
@require_safe
def newest(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Lead to the newest revision."""
    latest = submission_of(request, key).revisions.order_by("-number").values_list("number", flat=True).first()
    return redirect("review:show", key, latest or 1)


@reviewers_only
@require_safe
def show(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """A revision: everything that a verdict needs."""
    return review_page(request, revision_of(request, key, number))


@reviewers_only
@require_safe
def file(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """One file, with more of its lines."""
    revision = revision_of(request, key, number)
    only = request.GET.get("path", "")
    said = discussion(revision, me(request), back=request.get_full_path(), only=only, lines=_LINES_OF_ONE_FILE)
    if not said["files"]:
        raise Http404("there is no such file")
    return render(request, "review/file.html", {**said, "submission": revision.submission, "file": said["files"][0]})


@reviewers_only
@require_safe
def changes(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """What differs from the revision before, or from what is live."""
    revision = revision_of(request, key, number)
    earlier = before(revision)
    live = live_files(revision)
    to = request.GET.get("to", "")
    if to not in ("live", "previous"):
        to = "previous" if earlier is not None else "live"
    if to == "previous":
        old = texts_of(earlier) if earlier is not None else None
    else:
        old = live or None
    found = changes_between(old, texts_of(revision)) if old is not None else []
    context = {
        "revision": revision,
        "submission": revision.submission,
        "earlier": earlier,
        "live": bool(live),
        "to": to,
        "there": old is not None,
        "changes": found,
    }
    return render(request, "review/changes.html", context)


def review_page(
    request: HttpRequest,
    revision: Revision,
    *,
    form: VerdictForm | None = None,
    problem: UserError | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a revision, perhaps with what was refused."""
    reader, submission = me(request), revision.submission
    texts = texts_of(revision)
    material = material_of(revision, reader, texts)
    case = case_of(submission, revision, reader)
    items = compute(material)
    groups: dict[str, list[Any]] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    address = reverse("review:show", args=[submission.pk, revision.number])
    context = {
        **discussion(revision, reader, back=address, texts=texts),
        "submission": submission,
        "revisions": list(submission.revisions.order_by("number").values_list("number", flat=True)),
        "earlier": revision.number > 1,
        "live": live_files(revision),
        "groups": groups,
        "counts": {word: sum(item.state == word for item in items) for word in ("passed", "failed", "judge")},
        "uploads": material.uploads,
        "steps": _steps(revision),
        "private_left_out": material.result(str(Step.Kind.TEST)).get("skipped_private"),
        "case": case,
        "holder": _holder(material.steps.get(str(Step.Kind.REVIEW))),
        "form": form or VerdictForm(),
        "may_judge": not case.own and not case.newer and submission.state == Submission.State.REVIEW,
        "may_reject": not case.own and not case.newer and submission.state in ("queued", "changes"),
        "reviews": _reviews(submission),
        "problem": problem,
        "whole": reverse("review:file", args=[submission.pk, revision.number]),
    }
    return render(request, "review/show.html", context, status=status)


def _steps(revision: Revision) -> list[Step]:
    steps = list(revision.steps.order_by("order"))
    for step in steps:
        if len(step.log) > _LOG:
            cut = len(step.log) - _LOG
            step.log = f"{step.log[: _LOG // 2]}\n… {cut:,} characters are left out …\n{step.log[-_LOG // 2 :]}"
    return steps


def _holder(step: Step | None) -> dict[str, Any]:
    key = reviewer_key(step.result) if step is not None else None
    person = User.objects.filter(pk=key).first() if key else None
    return {"person": person, "since": since(step.result) if step is not None and person is not None else None}


def _reviews(submission: Submission) -> list[dict[str, Any]]:
    """Verdicts of all revisions, newest first, with what was said of each aspect."""
    rows = Review.objects.filter(revision__submission=submission)
    rows = rows.select_related("reviewer", "revision").defer("revision__archive").order_by("-created", "-pk")
    return [
        {
            "review": row,
            "aspects": [
                (label, {True: "fine", False: "not fine", None: "does not apply"}[one.get("fine")], one.get("note", ""))
                for name, label in ASPECTS.items()
                if isinstance(one := row.aspects.get(name), dict)
            ],
        }
        for row in rows
    ]
