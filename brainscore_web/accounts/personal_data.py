"""Export of everything that the site stores about a user, and deletion of the account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Model
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Ingestion, Visibility, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write


def session_keys(user: User) -> Iterator[str]:
    """Yield the keys of a user's valid sessions. Their content is signed, so each session must be read."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(chunk_size=1000):
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            yield session.session_key


def exported_rows(rows: Iterable[Model], *without: str) -> list[dict[str, Any]]:
    """Convert rows to plain values: all columns except keys of rows and users, leases, and those in `without`."""
    hidden = {"id", "user_id", "owner_id", "by_id", "claim", "claimed", "worker", *without}
    return [
        {
            field.attname: field.value_from_object(row)
            for field in row._meta.concrete_fields
            if field.attname not in hidden
        }
        for row in rows
    ]


def _profile(user: User) -> dict[str, Any]:
    (row,) = exported_rows([user], "password")
    return {**row, "role": user.role, "groups": [group.name for group in user.groups.all()]}


SECTIONS: dict[str, tuple[type[Model], Callable[[User], Any]]] = {
    "profile": (User, _profile),
    "addresses": (EmailAddress, lambda user: exported_rows(EmailAddress.objects.filter(user=user))),
    "tokens": (ApiToken, lambda user: exported_rows(ApiToken.objects.filter(user=user), "digest")),
    "second_factors": (Authenticator, lambda user: exported_rows(Authenticator.objects.filter(user=user), "data")),
    "models": (VisionModel, lambda user: exported_rows(VisionModel.objects.filter(owner=user), "synced")),
    "benchmarks": (Benchmark, lambda user: exported_rows(Benchmark.objects.filter(owner=user), "synced")),
    "ingestions": (Ingestion, lambda user: exported_rows(Ingestion.objects.filter(by=user))),
    "administration": (LogEntry, lambda user: exported_rows(LogEntry.objects.filter(user=user), "content_type_id")),
}
"""Sections of the export: name → table and function. Apps whose tables refer to users add theirs in `ready`."""


def personal_data_of(user: User) -> dict[str, Any]:
    """Export everything that the site stores about a user."""
    sections = {name: section(user) for name, (_table, section) in SECTIONS.items()}
    return {"exported": timezone.now(), **sections, "sessions": sum(1 for _ in session_keys(user))}


class PrivateModels(models.TextChoices):
    """What happens to private models when the owner's account is deleted."""

    KEEP = "keep", "stay private, visible to administrators only"
    PUBLISH = "publish", "become public"
    ERASE = "erase", "are erased: scores, profiles, descriptions"


def delete_account(user: User, leftover: PrivateModels) -> None:
    """Delete a user with addresses, tokens, second factors and sessions.

    Models and benchmarks stay, without an owner. Private models become public only if the user chooses so. An erased
    model leaves a private row with nothing but its name, since later ingestion of its receipts would otherwise create
    it again as a public model.
    """
    with exclusive_write():  # the same order of locks as ingestion
        others = User.objects.select_for_update().filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not list(others):
            raise UserError("the site would have no administrator", remedy="make another user an administrator first")
        private = VisionModel.objects.filter(owner=user, visibility=Visibility.PRIVATE)
        if leftover is PrivateModels.PUBLISH:
            private.update(visibility=Visibility.PUBLIC)
        elif leftover is PrivateModels.ERASE:
            private.erase()
        Session.objects.filter(session_key__in=list(session_keys(user))).delete()
        user.delete()
        revision.bump()  # bulk updates send no signal
