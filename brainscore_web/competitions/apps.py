"""Competitions, past and present."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CompetitionsConfig(AppConfig):
    """The app's name and label, and past competitions."""

    name = "brainscore_web.competitions"
    label = "competitions"
    verbose_name = "Competitions"

    def ready(self) -> None:
        """Create past competitions in new databases."""
        post_migrate.connect(_create_past_competitions, sender=self, dispatch_uid="competitions-past")


def _create_past_competitions(*, using: str, apps: Any = None, **_: Any) -> None:
    if apps is not None:
        try:
            apps.get_model("competitions", "Award")
        except LookupError:  # migrated back to before the app existed
            return
    from brainscore_web.competitions.past import create_past_competitions

    create_past_competitions(using=using)
