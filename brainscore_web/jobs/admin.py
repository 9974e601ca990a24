"""The admin page of e-mails; read-only."""

from django.contrib import admin

from brainscore_web.accounts.admin import ReadOnlyAdmin
from brainscore_web.jobs.models import Email


@admin.register(Email)
class EmailAdmin(ReadOnlyAdmin, admin.ModelAdmin):
    """E-mails, sent and waiting."""

    list_display = ("subject", "to", "created", "sent", "due", "attempts", "problem")
    list_filter = ("sent",)
    list_select_related = ("to",)
