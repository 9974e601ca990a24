"""Export of everything that the site stores about a user, and deletion of the account."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import models
from django.db.models import Model, Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import ApiToken, Invitation, Membership, User
from brainscore_web.competitions.models import Announcement, Entry, Snapshot
from brainscore_web.competitions.models import Membership as TeamMembership
from brainscore_web.follows.models import Follow, Notifications
from brainscore_web.jobs.leases import Turn
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Ingestion, Visibility, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write
from brainscore_web.pages.models import News, Page
from brainscore_web.profile.labs import pass_on
from brainscore_web.questions.models import AskedQuestion
from brainscore_web.scoring.models import Job, RemoteWorker
from brainscore_web.snapshots.models import FrozenView
from brainscore_web.submissions.models import Comment, Plugin, Review, Revision, Submission, UnexaminedFiles
from brainscore_web.uploads.models import Upload

_OF_ENTRIES = ("team", "title", "identifier", "entered", "declared", "findings", "withdrawn", "withdrawn_because")
_OF_FILES = ("kind", "size", "sent_as", "sha1", "sha256", "bucket", "key", "version_id")


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


def exported_jobs(user: User) -> list[dict[str, Any]]:
    """Export jobs of a user's models, of their submissions as far as visible to them, and those that they requested."""
    of_user = Q(model__owner=user) | Q(submissions__owner=user) | Q(asked_by=user)
    rows = Job.objects.visible_to(user).filter(of_user).distinct().order_by("pk")
    return [
        {
            "model": row.model.identifier,
            "benchmark": row.benchmark.identifier,
            "why": row.why,
            "state": row.state,
            "reason": row.reason_to(user),
            "created": row.created,
            "started": row.started,
            "ended": row.ended,
            "receipt": row.receipt or None,
            "asked_for_by_you": row.asked_by_id == user.pk,
        }
        for row in rows.select_related("model", "benchmark").defer("log").iterator(chunk_size=1000)
    ]


def exported_workers(user: User) -> list[dict[str, Any]]:
    """Export a user's remote workers."""
    names = ("name", "trusted", "suspended", "reason", "version", "created", "seen")
    return list(RemoteWorker.objects.filter(owner=user).order_by("pk").values(*names))


def exported_questions(user: User) -> list[dict[str, Any]]:
    """Export the questions that a user asked."""
    names = (
        "benchmark__identifier",
        "part",
        "question",
        "model_names",
        "state",
        "created",
        "ended",
        "reason",
        "answer",
    )
    return list(AskedQuestion.objects.filter(owner=user).values(*names))


def entries_of(user: User) -> list[dict[str, Any]]:
    """Export a user's entries."""
    rows = Entry.objects.filter(by=user).select_related("track__competition")
    return [
        {"competition": row.track.competition.slug, "track": row.track.title}
        | {name: getattr(row, name) for name in _OF_ENTRIES}
        for row in rows
    ]


def teams_of(user: User) -> list[dict[str, Any]]:
    """Export a user's teams in competitions."""
    names = ("competition__slug", "team__name", "joined", "receives_mail")
    return list(TeamMembership.objects.filter(user=user).values(*names))


def announcements_of(user: User) -> list[dict[str, Any]]:
    """Export e-mails that a user sent to participants of competitions."""
    names = ("competition__slug", "subject", "text", "recipients", "created")
    return list(Announcement.objects.filter(by=user).values(*names))


def snapshots_of(user: User) -> list[dict[str, Any]]:
    """Export the standings that a user has frozen."""
    rows = Snapshot.objects.filter(by=user).select_related("competition").defer("document")
    return [{"competition": row.competition.slug, "created": row.created, "digest": row.digest} for row in rows]


def exported_uploads(user: User) -> list[dict[str, Any]]:
    """Export a user's uploads with their files."""
    rows = Upload.objects.filter(owner=user).defer("owner").prefetch_related("files")
    return [
        {
            **_exported_row(row, "attempts"),
            "id": str(row.pk),
            "files": [{name: getattr(file, name) for name in _OF_FILES} for file in row.files.all()],
        }
        for row in rows
    ]


def submissions_of(user: User) -> list[dict[str, Any]]:
    """Export a user's submissions."""
    return [
        {"key": str(row.pk), **_exported_row(row)}
        for row in Submission.objects.filter(owner=user).order_by("created", "pk")
    ]


def revisions_of(user: User) -> list[dict[str, Any]]:
    """Export a user's revisions with their files (a ZIP file in base 64), findings, steps and assessments."""
    rows = Revision.objects.filter(submission__owner=user).order_by("submission__created", "submission", "number")
    hidden = ("revision_id", "internal")
    return [
        {
            "submission": str(row.submission_id),
            **_exported_row(row, "submission_id", "archive"),
            "archive": base64.b64encode(_sent_files(row)).decode(),
            "steps": exported_rows(row.steps.all(), *hidden),
            "assessments": exported_rows(row.assessments.all(), *hidden),
        }
        for row in rows.prefetch_related("steps", "assessments").iterator(chunk_size=20)
    ]


def _sent_files(revision: Revision) -> bytes:
    arrived = UnexaminedFiles.objects.filter(revision=revision).first()
    return bytes(revision.archive if arrived is None else arrived.content)


