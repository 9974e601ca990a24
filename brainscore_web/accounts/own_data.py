"""Everything that the site holds on a person, for themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import LogEntry
from django.db.models import Model
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.accounts.sessions import session_keys
from brainscore_web.leaderboard.models import Benchmark, Ingestion, VisionModel

__all__ = ["SECTIONS", "everything_about", "rows_of"]


def rows_of(rows: Iterable[Model], *without: str) -> list[dict[str, Any]]:
    """Make rows of a table plain: all columns but keys of rows and people, and those named `without`."""
    hidden = {"id", "user_id", "owner_id", "by_id", *without}
    return [
        {one.attname: one.value_from_object(row) for one in row._meta.concrete_fields if one.attname not in hidden}
        for row in rows
    ]


def _profile(user: User) -> dict[str, Any]:
    (row,) = rows_of([user], "password")
    return {**row, "role": user.role, "groups": [group.name for group in user.groups.all()]}


SECTIONS: dict[str, tuple[type[Model], Callable[[User], Any]]] = {
    "profile": (User, _profile),
    "addresses": (EmailAddress, lambda user: rows_of(EmailAddress.objects.filter(user=user))),
    "tokens": (ApiToken, lambda user: rows_of(ApiToken.objects.filter(user=user), "digest")),
    "second_factors": (Authenticator, lambda user: rows_of(Authenticator.objects.filter(user=user), "data")),
    "models": (VisionModel, lambda user: rows_of(VisionModel.objects.filter(owner=user), "synced")),
    "benchmarks": (Benchmark, lambda user: rows_of(Benchmark.objects.filter(owner=user), "synced")),
    "ingestions": (Ingestion, lambda user: rows_of(Ingestion.objects.filter(by=user))),
    "administration": (LogEntry, lambda user: rows_of(LogEntry.objects.filter(user=user), "content_type_id")),
}
"""What is exported: name, the table it comes from, how. Apps whose tables name people add themselves when ready."""


def everything_about(user: User) -> dict[str, Any]:
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
