"""Pages, forms and actions of reviewers: the queue, revisions, files, comments and decisions."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import current_user, return_address
from brainscore_web.accounts.models import User, owns
from brainscore_web.environment import email_destination
from brainscore_web.submissions.models import (
    ASPECTS,
    Comment,
    PluginKind,
    Review,
    Revision,
    Step,
    Submission,
    reviews_submissions,
)
from brainscore_web.submissions.notifications import notify_comment
from brainscore_web.submissions.permissions import members_only, reviewed_revision, reviewers_only, visible_submission
from brainscore_web.submissions.review import assignments, comments, decisions
from brainscore_web.submissions.review.assignments import assigned_since, queued_submissions, reviewer_key
from brainscore_web.submissions.review.checklist import compute_checklist, material_of
from brainscore_web.submissions.review.comments import LINES_OF_ONE_FILE, MAX_COMMENT_LENGTH, comment_anchor, discussion
from brainscore_web.submissions.review.decisions import earlier_notes, review_case, reviews_of
from brainscore_web.submissions.source_code import file_diffs as changes_between
from brainscore_web.submissions.source_code import live_files, previous_revision, texts_of
from brainscore_web.submissions.status import count_pairs, progress_of, step_status
from brainscore_web.submissions.steps import shortened

_FINE = {"fine": True, "not": False, "none": None}
_NOTE = 2_000


class FilterForm(forms.Form):
    """Filters of the queue."""

    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=(
            ("review", "waits for review"),
            ("changes", "waits for changes"),
            ("queued", "being tested"),
            ("all", "all"),
        ),
    )
    kind = forms.ChoiceField(label="Plugins", required=False, choices=(("", "any"), *PluginKind.choices[1:]))
    who = forms.ChoiceField(
        label="Reviewer", required=False, choices=(("", "any"), ("mine", "me"), ("nobody", "not assigned"))
    )
    text = forms.CharField(label="Name", required=False, max_length=100)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)

    @property
    def asked(self) -> dict[str, str]:
        """The requested filters; invalid ones are ignored."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


