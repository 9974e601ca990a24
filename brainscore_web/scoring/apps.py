"""The app of scoring."""

from __future__ import annotations

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.scoring"
    label = "scoring"
    verbose_name = "Scoring"
