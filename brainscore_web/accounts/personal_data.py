"""Export of everything that the site stores about a person, and deletion of the account."""

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
from brainscore_web.leaderboard.revision import erase, writing_alone

__all__ = ["SECTIONS", "PrivateModels", "delete_account", "exported_rows", "personal_data_of", "session_keys"]


def session_keys(user: User) -> Iterator[str]:
    """Keys of a person's sessions that have not ended. What sessions hold is signed, so each has to be read."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator(chunk_size=1000):
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            yield session.session_key


def exported_rows(rows: Iterable[Model], *without: str) -> list[dict[str, Any]]:
    """Make rows of a table plain: all columns but keys of rows and people, and those named `without`."""
    hidden = {"id", "user_id", "owner_id", "by_id", *without}
    return [
        {one.attname: one.value_from_object(row) for one in row._meta.concrete_fields if one.attname not in hidden}
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
"""What is exported: name, the table it comes from, how. Apps whose tables name people add themselves when ready."""


def personal_data_of(user: User) -> dict[str, Any]:
    """Gather it.

    Parameters
    ----------
    user : User
        Whom.

    Returns
    -------
    dict
        By section; dates are dates. Secrets (password, tokens, second factors) are left out, as the site itself keeps
        nothing of them but what checks them.
    """
    made = {name: section(user) for name, (_table, section) in SECTIONS.items()}
    return {"exported": timezone.now(), **made, "sessions": sum(1 for _ in session_keys(user))}


class PrivateModels(models.TextChoices):
    """What becomes of private models whose owner leaves."""

    KEEP = "keep", "stay private: only administrators see them"
    PUBLISH = "publish", "become public"
    ERASE = "erase", "are erased: scores, profiles, descriptions"


def delete_account(user: User, leftover: PrivateModels) -> None:
    """Delete a person with addresses, tokens, second factors and sessions.

    Models and benchmarks stay, without owner. Private models never become public by this, unless asked for: of one
    that is erased a private row with nothing but its name stays, since receipts that are read again would otherwise
    make it anew, as a public one.

    Parameters
    ----------
    user : User
        Who leaves.
    leftover : Leftover
        What becomes of private models.

    Raises
    ------
    UserError
        If the site would have no administrator left.
    """
    with writing_alone():  # locks in the order of who ingests
        others = User.objects.select_for_update().filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not list(others):
            raise UserError("the site would have no administrator", remedy="make somebody else an administrator first")
        private = VisionModel.objects.filter(owner=user, visibility=Visibility.PRIVATE)
        if leftover is PrivateModels.PUBLISH:
            private.update(visibility=Visibility.PUBLIC)
        elif leftover is PrivateModels.ERASE:
            erase(private)
        Session.objects.filter(session_key__in=list(session_keys(user))).delete()
        user.delete()
        revision.bump()  # updates in bulk send no signal
