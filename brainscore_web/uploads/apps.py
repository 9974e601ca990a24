"""Uploads of packaged data."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class UploadsConfig(AppConfig):
    """The app's name and label, and what happens when an account is deleted."""

    name = "brainscore_web.uploads"
    label = "uploads"
    verbose_name = "Uploads"

    def ready(self) -> None:
        """Connect uploads to sweep and deleted accounts."""
        from django.contrib.auth import get_user_model

        from brainscore_web.jobs import workers
        from brainscore_web.uploads.checking import resume_checks

        workers.register(resume_checks)
        pre_delete.connect(_account_deleted, sender=get_user_model(), dispatch_uid="uploads-leaving")


def _account_deleted(*, instance: Any, **_: Any) -> None:
    from brainscore_web.uploads.files import withdraw_private_uploads

    withdraw_private_uploads(instance)
