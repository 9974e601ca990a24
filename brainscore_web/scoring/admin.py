"""The admin pages of jobs, with actions to retry and cancel them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from brainscore_core.errors import UserError
from brainscore_web.accounts.admin import ReadOnlyAdmin
from brainscore_web.scoring.models import Job, RemoteFailure, RemoteResult, RemoteWorker
from brainscore_web.scoring.services import cancel_job, retry_job


class _NotAdded(admin.ModelAdmin[Any]):
    """Rows that only the site adds."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Disallow adding."""
        return False


def _retry(request: HttpRequest, jobs: QuerySet[Job]) -> None:
    for job in jobs:
        try:
            retry_job(job, request.user)  # type: ignore[arg-type] # admin users are logged in
        except UserError as error:
            messages.warning(request, f"{error.line()}.")


@admin.register(Job)
class JobAdmin(_NotAdded):
    """Jobs; publication creates them, and workers change them."""

    list_display = ("__str__", "state", "why", "priority", "attempts", "created", "ended", "reason")
    list_filter = ("state", "why")
    search_fields = ("model__identifier", "benchmark__identifier", "reason")
    list_select_related = ("model", "benchmark")
    readonly_fields = (
        *("model", "benchmark", "asked_by", "why", "state", "created", "due", "claimed", "worker", "attempts"),
        *("started", "ended", "receipt", "reason", "log"),
    )
    exclude = ("submissions",)
    actions = ("retry", "cancel")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """Leave out logs in lists."""
        jobs: Any = super().get_queryset(request)
        return jobs if request.resolver_match and request.resolver_match.kwargs.get("object_id") else jobs.defer("log")

    @admin.action(description="Score the selected pairs again")
    def retry(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        """Retry the selected jobs."""
        _retry(request, jobs)

    @admin.action(description="Cancel the selected pairs")
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        """Cancel the selected jobs."""
        for job in jobs:
            cancel_job(job, request.user)  # type: ignore[arg-type] # admin users are logged in


@admin.register(RemoteWorker)
class RemoteWorkerAdmin(_NotAdded):
    """Remote workers, which appear at their first request; administrators trust and suspend them."""

    list_display = ("name", "owner", "trusted", "suspended", "version", "seen")
    list_filter = ("trusted", "suspended")
    search_fields = ("name", "owner__email")
    list_select_related = ("owner",)
    readonly_fields = ("name", "owner", "version", "created", "seen")
    actions = ("score_again",)

    @admin.action(description="Score all pairs of the selected workers again")
    def score_again(self, request: HttpRequest, workers: QuerySet[RemoteWorker]) -> None:
        """Plan the pairs of all results that are not verified."""
        states = (RemoteResult.State.TRUSTED, RemoteResult.State.VERIFIED)
        receipts = RemoteResult.objects.filter(worker__in=workers).exclude(state__in=states).values("receipt")
        _retry(request, Job.objects.filter(receipt__in=receipts))


@admin.register(RemoteResult)
class RemoteResultAdmin(_NotAdded):
    """Results of remote workers; only the site changes them."""

    list_display = ("receipt", "worker", "state", "repeated", "created")
    list_filter = ("state",)
    search_fields = ("receipt", "worker__name")
    list_select_related = ("worker",)

    def has_change_permission(self, request: HttpRequest, obj: RemoteResult | None = None) -> bool:
        """Disallow changes."""
        return False


@admin.register(RemoteFailure)
class RemoteFailureAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """Pairs that remote workers did not score."""

    list_display = ("job", "worker", "kind", "reason", "created", "until")
    list_filter = ("kind",)
    search_fields = ("worker__name",)
    list_select_related = ("worker", "job__model", "job__benchmark")
