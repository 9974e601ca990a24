"""Uploads of packaged data."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class UploadsConfig(AppConfig):
    """The app's name and label, and what happens when a person leaves."""

    name = "brainscore_web.uploads"
    label = "uploads"
    verbose_name = "Uploads"

    def ready(self) -> None:
        """Let people export their uploads, and take along what is theirs alone when they leave."""
        from django.contrib.auth import get_user_model

        from brainscore_web.accounts.own_data import SECTIONS
        from brainscore_web.uploads.models import Upload
        from brainscore_web.uploads.records import exported

        SECTIONS["uploads"] = (Upload, exported)
        pre_delete.connect(_leaves, sender=get_user_model(), dispatch_uid="uploads-leaving")


def _leaves(*, instance: Any, **_: Any) -> None:
    from brainscore_web.uploads.withdrawal import withdraw_what_is_private

    withdraw_what_is_private(instance)
