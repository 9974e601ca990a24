"""What reviewers and submitters do: take on, judge, comment, resolve."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from brainscore_core.errors import UserError
from brainscore_web.submissions.models import Comment, Review, Submission, reviews_submissions
from brainscore_web.submissions.review import claims, judging, threads
from brainscore_web.submissions.review.entrance import back_to, me, members, reviewers_only, revision_of, submission_of
from brainscore_web.submissions.review.forms import VerdictForm
from brainscore_web.submissions.review.shown import about
from brainscore_web.submissions.review.telling import tell_comment
from brainscore_web.submissions.review.views import review_page

__all__ = ["claim", "comment", "judge", "resolve"]


@reviewers_only
@require_POST
def claim(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take a review on, take it over, or give it up."""
    submission = submission_of(request, key)
    revision = revision_of(request, key, submission.latest.number)
    what = request.POST.get("what", "take")
    try:
        if what == "give up":
            claims.give_up(submission, me(request))
        else:
            claims.take(submission, me(request), over=what == "over")
    except UserError as error:
        own = judging.is_own(submission, me(request))
        return review_page(request, revision, problem=error, status=403 if own else 409)
    messages.success(request, "Somebody else can review it now." if what == "give up" else "You review it now.")
    return redirect("review:show", key, revision.number)


@reviewers_only
@require_POST
def judge(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Give a verdict."""
    revision = revision_of(request, key, number)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        problem = UserError("no verdict was given", remedy="choose one; what is wrong is said beside the fields")
        own = judging.is_own(revision.submission, me(request))
        if own:
            problem = UserError("this is your own submission", remedy="another reviewer has to look at it")
        return review_page(request, revision, form=form, problem=problem, status=403 if own else 400)
    verdict = form.cleaned_data["verdict"]
    try:
        judging.judge(revision, me(request), verdict, aspects=form.aspects, text=form.cleaned_data["text"])
    except UserError as error:
        fresh = revision_of(request, key, number)
        late = not isinstance(error, judging.Refused) or error.late
        status = 403 if judging.is_own(fresh.submission, me(request)) else 409 if late else 400
        return review_page(request, fresh, form=form, problem=error, status=status)
    messages.success(request, f"{revision.submission}: {Review.Verdict(verdict).label}. Its submitter is told.")
    return redirect("review:queue")


@members
@require_POST
def comment(request: HttpRequest, key: uuid.UUID, number: int) -> HttpResponse:
    """Say something about a line, a file or all of it; for reviewers and who submitted it."""
    own = submission_of(request, key).owner_id == me(request).pk
    revision = revision_of(request, key, number, reviewed=not own)
    reviewer = reviews_submissions(me(request)) and not own
    page = reverse("review:show", args=[key, number]) if reviewer else reverse("submissions:show", args=[key])
    back = back_to(request, page)
    try:
        line = _line(request.POST.get("line", ""))
        with transaction.atomic():
            revision.submission = (
                Submission.objects.select_for_update(of=("self",))
                .select_related("owner")
                .get(pk=revision.submission_id)
            )
            path = request.POST.get("path", "")
            said = threads.say(revision, me(request), request.POST.get("text", ""), path=path, line=line)
            tell_comment(said)
    except UserError as error:
        context = {"problem": error, "back": back, "text": request.POST.get("text", "")[: threads.LONGEST]}
        return render(request, "review/refused.html", context, status=400)
    return redirect(f"{back.partition('#')[0]}#{about(said)}")


@members
@require_POST
def resolve(request: HttpRequest, key: uuid.UUID, comment: int) -> HttpResponse:
    """Resolve a thread, or open it again."""
    submission = submission_of(request, key)
    found = get_object_or_404(
        Comment.objects.select_related("revision__submission").defer("revision__archive"),
        pk=comment,
        revision__submission=submission,
    )
    own = submission.owner_id == me(request).pk
    if not own and not found.revision.needs_review:
        raise Http404("nobody reviews it")
    if not threads.may_resolve(found, me(request)):
        problem = UserError("only reviewers, and who began them, resolve comments", remedy="answer it instead")
        context = {"problem": problem, "back": back_to(request, reverse("submissions:show", args=[key]))}
        return render(request, "review/refused.html", context, status=403)
    threads.resolve(found, again=bool(request.POST.get("again")))
    page = reverse("review:show", args=[key, found.revision.number])
    back = back_to(request, page if not own else reverse("submissions:show", args=[key]))
    return redirect(f"{back.partition('#')[0]}#{about(found)}")


def _line(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or len(text) > 9:
        raise UserError(f"{text[:20]!r} is no line", remedy="enter its number, from 1")
    return int(text)
