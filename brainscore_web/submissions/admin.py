"""The admin pages of submissions: read-only, since submissions change only on their own pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from brainscore_web.accounts.admin import ReadOnlyAdmin
from brainscore_web.submissions.models import BenchmarkAssessment, Plugin, Revision, Step, Submission


class _Revisions(ReadOnlyAdmin, admin.TabularInline):
    model = Revision
    fields = readonly_fields = ("number", "by", "created", "origin", "address", "commit", "digest", "size")
    extra = 0
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return super().get_queryset(request).defer("archive")


class _Steps(ReadOnlyAdmin, admin.TabularInline):
    model = Step
    fields = readonly_fields = ("kind", "state", "attempts", "claim", "claimed", "due", "reason", "internal")
    extra = 0


class _Assessments(ReadOnlyAdmin, admin.TabularInline):
    model = BenchmarkAssessment
    fields = readonly_fields = ("benchmark", "part", "state", "attempts", "claimed", "due", "reason", "internal")
    extra = 0


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """Submissions with their revisions."""

    list_display = ("title", "owner", "visibility", "state", "created", "changed")
    list_filter = ("state", "visibility")
    list_select_related = ("owner",)
    search_fields = ("title", "owner__email", "revisions__digest")
    inlines = (_Revisions,)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        from django.urls import reverse

        return None if obj is None else reverse("submissions:show", args=[obj.pk])


@admin.register(Revision)
class RevisionAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """Revisions with their steps and assessments, including the internal reasons for administrators."""

    list_display = ("submission", "number", "created", "origin", "size")
    list_select_related = ("submission",)
    search_fields = ("submission__title", "digest", "address")
    readonly_fields = ("plugins", "findings", "digest", "size")
    inlines = (_Steps, _Assessments)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return super().get_queryset(request).defer("archive")


@admin.register(Plugin)
class PluginAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """Published plugins."""

    list_display = ("name", "kind", "owner", "published", "code")
    list_filter = ("kind",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__email")