def comments_of(user: User) -> list[dict[str, Any]]:
    """Export a user's comments."""
    rows = Comment.objects.filter(author=user).order_by("created", "pk").values_list("revision__submission", "pk")
    where = {key: str(submission) for submission, key in rows}
    comments = Comment.objects.filter(pk__in=where).order_by("created", "pk")
    return [{"submission": where[row.pk], **_exported_row(row, "revision_id", "author_id")} for row in comments]


def reviews_of(user: User) -> list[dict[str, Any]]:
    """Export a user's reviews."""
    rows = Review.objects.filter(reviewer=user).order_by("created", "pk").select_related("revision")
    return [
        {"submission": str(row.revision.submission_id), **_exported_row(row, "revision_id", "reviewer_id")}
        for row in rows.defer("revision__archive")
    ]


def _exported_row(row: Any, *without: str) -> dict[str, Any]:
    return exported_rows([row], *without)[0]


def _memberships_of(user: User) -> list[dict[str, Any]]:
    return list(user.memberships.values("lab__name", "role", "joined", "receives_mail"))


def _invitations_of(user: User) -> list[dict[str, Any]]:
    """Export the invitations that a user has sent or received."""
    rows = Invitation.objects.filter(Q(by=user) | Q(pk__in=Invitation.objects.of(user)))
    return list(rows.values("lab__name", "email", "created"))


def _emails_of(user: User) -> list[dict[str, Any]]:
    emails = Email.objects.filter(to=user).order_by("created", "pk")
    return exported_rows(emails, "to_id", "submission_id", "problem", "unsubscribe")


def exported_snapshots(user: User) -> list[dict[str, Any]]:
    """Export the snapshots of the leaderboard that a user has made, without their content, which is public."""
    rows = FrozenView.objects.filter(by=user)
    return [{"url": row.get_absolute_url(), **_exported_row(row, "archive")} for row in rows]


def follows_of(user: User) -> list[dict[str, Any]]:
    """Export what a user follows; of models that became private, only when that was."""
    rows = Follow.objects.filter(user=user).select_related("model", "benchmark", "lab")
    visible = set(rows.visible_to(user).values_list("pk", flat=True))
    return [{row.kind: row.name if row.pk in visible else None, "created": row.created} for row in rows]


SECTIONS: dict[str, tuple[type[Model], Callable[[User], Any]]] = {
    "profile": (User, _profile),
    "addresses": (EmailAddress, lambda user: exported_rows(EmailAddress.objects.filter(user=user))),
    "tokens": (ApiToken, lambda user: exported_rows(ApiToken.objects.filter(user=user), "digest")),
    "second_factors": (Authenticator, lambda user: exported_rows(Authenticator.objects.filter(user=user), "data")),
    "accounts_of_providers": (SocialAccount, lambda user: exported_rows(SocialAccount.objects.filter(user=user))),
    "labs": (Membership, _memberships_of),
    "invitations": (Invitation, _invitations_of),
    "models": (VisionModel, lambda user: exported_rows(VisionModel.objects.filter(owner=user), "synced")),
    "benchmarks": (Benchmark, lambda user: exported_rows(Benchmark.objects.filter(owner=user), "synced")),
    "ingestions": (Ingestion, lambda user: exported_rows(Ingestion.objects.filter(by=user))),
    "administration": (LogEntry, lambda user: exported_rows(LogEntry.objects.filter(user=user), "content_type_id")),
    "competition_entries": (Entry, entries_of),
    "competition_teams": (TeamMembership, teams_of),
    "competition_announcements": (Announcement, announcements_of),
    "competition_snapshots": (Snapshot, snapshots_of),
    "pages": (Page, lambda user: exported_rows(Page.objects.filter(by=user))),
    "news": (News, lambda user: exported_rows(News.objects.filter(by=user))),
    "letters": (Email, _emails_of),
    "turns": (Turn, lambda user: exported_rows(Turn.objects.filter(owner=user))),
    "uploads": (Upload, exported_uploads),
    "submissions": (Submission, submissions_of),
    "revisions": (Revision, revisions_of),
    "comments": (Comment, comments_of),
    "reviews": (Review, reviews_of),
    "plugins": (
        Plugin,
        lambda user: exported_rows(Plugin.objects.filter(owner=user).order_by("kind", "name"), "revision_id"),
    ),
    "pairs": (Job, exported_jobs),
    "remote_workers": (RemoteWorker, exported_workers),
    "questions": (AskedQuestion, exported_questions),
    "snapshots": (FrozenView, exported_snapshots),
    "follows": (Follow, follows_of),
    "notifications": (
        Notifications,
        lambda user: exported_rows(Notifications.objects.filter(user=user), "last_score", "last_version"),
    ),
}
"""Sections of the export: name → table and function."""


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

    Models and benchmarks stay: those of labs with another member, all others without an owner. Private models become
    public only if the user chooses so. An erased model leaves a private row with nothing but its name, since later
    ingestion of its receipts would otherwise create it again as a public model.
    """
    with exclusive_write():  # the same order of locks as ingestion
        administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
        if user.is_superuser and not list(administrators):
            raise UserError("the site would have no administrator", remedy="make another user an administrator first")
        pass_on(user)
        Invitation.objects.of(user).delete()
        private = VisionModel.objects.filter(owner=user, visibility=Visibility.PRIVATE)
        if leftover is PrivateModels.PUBLISH:
            private.update(visibility=Visibility.PUBLIC)
        elif leftover is PrivateModels.ERASE:
            private.erase()
        Session.objects.filter(session_key__in=list(session_keys(user))).delete()
        user.delete()
        revision.bump()  # bulk updates send no signal
