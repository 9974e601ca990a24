"""The app of scoring."""

from __future__ import annotations

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.scoring"
    label = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        """Add jobs to the data export."""
        from brainscore_web.accounts.personal_data import SECTIONS
        from brainscore_web.scoring.models import Job
        from brainscore_web.scoring.personal_data import exported_jobs

        SECTIONS["pairs"] = (Job, exported_jobs)
