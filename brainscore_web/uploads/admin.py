"""The admin pages of uploads; read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from brainscore_web.uploads.models import Upload, UploadedFile


class _ReadOnlyAdmin:
    """Rows cannot be added, changed or deleted here, since rows and files belong together."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class _Files(_ReadOnlyAdmin, admin.TabularInline):
    model = UploadedFile
    fields = readonly_fields = ("kind", "size", "sent_as", "sha1", "bucket", "key", "version_id")
    extra = 0


@admin.register(Upload)
class UploadAdmin(_ReadOnlyAdmin, admin.ModelAdmin):
    """Uploads with their files; they are withdrawn on their own pages."""

    list_display = ("identifier", "owner", "visibility", "state", "created", "changed", "attempts")
    list_filter = ("state", "visibility")
    list_select_related = ("owner",)
    search_fields = ("identifier", "assembly_identifier", "owner__email", "files__sha1", "files__sha256")
    inlines = (_Files,)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        from django.urls import reverse

        return None if obj is None else reverse("uploads:show", args=[obj.pk])
