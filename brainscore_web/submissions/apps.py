"""The app of submissions."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class SubmissionsConfig(AppConfig):
    """The app's name and label, its section of the data export, and what happens when an account is deleted."""

    name = "brainscore_web.submissions"
    label = "submissions"
    verbose_name = "Submissions"

    def ready(self) -> None:
        """Connect submissions to data export, sweep, links to code, ended scoring jobs, and deleted accounts."""
        from django.contrib.auth import get_user_model

        from brainscore_web.accounts.personal_data import SECTIONS
        from brainscore_web.jobs import sweep
        from brainscore_web.leaderboard import code_links
        from brainscore_web.scoring.signals import jobs_ended
        from brainscore_web.submissions import models, personal_data, pipeline, plugin_folders, published, steps

        SECTIONS["submissions"] = (models.Submission, personal_data.submissions_of)
        SECTIONS["revisions"] = (models.Revision, personal_data.revisions_of)
        SECTIONS["comments"] = (models.Comment, personal_data.comments_of)
        SECTIONS["reviews"] = (models.Review, personal_data.reviews_of)
        SECTIONS["plugins"] = (models.Plugin, personal_data.plugins_of)
        for function in (
            steps.resume_steps,
            pipeline.resume_assessments,
            pipeline.close_scored,
            pipeline.withdraw_of_deleted_accounts,
        ):
            sweep.register(function)
        sweep.register(plugin_folders.delete_unused_folders, every=600.0)
        code_links.register(published.find_link)
        jobs_ended.connect(_scoring_ended, dispatch_uid="submissions-scored")
        pre_delete.connect(_account_deleted, sender=get_user_model(), dispatch_uid="submissions-leaving")


def _account_deleted(*, instance: Any, **_: Any) -> None:
    from brainscore_web.submissions.personal_data import delete_submissions_of

    delete_submissions_of(instance)


def _scoring_ended(*, submission_id: Any, **_: Any) -> None:
    from brainscore_web.submissions.pipeline import scoring_ended

    scoring_ended(submission_id)
