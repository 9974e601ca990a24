"""The admin pages of jobs, with actions to retry and cancel them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from brainscore_core.errors import UserError
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import cancel_job, retry_job

__all__ = ["JobAdmin"]


@admin.register(Job)
class JobAdmin(admin.ModelAdmin[Job]):
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Disallow adding: publication creates jobs."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        """Leave out logs in lists."""
        jobs: Any = super().get_queryset(request)
        return jobs if request.resolver_match and request.resolver_match.kwargs.get("object_id") else jobs.defer("log")

    @admin.action(description="Score the selected pairs again")
    def retry(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        """Retry the selected jobs."""
        for job in jobs:
            try:
                retry_job(job, request.user)  # type: ignore[arg-type] # admin users are logged in
            except UserError as error:
                messages.warning(request, f"{error.message}: {error.remedy}.")

    @admin.action(description="Cancel the selected pairs")
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        """Cancel the selected jobs."""
        for job in jobs:
            cancel_job(job, request.user)  # type: ignore[arg-type] # admin users are logged in