class VerdictForm(forms.Form):
    """A decision with its explanation and a judgement of each aspect."""

    verdict = forms.ChoiceField(choices=Review.Verdict.choices)
    text = forms.CharField(
        label="Explanation",
        required=False,
        max_length=MAX_COMMENT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Sent to the submitter, with all open comments.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        for name, label in ASPECTS.items():
            self.fields[f"aspect-{name}"] = forms.ChoiceField(
                label=label,
                required=False,
                widget=forms.RadioSelect,
                choices=(("fine", "fine"), ("not", "not fine"), ("none", "does not apply")),
            )
            self.fields[f"note-{name}"] = forms.CharField(
                label=f"Note on {label[0].lower()}{label[1:]}", required=False, max_length=_NOTE
            )

    @property
    def rows(self) -> list[Any]:
        """The fields of each aspect."""
        return [(label, self[f"aspect-{name}"], self[f"note-{name}"]) for name, label in ASPECTS.items()]

    @property
    def aspects(self) -> dict[str, dict[str, Any]]:
        """The judged aspects."""
        data = self.cleaned_data
        return {
            name: {"fine": _FINE[data[f"aspect-{name}"]], "note": data[f"note-{name}"].strip()}
            for name in ASPECTS
            if data.get(f"aspect-{name}") in _FINE
        }


_PAGE_SIZE = 50
_LOG = 40_000


@reviewers_only
@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """Show the review queue."""
    form = FilterForm(request.GET or None)
    rows = queued_submissions(current_user(request), **(form.asked if form.is_bound else {}))
    page = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page", "1"))
    filters = request.GET.copy()
    filters.pop("page", None)
    context = {"form": form, "rows": page, "asked": filters.urlencode(), "now": timezone.now()}
    return render(request, "review/queue.html", context)


@reviewers_only
@require_safe
def newest(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Redirect to the newest revision."""
    latest = visible_submission(request, key).revisions.order_by("-number").values_list("number", flat=True).first()
    return redirect("review:show", key, latest or 1)


@reviewers_only
@require_safe
def show(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Show a revision with everything that a decision needs."""
    return review_page(request, reviewed_revision(request, key, number))


@reviewers_only
@require_safe
def file(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Show one file, with more of its lines."""
    revision = reviewed_revision(request, key, number)
    only = request.GET.get("path", "")
    shown: dict[str, Any] = {"back": request.get_full_path(), "only": only, "lines": LINES_OF_ONE_FILE}
    context = discussion(revision, current_user(request), **shown)
    if not context["files"]:
        raise Http404("this file does not exist")
    context |= {"submission": revision.submission, "file": context["files"][0]}
    return render(request, "review/file.html", context)


@reviewers_only
@require_safe
def changes(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Show the differences from the previous revision or the live version."""
    revision = reviewed_revision(request, key, number)
    earlier, live = previous_revision(revision), live_files(revision)
    to = request.GET.get("to", "")
    if to not in ("live", "previous"):
        to = "previous" if earlier is not None else "live"
    previous = None if earlier is None else texts_of(earlier)
    old = previous if to == "previous" else live or None
    context = {
        "revision": revision,
        "submission": revision.submission,
        "earlier": earlier,
        "live": bool(live),
        "to": to,
        "there": old is not None,
        "changes": [] if old is None else changes_between(old, texts_of(revision)),
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
    """Render the page of a revision, with a refused form if given."""
    reader, submission = current_user(request), revision.submission
    texts = texts_of(revision)
    material = material_of(revision, reader, texts)
    case = review_case(submission, revision, reader)
    items = compute_checklist(material)
    groups = {name: list(group) for name, group in itertools.groupby(items, key=lambda item: item.group)}
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
        "assessments": material.assessments,
        "steps": _steps(revision, current_user(request)),
        "private_left_out": material.result(str(Step.Kind.TEST)).get("skipped_private"),
        "case": case,
        "holder": _holder(material.steps.get(str(Step.Kind.REVIEW))),
        "form": form or VerdictForm(initial=earlier_notes(submission)),
        "may_judge": not case.own and not case.newer and submission.state == Submission.State.REVIEW,
        "may_reject": not case.own and not case.newer and submission.state in ("queued", "changes"),
        "reviews": reviews_of(submission),
        "problem": problem,
        "code_url": reverse("review:file", args=[submission.pk, revision.number]),
    }
    return render(request, "review/show.html", context, status=status)


def _steps(revision: Revision, reader: User) -> list[Step]:
    steps, submission = list(revision.steps.order_by("order")), revision.submission
    if submission.state == Submission.State.DONE:
        count_pairs(steps, progress_of([submission], reader)[submission.pk])
    for step in steps:
        step.status = step_status(step, submission)  # type: ignore[attr-defined] # only for the template
        step.log = shortened(step.log, _LOG)
    return steps


def _holder(step: Step | None) -> dict[str, Any]:
    key = reviewer_key(step.result) if step is not None else None
    person = User.objects.filter(pk=key).first() if key else None
    return {"person": person, "since": assigned_since(step.result) if step is not None and person is not None else None}


@reviewers_only
@require_POST
def claim(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take, take over, or release a review."""
    submission = visible_submission(request, key)
    revision = reviewed_revision(request, key, submission.latest.number)
    action = request.POST.get("what", "take")
    try:
        if action == "give up":
            assignments.release_review(submission, current_user(request))
        else:
            assignments.take_review(submission, current_user(request), over=action == "over")
    except UserError as error:
        is_own = decisions.is_own(submission, current_user(request))
        return review_page(request, revision, problem=error, status=403 if is_own else 409)
    done = "Another reviewer can take it now." if action == "give up" else "You are now reviewing it."
    messages.success(request, done)
    return redirect("review:show", key, revision.number)


@reviewers_only
@require_POST
def judge(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Record a decision."""
    revision = reviewed_revision(request, key, number)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        problem = UserError("the form is incomplete or invalid", "choose a decision, and correct the marked fields")
        if is_own := decisions.is_own(revision.submission, current_user(request)):
            problem = UserError("this is your own submission", "another reviewer must review it")
        return review_page(request, revision, form=form, problem=problem, status=403 if is_own else 400)
    verdict = form.cleaned_data["verdict"]
    try:
        judged: dict[str, Any] = {"aspects": form.aspects, "text": form.cleaned_data["text"]}
        decisions.record_verdict(revision, current_user(request), verdict, **judged)
    except UserError as error:
        fresh = reviewed_revision(request, key, number)
        late = not isinstance(error, decisions.VerdictRefused) or error.late
        status = 403 if decisions.is_own(fresh.submission, current_user(request)) else 409 if late else 400
        return review_page(request, fresh, form=form, problem=error, status=status)
    sent = "" if email_destination(settings.EMAIL_BACKEND) else " Its submitter gets an e-mail."
    messages.success(request, f"{revision.submission}: {Review.Verdict(verdict).label}.{sent}")
    return redirect("review:queue")


@members_only
@require_POST
def comment(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Comment on a line, a file or the whole revision; for reviewers and the submitter."""
    is_own = owns(current_user(request), visible_submission(request, key))
    revision = reviewed_revision(request, key, number, reviewed=not is_own)
    reviewer = reviews_submissions(current_user(request)) and not is_own
    page = reverse("review:show", args=[key, number]) if reviewer else reverse("submissions:show", args=[key])
    back = return_address(request, page)
    text, path = request.POST.get("text", ""), request.POST.get("path", "")
    try:
        line = _line(request.POST.get("line", ""))
        with transaction.atomic():
            rows = Submission.objects.select_for_update(of=("self",)).select_related("owner")
            revision.submission = rows.get(pk=revision.submission_id)
            new_comment = comments.add_comment(revision, current_user(request), text, path=path, line=line)
            notify_comment(new_comment)
    except UserError as error:
        context = {"problem": error, "back": back, "text": text[: comments.MAX_COMMENT_LENGTH]}
        return render(request, "review/refused.html", context, status=400)
    return redirect(f"{back.partition('#')[0]}#{comment_anchor(new_comment)}")


@members_only
@require_POST
def resolve(request: HttpRequest, key: uuid.UUID, comment: int) -> HttpResponse:
    """Resolve or reopen a thread."""
    submission = visible_submission(request, key)
    first = get_object_or_404(
        Comment.objects.select_related("revision__submission").defer("revision__archive"),
        pk=comment,
        revision__submission=submission,
    )
    is_own = owns(current_user(request), submission)
    if not is_own and not first.revision.needs_review:
        raise Http404("this revision needs no review")
    if not comments.may_resolve(first, current_user(request)):
        message = "only reviewers and the author of the first comment can resolve a thread"
        problem = UserError(message, remedy="reply to it instead")
        context = {"problem": problem, "back": return_address(request, reverse("submissions:show", args=[key]))}
        return render(request, "review/refused.html", context, status=403)
    comments.resolve(first, again=bool(request.POST.get("again")))
    page = reverse("review:show", args=[key, first.revision.number])
    back = return_address(request, page if not is_own else reverse("submissions:show", args=[key]))
    return redirect(f"{back.partition('#')[0]}#{comment_anchor(first)}")


def _line(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or len(text) > 9:
        raise UserError(f"{text[:20]!r} is not a line number", remedy="enter a number, starting at 1")
    return int(text)
