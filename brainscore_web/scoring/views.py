"""Pages of scoring: queue and recent results, single pairs, and actions to retry and cancel them."""

from __future__ import annotations

import uuid
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import current_user, return_address
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import cancel_all, cancel_job, may_change, retry_job
from brainscore_web.scoring.tables import jobs_of, overview, rows_of, shows_log
from brainscore_web.submissions.models import Submission
from brainscore_web.submissions.pairs import progress


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show running, waiting and recently ended pairs."""
    return render(request, "scoring/home.html", overview(request.user))


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Return the part of the page that is updated regularly."""
    return render(request, "scoring/_live.html", overview(request.user))


@never_cache
@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a pair with its state, reason and, if the visitor may read it, its log."""
    found = _visible(request, pk)
    (row,) = rows_of(Job.objects.filter(pk=found.pk).select_related("model", "benchmark"), request.user)
    log = found.log if shows_log(found, request.user) else ""
    return render(request, "scoring/job.html", {"row": row, "job": found, "log": log})


@never_cache
@login_required
@require_safe
def of_submission(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Return the pairs of a submission, a part of its page."""
    return render(request, "scoring/_jobs.html", jobs_of(request, _submission(request, key)))


@login_required
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Score a pair again."""
    job = _changeable(request, pk)
    try:
        retry_job(job, current_user(request))
        messages.success(request, f"{job} will be scored again.")
    except UserError as error:
        messages.error(request, f"{error.message}: {error.remedy}.")
    return _redirect_back(request, job)


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a pair."""
    job = _changeable(request, pk)
    cancel_job(job, current_user(request))
    messages.success(request, f"{job} is cancelled.")
    return _redirect_back(request, job)


@login_required
@require_POST
def cancel_of(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Cancel all pairs of a submission."""
    submission = _submission(request, key)
    user = current_user(request)
    if submission.owner_id != user.pk and not user.is_staff:
        raise Http404("the visitor may not change these pairs")
    count = progress(submission, user).open
    cancel_all(submission, user)
    messages.success(request, f"{count} pairs are cancelled.")
    return _redirect_back(request, None)


def _visible(request: HttpRequest, pk: int) -> Job:
    return get_object_or_404(Job.objects.visible_to(request.user).select_related("model", "benchmark"), pk=pk)


def _changeable(request: HttpRequest, pk: int) -> Job:
    job = _visible(request, pk)
    if not may_change(job, request.user):
        raise Http404("the visitor may not change this pair")
    return job


def _submission(request: HttpRequest, key: uuid.UUID) -> Submission:
    return get_object_or_404(Submission.objects.visible_to(request.user), pk=key)


def _redirect_back(request: HttpRequest, job: Job | None) -> HttpResponse:
    """Redirect to the page of this site that a form was sent from."""
    if address := return_address(request, ""):
        return redirect(urlsplit(address)._replace(fragment="pairs").geturl())
    return redirect("scoring:home") if job is None else redirect("scoring:job", job.pk)
