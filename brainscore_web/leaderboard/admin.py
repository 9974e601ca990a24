"""Models, benchmarks and scores in the administration. Scores come from receipts and are never edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Ingestion,
    LayerProfile,
    Score,
    StimulusSample,
    Visibility,
    VisionModel,
)

__all__ = ["BenchmarkAdmin", "IngestionAdmin", "LayerProfileAdmin", "ScoreAdmin", "VisionModelAdmin"]


class _ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is made here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nothing is changed here."""
        return False


@admin.register(VisionModel)
class VisionModelAdmin(admin.ModelAdmin):
    """Models."""

    list_display = ("identifier", "owner", "visibility", "architecture", "family", "parameters", "runnable")
    list_filter = ("visibility", "family", "runnable")
    list_select_related = ("owner",)
    search_fields = ("identifier", "title", "family", "owner__email")
    autocomplete_fields = ("owner",)
    readonly_fields = ("created",)
    actions = ("publish", "withdraw")

    @admin.action(description="Make public")
    def publish(self, request: HttpRequest, queryset: QuerySet[VisionModel]) -> None:
        """Show them to everybody."""
        self._set(request, queryset, Visibility.PUBLIC)

    @admin.action(description="Make private")
    def withdraw(self, request: HttpRequest, queryset: QuerySet[VisionModel]) -> None:
        """Show them to their owners only."""
        self._set(request, queryset, Visibility.PRIVATE)

    def _set(self, request: HttpRequest, queryset: QuerySet[VisionModel], visibility: str) -> None:
        changed = queryset.update(visibility=visibility)
        revision.bump()  # an update in bulk sends no signal
        self.message_user(request, f"{changed} changed to {visibility}.")


class _Versions(admin.TabularInline):
    model = BenchmarkVersion
    extra = 0
    fields = ("version", "since", "ceiling", "ceiling_error", "ceiling_meaning", "changes")


class _Samples(admin.TabularInline):
    model = StimulusSample
    extra = 0


@admin.register(Benchmark)
class BenchmarkAdmin(admin.ModelAdmin):
    """Benchmarks and the means above them."""

    list_display = ("identifier", "parent", "version", "access", "region", "species", "owner", "is_mean", "control")
    list_filter = ("is_mean", "access", "control", "region", "species")
    list_select_related = ("parent", "owner")
    search_fields = ("identifier", "title", "owner__email")
    autocomplete_fields = ("parent", "owner")
    readonly_fields = ("created",)
    inlines = (_Versions, _Samples)


@admin.register(Score)
class ScoreAdmin(_ReadOnly):
    """Scores: what the receipts say."""

    list_display = ("receipt", "model", "benchmark", "version", "state", "value", "error", "created")
    list_filter = ("state",)
    list_select_related = ("model", "benchmark")
    search_fields = ("receipt", "model__identifier", "benchmark__identifier")
    show_full_result_count = False


@admin.register(LayerProfile)
class LayerProfileAdmin(_ReadOnly):
    """Profiles of layers."""

    list_display = ("model", "region", "benchmark", "created")
    list_select_related = ("model",)
    search_fields = ("model__identifier", "benchmark")


@admin.register(Ingestion)
class IngestionAdmin(_ReadOnly):
    """What was read from where."""

    list_display = ("source", "by", "started", "finished", "added", "known", "n_problems")
    list_select_related = ("by",)

    @admin.display(description="problems")
    def n_problems(self, obj: Ingestion) -> int:
        """How many receipts could not be read."""
        return len(obj.problems)
