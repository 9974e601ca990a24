"""Retention: delete expired logs, tasks, e-mails, sessions, sign-ups, folders and files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from brainscore_core.plugins.environments import collect_garbage
from brainscore_web.accounts.models import Invitation, User
from brainscore_web.jobs.models import Email, Heartbeat
from brainscore_web.jobs.workers import delete_old_tasks
from brainscore_web.scoring.models import OPEN, Job
from brainscore_web.submissions.declared_files import delete_old_files
from brainscore_web.submissions.models import Plugin, Step, Submission
from brainscore_web.submissions.pipeline import remove_leftovers
from brainscore_web.submissions.plugin_folders import delete_old_folders
from brainscore_web.uploads.files import sweep

_HEARTBEATS_KEPT = timedelta(days=7)


class RemovedItems(NamedTuple):
    """Deleted items, or those that would be deleted."""

    what: str
    number: int


def tidy(*, dry: bool = False) -> list[RemovedItems]:
    """Delete data that are older than the settings allow."""
    return list(_remove_expired(dry))


def _remove_expired(dry: bool) -> Iterator[RemovedItems]:
    for items, delete in (
        ("logs of steps", _logs_of_steps),
        ("logs of pairs", _logs_of_jobs),
        ("tasks", delete_old_tasks),
        ("sent e-mails", _emails),
        ("expired sessions", _sessions),
        ("unconfirmed sign-ups", _unconfirmed),
        ("expired invitations", _invitations),
        ("heartbeats", _heartbeats),
    ):
        with transaction.atomic():
            count = delete()
            transaction.set_rollback(dry)  # a dry run does the same, and rolls it back
        yield RemovedItems(items, count)
    yield RemovedItems("folders of plugins", delete_old_folders(_before("folders"), dry=dry))
    yield RemovedItems("environments of plugins", remove_unused_environments(dry=dry))
    yield RemovedItems("fetched files", delete_old_files(_before("folders"), dry=dry))
    if not dry:
        yield RemovedItems("leftovers of uploads", sweep())
        yield RemovedItems("leftovers of tests", remove_leftovers())


def remove_unused_environments(*, dry: bool = False) -> int:
    """Remove environments of plugins on this machine that were not used for long, or take too much space.

    Environments in use stay. One that is needed later is made again.
    """
    unused = (timezone.now() - _before("folders")).total_seconds()
    return len(collect_garbage(older_than=unused, max_bytes=settings.OPERATIONS["environments"], dry_run=dry).removed)


def _before(what: str) -> datetime:
    return timezone.now() - timedelta(days=int(settings.OPERATIONS[what]))


def _logs_of_steps() -> int:
    """Delete old logs of steps, except those of live and open revisions; reasons stay."""
    live = Plugin.objects.values("revision")
    return (
        Step.objects.filter(ended__lt=_before("logs"), revision__submission__state__in=Submission.CLOSED)
        .exclude(revision__in=live)
        .exclude(log="")
        .update(log="")
    )


def _logs_of_jobs() -> int:
    return Job.objects.filter(ended__lt=_before("logs")).exclude(state__in=OPEN).exclude(log="").update(log="")


def _emails() -> int:
    return Email.objects.filter(sent__lt=_before("letters")).delete()[0]


def _sessions() -> int:
    from django.contrib.sessions.models import Session

    return Session.objects.filter(expire_date__lt=timezone.now()).delete()[0]


def _unconfirmed() -> int:
    before = User.objects.count()
    call_command("forget_unconfirmed", days=settings.OPERATIONS["unconfirmed"], stdout=StringIO())
    return before - User.objects.count()


def _invitations() -> int:
    return Invitation.objects.filter(created__lt=timezone.now() - Invitation.LIFETIME).delete()[0]


def _heartbeats() -> int:
    return Heartbeat.objects.filter(seen__lt=timezone.now() - _HEARTBEATS_KEPT).delete()[0]
