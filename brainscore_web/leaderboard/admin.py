"""Models, benchmarks and scores in the administration. Scores come from receipts and are read-only."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from brainscore_core.metrics import ABOVE_CEILING
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Ingestion,
    LayerProfile,
    Score,
    StimulusSample,
    StoredAssessment,
    Visibility,
    VisionModel,
)
from brainscore_web.leaderboard.revision import exclusive_write


class _ExclusiveAdmin(admin.ModelAdmin):
    """Locks the revision before rows, as ingestion does; the reverse order could cause a deadlock."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show or save the form of a row."""
        with _exclusive_if_posted(request):
            return super().changeform_view(request, *args, **kwargs)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Delete a row."""
        with _exclusive_if_posted(request):
            return super().delete_view(request, *args, **kwargs)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """List rows, and run actions on several."""
        with _exclusive_if_posted(request):
            return super().changelist_view(request, *args, **kwargs)


def _exclusive_if_posted(request: HttpRequest) -> AbstractContextManager[None]:
    return exclusive_write() if request.method == "POST" else nullcontext()


class _ReadOnly(_ExclusiveAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse new rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse changes."""
        return False


@admin.register(VisionModel)
class VisionModelAdmin(_ExclusiveAdmin):
    """Models."""

    list_display = ("identifier", "owner", "visibility", "architecture", "family", "parameters", "runnable")
    list_filter = ("visibility", "family", "runnable")
    list_select_related = ("owner",)
    search_fields = ("identifier", "title", "family", "owner__email")
    autocomplete_fields = ("owner",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Protect what scores depend on."""
        return ("created",) if obj is None else ("created", "domain")

    actions = ("publish", "withdraw")

    @admin.action(description="Make public")
    def publish(self, request: HttpRequest, queryset: QuerySet[VisionModel]) -> None:
        """Make the models visible to everyone."""
        self._set(request, queryset, Visibility.PUBLIC)

    @admin.action(description="Make private")
    def withdraw(self, request: HttpRequest, queryset: QuerySet[VisionModel]) -> None:
        """Make the models visible to their owners only."""
        self._set(request, queryset, Visibility.PRIVATE)

    def delete_model(self, request: HttpRequest, obj: VisionModel) -> None:
        """Delete a model; a private one keeps a row with its name."""
        self.delete_queryset(request, VisionModel.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[VisionModel]) -> None:
        """Delete models; private ones keep a row with their names."""
        keys = list(queryset.values_list("pk", flat=True))
        private = VisionModel.objects.filter(pk__in=keys, visibility=Visibility.PRIVATE)
        VisionModel.objects.filter(pk__in=keys).exclude(visibility=Visibility.PRIVATE).delete()
        private.erase()
        if kept := private.update(owner=None):
            self.message_user(
                request,
                f"Private models that keep a row with only their name: {kept}. Otherwise, reading their receipts again "
                "would publish them.",
                messages.WARNING,
            )
        revision.bump()

    def _set(self, request: HttpRequest, queryset: QuerySet[VisionModel], visibility: str) -> None:
        changed = queryset.update(visibility=visibility)
        revision.bump()  # an update in bulk sends no signal
        self.message_user(request, f"{changed} changed to {visibility}.")


class _Versions(admin.TabularInline):
    model = BenchmarkVersion
    extra = 0
    fields = ("version", "since", "ceiling", "ceiling_error", "ceiling_meaning", "condition", "changes")


class _Samples(admin.TabularInline):
    model = StimulusSample
    extra = 0


@admin.register(Benchmark)
class BenchmarkAdmin(_ExclusiveAdmin):
    """Benchmarks and the means above them."""

    list_display = ("identifier", "parent", "version", "access", "region", "species", "owner", "is_mean", "control")
    list_filter = ("is_mean", "access", "control", "region", "species")
    list_select_related = ("parent", "owner")
    search_fields = ("identifier", "title", "owner__email")
    autocomplete_fields = ("parent", "owner")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Protect what scores depend on."""
        return ("created",) if obj is None else ("created", "domain")

    inlines = (_Versions, _Samples)


class _Findings(admin.SimpleListFilter):
    title = "finding"
    parameter_name = "finding"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the kinds of findings."""
        return [("above", ABOVE_CEILING)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Score]) -> QuerySet[Score]:
        """Select the scores with the chosen finding."""
        return queryset & Score.objects.above_ceiling() if self.value() == "above" else queryset


@admin.register(Score)
class ScoreAdmin(_ReadOnly):
    """Scores: what the receipts say."""

    list_display = ("receipt", "model", "benchmark", "version", "state", "value", "error", "created")
    list_filter = ("state", _Findings)
    list_select_related = ("model", "benchmark")
    search_fields = ("receipt", "model__identifier", "benchmark__identifier")
    show_full_result_count = False


@admin.register(StoredAssessment)
class StoredAssessmentAdmin(_ReadOnly):
    """Assessments of benchmarks."""

    list_display = ("identifier", "benchmark", "version", "part", "state", "outcome", "created")
    list_filter = ("part", "state", "outcome")
    list_select_related = ("benchmark",)
    search_fields = ("identifier", "benchmark__identifier", "vision_models__identifier")


@admin.register(LayerProfile)
class LayerProfileAdmin(_ReadOnly):
    """Profiles of layers."""

    list_display = ("model", "region", "benchmark", "created")
    list_select_related = ("model",)
    search_fields = ("model__identifier", "benchmark")


@admin.register(Ingestion)
class IngestionAdmin(_ReadOnly):
    """Ingestions of receipts."""

    list_display = ("source", "by", "started", "finished", "added", "known", "n_problems")
    list_select_related = ("by",)

    @admin.display(description="problems")
    def n_problems(self, obj: Ingestion) -> int:
        """Return the number of receipts that could not be read."""
        return len(obj.problems)
