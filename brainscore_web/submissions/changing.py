"""What a submitter does: send, send again, withdraw, try again, stop, choose who may see the models."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.entrance import confirmed, me, own, revision_of
from brainscore_web.submissions.forms import RevisionForm, SubmissionForm
from brainscore_web.submissions.models import Step, Submission
from brainscore_web.submissions.receiving import Refused, longest, receive, takes_revisions, too_large
from brainscore_web.submissions.views import page_of, room

__all__ = ["cancel", "new", "retry", "revise", "visibility", "withdraw"]

View = TypeVar("View", bound=Callable[..., HttpResponse])


def _bounded(view: View) -> View:
    """Look at a form's length and sender before it is read; then at the token against forgery, which is in it."""
    protected = confirmed(csrf_protect(view))

    @csrf_exempt
    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if request.method == "POST" and (not length.isdecimal() or int(length) > longest()):
            # closing the connection is the server's: nothing was read, so nothing is known of the sender
            return render(request, "submissions/too_large.html", {"problem": too_large()}, status=413)
        return protected(request, *args, **kwargs)

    return cast(View, wrapped)


@_bounded
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Send plugins."""
    form = SubmissionForm(*_sent(request))
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        try:
            made = receive(me(request), form.source, visibility=asked["visibility"], note=asked["note"])
        except Refused as error:
            return _again(request, form, error, {})
        return redirect("submissions:show", made.submission_id)
    return _form(request, form, {}, status=400 if request.method == "POST" else 200)


@_bounded
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Send a new revision."""
    submission = own(request, key)
    form = RevisionForm(*_sent(request), initial=_as_before(submission))
    more = {"submission": submission, "takes": takes_revisions(submission)}
    if request.method == "POST" and form.is_valid():
        try:
            receive(me(request), form.source, note=form.cleaned_data["note"], submission=submission)
        except Refused as error:
            return _again(request, form, error, more)
        return redirect("submissions:show", submission.pk)
    return _form(request, form, more, status=400 if request.method == "POST" else 200)


@confirmed
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Ask, and withdraw."""
    submission = own(request, key)
    if request.method != "POST":
        return render(request, "submissions/withdraw.html", {"submission": submission})
    try:
        pipeline.withdraw(submission, me(request))
    except UserError as error:
        return _not_done(request, submission, error)
    messages.success(request, f"{submission} is withdrawn.")
    return redirect("submissions:home")


@confirmed
@require_POST
def retry(request: HttpRequest, key: uuid.UUID, step: str) -> HttpResponse:
    """Do an automatic step again."""
    submission = own(request, key)
    row = get_object_or_404(Step, revision=revision_of(submission), kind=step)
    try:
        pipeline.retry(row, me(request))
    except UserError as error:
        return _not_done(request, submission, error)
    return redirect("submissions:show", submission.pk)


@confirmed
@require_POST
def cancel(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Stop what is done automatically."""
    submission = own(request, key)
    try:
        pipeline.cancel(submission, me(request))
    except UserError as error:
        return _not_done(request, submission, error)
    return redirect("submissions:show", submission.pk)


@confirmed
@require_POST
def visibility(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Choose who will see the models; once they are published, the profile is the place for that."""
    submission = own(request, key)
    chosen = request.POST.get("visibility", "")
    if chosen not in Visibility.values:
        return HttpResponseBadRequest(f"visibility must be one of: {', '.join(Visibility.values)}")
    with transaction.atomic():
        row = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
        if takes_revisions(row):
            row.visibility = chosen
            row.save(update_fields=["visibility"])
            messages.success(request, f"Models of {submission} will be {chosen}.")
            return redirect("submissions:show", submission.pk)
    error = UserError("its models are published, or never will be", "switch those that are in your profile")
    return _not_done(request, row, error)


def _sent(request: HttpRequest) -> tuple[Any, Any]:
    return (request.POST, request.FILES) if request.method == "POST" else (None, None)


def _as_before(submission: Submission) -> dict[str, str]:
    """What the revision before said of the place that it came from."""
    last = revision_of(submission)
    return {} if last.origin == Submission.Origin.ZIP else {"address": last.address}


def _form(request: HttpRequest, form: RevisionForm, more: dict[str, Any], *, status: int) -> HttpResponse:
    return render(request, "submissions/new.html", {"form": form, **more, **room(request)}, status=status)


def _again(request: HttpRequest, form: RevisionForm, error: Refused, more: dict[str, Any]) -> HttpResponse:
    form.add_error(None, f"{error.message[:1].upper()}{error.message[1:]} → {error.remedy}.")
    return _form(request, form, more, status=error.status)


def _not_done(request: HttpRequest, submission: Submission, error: UserError) -> HttpResponse:
    submission.refresh_from_db()
    return page_of(request, submission, problem=error, status=409)
