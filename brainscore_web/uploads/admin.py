"""The admin pages of uploads; read-only."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from brainscore_web.accounts.admin import ReadOnlyAdmin
from brainscore_web.uploads.models import Upload, UploadedFile


class _Files(ReadOnlyAdmin, admin.TabularInline):
    model = UploadedFile
    fields = readonly_fields = ("kind", "size", "sent_as", "sha1", "bucket", "key", "version_id")
    extra = 0


@admin.register(Upload)
class UploadAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """Uploads with their files; they are withdrawn on their own pages."""

    list_display = ("identifier", "owner", "visibility", "state", "created", "changed", "attempts")
    list_filter = ("state", "visibility")
    list_select_related = ("owner",)
    search_fields = ("identifier", "assembly_identifier", "owner__email", "files__sha1", "files__sha256")
    inlines = (_Files,)

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        from django.urls import reverse

        return None if obj is None else reverse("uploads:show", args=[obj.pk])
