"""The app of scoring."""

from __future__ import annotations

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.scoring"
    label = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        """Add jobs and remote workers to the data export, and samples of stimuli to the sweep."""
        from brainscore_web.accounts.personal_data import SECTIONS
        from brainscore_web.jobs.sweep import register
        from brainscore_web.scoring.models import Job, RemoteWorker
        from brainscore_web.scoring.personal_data import exported_jobs, exported_workers
        from brainscore_web.scoring.stimulus_samples import store_samples

        SECTIONS["pairs"] = (Job, exported_jobs)
        SECTIONS["remote_workers"] = (RemoteWorker, exported_workers)
        register(store_samples, every=30.0)
