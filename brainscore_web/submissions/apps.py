"""The app of submissions."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class SubmissionsConfig(AppConfig):
    """The app's name and label, and what happens when an account is deleted."""

    name = "brainscore_web.submissions"
    label = "submissions"
    verbose_name = "Submissions"

    def ready(self) -> None:
        """Connect submissions to sweep, links to code, and deleted accounts."""
        from django.contrib.auth import get_user_model

        from brainscore_web.jobs import workers
        from brainscore_web.leaderboard.cards import facts
        from brainscore_web.submissions import pipeline, plugin_folders, published, steps

        for function in (
            steps.resume_steps,
            pipeline.resume_assessments,
            pipeline.close_scored,
            pipeline.withdraw_of_deleted_accounts,
        ):
            workers.register(function)
        workers.register(plugin_folders.delete_unused_folders, every=600.0)
        facts.register(published.find_link)
        pre_delete.connect(_account_deleted, sender=get_user_model(), dispatch_uid="submissions-leaving")


def _account_deleted(*, instance: Any, **_: Any) -> None:
    from brainscore_web.submissions.pipeline import delete_submissions_of

    delete_submissions_of(instance)
