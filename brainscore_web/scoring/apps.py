"""The app of scoring."""

from __future__ import annotations

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.scoring"
    label = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        """Let the sweep store samples of stimuli; plan, retry and cancel the pairs of submissions."""
        from brainscore_web.jobs.workers import register
        from brainscore_web.scoring import services  # noqa: F401 # connects the signals of submissions
        from brainscore_web.scoring.stimulus_samples import store_samples

        register(store_samples, every=30.0)
