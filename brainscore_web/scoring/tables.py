"""Tables of jobs as pages show them: those that a visitor may see, some at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.core.paginator import Page, Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from brainscore_web.leaderboard.models import Visibility, Visitor
from brainscore_web.scoring.claims import worker_label
from brainscore_web.scoring.models import OPEN, Job
from brainscore_web.scoring.services import progress
from brainscore_web.submissions.models import Submission

__all__ = ["Row", "jobs_of", "overview", "rows_of", "shows_log"]

_AT_ONCE = 25
_RECENT = 25
_LIGHT = ("log",)  # may be long


@dataclass(frozen=True)
class Row:
    """A job in a table.

    Attributes
    ----------
    job : Job
        Without its log.
    may_retry, may_cancel : bool
        What the visitor may do with it.
    reason : str
        Why there is no score, as the visitor may read it.
    worker : str
        Who runs it, for administrators.
    """

    job: Job
    may_retry: bool
    may_cancel: bool
    reason: str
    worker: str


def shows_log(job: Job, visitor: Visitor) -> bool:
    """Whether a visitor may read what scoring a pair printed.

    Administrators, and who has the model or sent it. What is printed about stimuli that are withheld may show them:
    that is for administrators and the benchmark's owner.
    """
    if not visitor.is_authenticated or not job.benchmark.shows_data_to(visitor) or not _sees_model(job, visitor):
        return False
    if visitor.is_staff or job.benchmark.access == Visibility.PRIVATE:
        return True
    return job.model.owner_id == visitor.pk or job.submissions.filter(owner=visitor).exists()


def rows_of(jobs: QuerySet[Job] | Page[Job], visitor: Visitor) -> list[Row]:
    """Make rows of jobs that the visitor may see."""
    found = list(jobs)
    own: set[int] = set()
    if visitor.is_authenticated:
        links = Job.submissions.through.objects.filter(job__in=[job.pk for job in found], submission__owner=visitor)
        own = set(links.values_list("job", flat=True))
    rows = []
    for job in found:
        mine = visitor.is_authenticated and (visitor.is_staff or job.pk in own or job.model.owner_id == visitor.pk)
        is_open = job.state in OPEN
        rows.append(
            Row(
                job,
                may_retry=bool(mine and not is_open),
                may_cancel=bool(mine and is_open),
                reason=job.reason_to(visitor),
                worker=worker_label(job.worker) if visitor.is_staff else "",
            )
        )
    return rows


def jobs_of(request: HttpRequest, submission: Submission) -> dict[str, Any]:
    """What ``scoring/_jobs.html`` shows of a submission.

    Parameters
    ----------
    request : HttpRequest
        Whose; ``?pairs=failed`` shows those of one state, ``?pairs_page=2`` more of them.
    submission : Submission
        Whose pairs.
    """
    visitor: Visitor = request.user
    counted = progress(submission, visitor)
    jobs = Job.objects.filter(submissions=submission).visible_to(visitor).select_related("model", "benchmark")
    states = [(name, number) for name in Job.State.values if (number := counted.of(name))]
    state = request.GET.get("pairs", "")
    if state in Job.State.values:
        jobs = jobs.filter(state=state)
    else:
        state = ""
    ordered = jobs.defer(*_LIGHT).order_by("model__identifier", "benchmark__identifier", "-pk")
    page = Paginator(ordered, _AT_ONCE).get_page(request.GET.get("pairs_page", "1"))
    address = reverse("scoring:submission", args=[submission.pk])
    here = f"{address}?{urlencode({'pairs': state, 'pairs_page': page.number})}"
    return {
        "submission": submission,
        "progress": counted,
        "state": state,
        "states": states,
        "page": page,
        "rows": rows_of(page, visitor),
        "here": here,
        "address": address,
        "back": _page_of(request),
        "may_cancel_all": counted.open
        and visitor.is_authenticated
        and (visitor.is_staff or submission.owner_id == visitor.pk),
    }


def overview(visitor: Visitor) -> dict[str, Any]:
    """What is queued, running, and ended lately, of what the visitor may see."""
    jobs = Job.objects.visible_to(visitor)
    light = jobs.select_related("model", "benchmark").defer(*_LIGHT)
    counts = dict(jobs.order_by().values_list("state").annotate(Count("pk")))
    running = light.filter(state=Job.State.RUNNING).order_by("started", "pk")[:_RECENT]
    waiting = light.filter(state=Job.State.WAITING).order_by("-priority", "created", "pk")[:_RECENT]
    ended = light.exclude(state__in=OPEN).order_by("-ended", "-pk")[:_RECENT]
    found = {
        "counts": {"running": counts.get("running", 0), "waiting": counts.get("waiting", 0)},
        "running": rows_of(running, visitor),
        "waiting": rows_of(waiting, visitor),
        "ended": rows_of(ended, visitor),
    }
    if visitor.is_staff:
        found["workers"] = _workers()
    return found


def _workers() -> list[dict[str, Any]]:
    """Who runs something, and when they last said so."""
    rows = Job.objects.filter(state=Job.State.RUNNING).order_by("worker", "pk")
    found: dict[str, dict[str, Any]] = {}
    for job in rows.select_related("model", "benchmark").defer(*_LIGHT)[:200]:
        one = found.setdefault(job.worker, {"name": worker_label(job.worker), "seen": job.claimed, "jobs": 0})
        one["jobs"] += 1
        one["seen"] = max(filter(None, (one["seen"], job.claimed)), default=None)
    return list(found.values())


def _page_of(request: HttpRequest) -> str:
    """The page that the visitor looks at, where this is a part of it."""
    if not request.headers.get("HX-Request"):
        return request.get_full_path()
    shown = urlsplit(request.headers.get("HX-Current-URL", ""))
    return f"{shown.path}?{shown.query}" if shown.query else shown.path


def _sees_model(job: Job, visitor: Visitor) -> bool:
    return Job.objects.filter(pk=job.pk).visible_to(visitor).exists()
