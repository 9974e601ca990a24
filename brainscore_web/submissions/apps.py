"""The app of submissions."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import pre_delete


class SubmissionsConfig(AppConfig):
    """The app's name and label, and what happens when a person leaves."""

    name = "brainscore_web.submissions"
    label = "submissions"
    verbose_name = "Submissions"

    def ready(self) -> None:
        """Let people export what they submitted and said, and take along what is theirs alone when they leave."""
        from django.contrib.auth import get_user_model

        from brainscore_web.accounts.own_data import SECTIONS
        from brainscore_web.submissions import models, records

        SECTIONS["submissions"] = (models.Submission, records.submissions_of)
        SECTIONS["revisions"] = (models.Revision, records.revisions_of)
        SECTIONS["comments"] = (models.Comment, records.comments_of)
        SECTIONS["reviews"] = (models.Review, records.reviews_of)
        SECTIONS["plugins"] = (models.Plugin, records.plugins_of)
        SECTIONS["letters"] = (models.Letter, records.letters_of)
        pre_delete.connect(_leaves, sender=get_user_model(), dispatch_uid="submissions-leaving")


def _leaves(*, instance: Any, **_: Any) -> None:
    from brainscore_web.submissions.leaving import take_along

    take_along(instance)
