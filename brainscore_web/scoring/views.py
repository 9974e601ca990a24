"""Pages of scoring: queue and recent results, their tables, single pairs, and actions to retry and cancel them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from django import template
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import current_user, return_address
from brainscore_web.accounts.models import owned_by, owns
from brainscore_web.jobs.leases import process_label
from brainscore_web.leaderboard.cards.formatting import STATES, estimate
from brainscore_web.leaderboard.exposure import verification_code, verification_mark
from brainscore_web.leaderboard.models import Score, Visibility, Visitor
from brainscore_web.scoring.models import OPEN, Job, RemoteResult
from brainscore_web.scoring.services import cancel_all, cancel_job, may_change, retry_job
from brainscore_web.submissions.models import Submission
from brainscore_web.submissions.status import progress


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
        messages.error(request, f"{error.line()}.")
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
    if not owns(user, submission) and not user.is_staff:
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


register = template.Library()

_PAGE_SIZE = 25
_RECENT = 25
_DEFERRED = ("log",)  # may be long


@dataclass(frozen=True)
class Row:
    """A job in a table."""

    job: Job  # the job, without its log
    # may_retry, may_cancel: whether the visitor may retry or cancel it
    may_retry: bool
    may_cancel: bool
    reason: str  # why there is no score, as far as the visitor may read it
    worker: str  # the worker that runs it; shown to operators only
    internal: str = ""  # why the site could not run it, and what to do; shown to operators only
    score: str = ""  # the score with its interval, or why it is undetermined; empty without one
    receipt: str = ""  # the receipt, if the visitor may read it
    # the mark of a score that a remote worker computed and the site has not repeated
    doubt: SafeString = field(default_factory=SafeString)


def is_operator(visitor: Visitor) -> bool:
    """Whether a visitor operates the site, and can do something about pairs that it cannot run."""
    return bool(visitor.is_active and visitor.is_staff and visitor.has_perm("scoring.change_job"))


def shows_log(job: Job, visitor: Visitor) -> bool:
    """Whether a visitor may read the log of a job.

    Administrators and owners of the model or of a submission may. If the site could not run the pair, the log concerns
    its operators only. Output on private stimuli may reveal them, so it is
    only for administrators and the benchmark's owner.
    """
    sees_model = Job.objects.filter(pk=job.pk).visible_to(visitor).exists()
    if job.state == Job.State.NOT_RUN and not is_operator(visitor):
        return False
    if not visitor.is_authenticated or not job.benchmark.shows_data_to(visitor) or not sees_model:
        return False
    if visitor.is_staff or job.benchmark.access == Visibility.PRIVATE:
        return True
    return owns(visitor, job.model) or job.submissions.filter(owned_by(visitor)).exists()


def rows_of(jobs: QuerySet[Job] | Page[Job], visitor: Visitor) -> list[Row]:
    """Make table rows of jobs; the caller selects jobs that the visitor may see."""
    listed = list(jobs)
    owned: set[int] = set()
    if visitor.is_authenticated:
        links = Job.submissions.through.objects.filter(job__in=[job.pk for job in listed])
        owned = set(links.filter(owned_by(visitor, "submission__")).values_list("job", flat=True))
    receipts = [job.receipt for job in listed if job.receipt]
    visible = Score.objects.visible_to(visitor).filter(receipt__in=receipts).defer("document")
    scores = {score.receipt: score for score in visible}
    results = RemoteResult.objects.filter(receipt__in=scores).values_list("receipt", "state")
    codes = {receipt: verification_code(state) for receipt, state in results}
    rows = []
    for job in listed:
        score = scores.get(job.receipt)
        mine = visitor.is_authenticated and (visitor.is_staff or job.pk in owned or owns(visitor, job.model))
        is_open = job.state in OPEN
        rows.append(
            Row(
                job,
                may_retry=bool(mine and not is_open),
                may_cancel=bool(mine and is_open),
                reason=job.reason_to(visitor),
                worker=process_label(job.worker) if visitor.is_staff else "",
                internal=job.internal if is_operator(visitor) else "",
                score=_score_text(score),
                receipt="" if score is None else score.receipt,
                doubt=verification_mark(codes.get(job.receipt, 0)),
            )
        )
    return rows


def _score_text(score: Score | None) -> str:
    if score is None or score.state != Score.State.SCORED:
        return ""
    if score.undetermined:
        return f"{STATES['undetermined'].word}: {score.undetermined}"
    return estimate(score.value, score.error, score.low, score.high, level=score.level, reason=score.error_reason)


def jobs_of(request: HttpRequest, submission: Submission) -> dict[str, Any]:
    """Return the context of ``scoring/_jobs.html`` for a submission."""
    visitor: Visitor = request.user
    counts = progress(submission, visitor)
    jobs = Job.objects.filter(submissions=submission).visible_to(visitor).select_related("model", "benchmark")
    states = [(name, number) for name in Job.State.values if (number := counts.of(name))]
    state = request.GET.get("pairs", "")
    state = state if state in Job.State.values else ""
    jobs = jobs.filter(state=state) if state else jobs
    ordered = jobs.defer(*_DEFERRED).order_by("model__identifier", "benchmark__identifier", "-pk")
    page = Paginator(ordered, _PAGE_SIZE).get_page(request.GET.get("pairs_page", "1"))
    address = reverse("scoring:submission", args=[submission.pk])
    here = f"{address}?{urlencode({'pairs': state, 'pairs_page': page.number})}"
    return {
        "submission": submission,
        "progress": counts,
        "state": state,
        "states": states,
        "page": page,
        "rows": rows_of(page, visitor),
        "here": here,
        "address": address,
        "back": _page_of(request),
        "may_cancel_all": counts.open and visitor.is_authenticated and (visitor.is_staff or owns(visitor, submission)),
    }


def overview(visitor: Visitor) -> dict[str, Any]:
    """Return the running, waiting and recently ended jobs that the visitor may see."""
    jobs = Job.objects.visible_to(visitor)
    rows = jobs.select_related("model", "benchmark").defer(*_DEFERRED)
    counts = dict(jobs.order_by().values_list("state").annotate(Count("pk")))
    shown = {
        "running": rows.filter(state=Job.State.RUNNING).order_by("started", "pk"),
        "waiting": rows.filter(state=Job.State.WAITING).order_by("-priority", "created", "pk"),
        "ended": rows.exclude(state__in=OPEN).order_by("-ended", "-pk"),
    }
    return {
        "counts": {name: counts.get(name, 0) for name in ("running", "waiting")},
        **{name: rows_of(jobs[:_RECENT], visitor) for name, jobs in shown.items()},
        **({"workers": _workers()} if visitor.is_staff else {}),
    }


def _workers() -> list[dict[str, Any]]:
    """Return the active workers with their latest renewal of a claim."""
    rows = Job.objects.filter(state=Job.State.RUNNING).order_by("worker", "pk")
    workers: dict[str, dict[str, Any]] = {}
    for job in rows.select_related("model", "benchmark").defer(*_DEFERRED)[:200]:
        worker = workers.setdefault(job.worker, {"name": process_label(job.worker), "seen": job.claimed, "jobs": 0})
        worker["jobs"] += 1
        worker["seen"] = max(filter(None, (worker["seen"], job.claimed)), default=None)
    return list(workers.values())


def _page_of(request: HttpRequest) -> str:
    """Return the address of the page that contains this part."""
    if not request.headers.get("HX-Request"):
        return request.get_full_path()
    shown = urlsplit(request.headers.get("HX-Current-URL", ""))
    return f"{shown.path}?{shown.query}" if shown.query else shown.path


@register.inclusion_tag("scoring/_jobs.html", takes_context=True, name="jobs_of")
def jobs_tag(context: dict[str, Any], submission: Submission) -> dict[str, Any]:
    """Show a submission's pairs, filtered by state; the table is updated while pairs are open."""
    request = context["request"]
    return {**jobs_of(request, submission), "request": request, "csrf_token": context.get("csrf_token", "")}


@register.simple_tag
def remote_result_of(receipt: str) -> RemoteResult | None:
    """Return who uploaded a receipt; None if the site itself computed it."""
    return RemoteResult.objects.select_related("worker").filter(receipt=receipt).first()
