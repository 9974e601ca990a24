"""Administration of snapshots: they can be read and deleted, not changed."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from brainscore_web.snapshots.models import FrozenView


@admin.register(FrozenView)
class FrozenViewAdmin(admin.ModelAdmin):
    """Snapshots; a deleted one, such as one with an offensive title, has no page any more."""

    list_display = ("title", "domain", "key", "by", "created")
    fields = ("title", "domain", "sha256", "n_models", "n_benchmarks", "by", "created")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: they are made on the site."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: FrozenView | None = None) -> bool:
        """Refuse changes."""
        return False
