"""Users, and the API tokens of their programs."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    """The app's name and label, and what it needs in the database."""

    name = "brainscore_web.accounts"
    label = "accounts"
    verbose_name = "People"

    def ready(self) -> None:
        """Create the group of reviewers after migrations."""
        post_migrate.connect(_make_reviewers, sender=self, dispatch_uid="accounts-reviewers")


def _make_reviewers(*, using: str, **_: Any) -> None:
    from django.contrib.auth.models import Group, Permission

    from brainscore_web.accounts.models import REVIEWERS

    permission = Permission.objects.using(using).filter(
        content_type__app_label="accounts", codename="review_submissions"
    )
    group, _made = Group.objects.using(using).get_or_create(name=REVIEWERS)
    group.permissions.add(*permission)
