"""The app of submissions."""

from __future__ import annotations

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.submissions"
    label = "submissions"
    verbose_name = "Submissions"
