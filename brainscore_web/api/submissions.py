"""Submissions in the API: submit plugins, show their progress, withdraw them."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any, NoReturn

from django.core.files.uploadedfile import UploadedFile
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import has_confirmed_email
from brainscore_web.accounts.models import User, owned_by
from brainscore_web.api.authentication import Access, caller_of
from brainscore_web.api.responses import Problem, operation, page_of, refuse_unknown_parameters
from brainscore_web.api.schemas import Page, SubmissionCard, SubmissionEntry
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.examining import Refused, Source, source_at
from brainscore_web.submissions.models import Revision, Step, Submission
from brainscore_web.submissions.permissions import lab_named
from brainscore_web.submissions.receiving import max_form_size, receive, too_large_error
from brainscore_web.submissions.status import count_pairs, progress, progress_of, status_of, step_status
from brainscore_web.submissions.views import file_name

router = Router()

_WRITES = Access(scope="submit")
_READS = Access(required=True)
_LONGEST_NOTE = 5_000
_FIELDS = {
    "archive": {"type": "string", "format": "binary", "description": "A ZIP file; or, instead of it:"},
    "url": {"type": "string", "description": "Of a Git repository (https), or of a pull request at GitHub."},
    "commit": {"type": "string", "description": "Of the repository; or a branch, or a tag. Not for a pull request."},
    "note": {"type": "string", "maxLength": _LONGEST_NOTE, "description": "For the reviewer."},
}
_OF_NEW = {
    "visibility": {"type": "string", "enum": ["public", "private"], "description": "Of the models; public by default."},
    "lab": {"type": "string", "description": "The end of the URL of a lab of yours, which then owns it with you."},
}


def _body(**more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {**_FIELDS, **more}}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


class SubmissionsPaged(Schema):
    """The requested part of the list."""

    limit: int = Field(50, ge=1, le=200, description="Maximum number of submissions.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Number of submissions to skip.")
    state: str = Field(
        "", description="Only those in this state.", json_schema_extra={"enum": ["", *Submission.State.values]}
    )


class ArchiveAsked(Schema):
    """The requested revision."""

    revision: int = Field(0, ge=0, le=1_000_000, description="Its number; the newest if left out.")


@router.post(
    "submissions",
    **operation(
        "submissions",
        "Submit plugins",
        SubmissionCard,
        403,
        409,
        413,
        415,
        503,
        auth=_WRITES,
        status=201,
        **_body(**_OF_NEW),
    ),
)
def create_submission(request: HttpRequest) -> Status[dict[str, Any]]:
    """Submit models, benchmarks, data or metrics: a ZIP file, a commit of a Git repository, or a pull request.

    The response contains the findings of the checks. If there is an error, nothing is run: fix it and send a revision.
    If the checks take longer than two seconds, the response has no plugins and findings yet: they are there when the
    step `check` has ended.
    """
    refuse_unknown_parameters(request)
    user = _submitter(request)
    source, note = _sent(request, *_OF_NEW)
    visibility = request.POST.get("visibility", "") or Visibility.PUBLIC
    if visibility not in Visibility.values:
        raise Problem(400, f"there is no visibility {visibility!r}", f"use one of: {', '.join(Visibility.values)}")
    slug = request.POST.get("lab", "")
    try:
        lab = lab_named(user, slug) if slug else None
    except UserError as error:
        raise Problem(400, error.message, error.remedy) from error
    try:
        received = receive(user, source, visibility=visibility, lab=lab, note=note)
    except Refused as error:
        _refuse(error)
    return Status(201, _card(request, received.submission))


@router.post(
    "submissions/{uuid:submission}/revisions",
    **operation(
        "submissions",
        "Send a revision",
        SubmissionCard,
        403,
        404,
        409,
        413,
        415,
        503,
        auth=_WRITES,
        status=201,
        **_body(),
    ),
)
def create_revision(request: HttpRequest, submission: uuid.UUID) -> Status[dict[str, Any]]:
    """Send a new revision of a submission, with all its files."""
    refuse_unknown_parameters(request)
    user = _submitter(request)
    row = _own(user, submission)
    source, note = _sent(request)
    try:
        receive(user, source, note=note, submission=row)
    except Refused as error:
        _refuse(error)
    row.refresh_from_db()
    return Status(201, _card(request, row))


@router.get("submissions", **operation("submissions", "List submissions", Page[SubmissionEntry], 403, auth=_READS))
def list_submissions(request: HttpRequest, query: Query[SubmissionsPaged]) -> dict[str, Any]:
    """List your submissions, newest first."""
    refuse_unknown_parameters(request, SubmissionsPaged)
    rows = Submission.objects.filter(owned_by(_reader(request))).select_related("lab").order_by("-created", "pk")
    if query.state:
        if query.state not in Submission.State.values:
            states = ", ".join(Submission.State.values)
            raise Problem(400, f"there is no state {query.state!r}", f"use one of: {states}")
        rows = rows.filter(state=query.state)
    shown = list(rows[query.offset : query.offset + query.limit])
    newest = _newest(shown)
    pairs = progress_of([row for row in shown if row.state == Submission.State.DONE], caller_of(request).user)
    for key, numbers in pairs.items():
        count_pairs(newest[key][1], numbers)
    items = [_entry(request, row, *newest[row.pk]) for row in shown]
    return page_of(request, items, rows.count(), query.limit, query.offset)


@router.get(
    "submissions/{uuid:submission}",
    **operation("submissions", "Show a submission", SubmissionCard, 403, 404, auth=_READS),
)
def show_submission(request: HttpRequest, submission: uuid.UUID) -> dict[str, Any]:
    """Show a submission with its revisions, their findings and their progress."""
    refuse_unknown_parameters(request)
    return _card(request, _seen(request, submission))


@router.post(
    "submissions/{uuid:submission}/withdraw",
    **operation("submissions", "Withdraw a submission", SubmissionCard, 403, 404, 409, auth=_WRITES),
)
def withdraw_submission(request: HttpRequest, submission: uuid.UUID) -> dict[str, Any]:
    """Withdraw a submission that is not published yet."""
    refuse_unknown_parameters(request)
    user = _submitter(request)
    row = _own(user, submission)
    try:
        pipeline.withdraw(row, user)
    except UserError as error:
        raise Problem(409, error.message, error.remedy) from error
    row.refresh_from_db()
    return _card(request, row)


@router.get(
    "submissions/{uuid:submission}/archive",
    **operation("submissions", "Files of a submission", bytes, 403, 404, auth=_READS, media=["application/zip"]),
)
def submission_archive(request: HttpRequest, submission: uuid.UUID, query: Query[ArchiveAsked]) -> HttpResponse:
    """Download the files of a revision as a ZIP file."""
    refuse_unknown_parameters(request, ArchiveAsked)
    rows = _seen(request, submission).revisions.order_by("-number")
    revision = (rows.filter(number=query.revision) if query.revision else rows).first()
    if revision is None:
        raise Problem(404, f"there is no revision {query.revision}", "leave it out for the newest one")
    if not revision.archive:
        raise Problem(404, "the files of this revision are not examined yet", "try again when it is checked")
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(revision)}"',
        "ETag": f'"{revision.digest[:32]}"',
    }
    return HttpResponse(bytes(revision.archive), content_type="application/zip", headers=headers)


def _submitter(request: HttpRequest) -> User:
    user = caller_of(request).user
    if user is None or not has_confirmed_email(user):
        raise Problem(403, "the address of the token's owner is not confirmed", "confirm it at /accounts/email/")
    return user


def _reader(request: HttpRequest) -> User:
    caller = caller_of(request)
    if caller.token is not None and not caller.may("read"):
        raise Problem(403, "the token lacks the scope read", "use another token")
    assert caller.user is not None  # authentication is required
    return caller.user


def _seen(request: HttpRequest, key: uuid.UUID) -> Submission:
    _reader(request)
    submission = Submission.objects.visible_to(caller_of(request).visitor).filter(pk=key).first()
    if submission is None:
        raise _not_found(key)
    return submission


def _own(user: User, key: uuid.UUID) -> Submission:
    submission = Submission.objects.filter(owned_by(user), pk=key).first()
    if submission is None:
        raise _not_found(key)
    return submission


def _not_found(key: uuid.UUID) -> Problem:
    return Problem(404, f"there is no submission {key}", "see /api/v1/submissions")


def _refuse(error: Refused) -> NoReturn:
    headers = {"Retry-After": str(error.retry_after)} if error.status in (429, 503) else {}
    raise Problem(error.status, error.message, error.remedy, headers=headers) from error


def _sent(request: HttpRequest, *more: str) -> tuple[Source, str]:
    """Read the form after checking its length; large forms are stored on disk."""
    if request.content_type not in ("multipart/form-data", "application/x-www-form-urlencoded"):
        raise Problem(415, f"the body is {request.content_type or 'of no type'}", "send multipart/form-data")
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal():
        raise Problem(400, "the length of the body is not known", "send Content-Length")
    if int(length) > max_form_size():
        error = too_large_error()
        raise Problem(413, error.message, error.remedy)
    fields = sorted({*_FIELDS, *more})
    for name in (*request.POST, *request.FILES):
        if name not in fields:
            raise Problem(400, f"there is no field {name!r} here", f"use one of: {', '.join(fields)}")
    archive, url = request.FILES.get("archive"), request.POST.get("url", "").strip()
    if (archive is None) == (not url):
        raise Problem(400, "send a ZIP file as archive, or a url", "send one of both")
    note = request.POST.get("note", "")
    if len(note) > _LONGEST_NOTE:
        raise Problem(400, f"the note has {len(note):,} characters", f"write at most {_LONGEST_NOTE:,}")
    try:
        return (_zip(archive) if archive is not None else source_at(url, request.POST.get("commit", ""))), note
    except Refused as error:
        _refuse(error)


def _zip(archive: UploadedFile) -> Source:
    if archive.file is None:
        raise Refused("the archive is empty", "send a ZIP file")
    return Source("zip", archive.name or "", archive.file)


def _newest(rows: list[Submission]) -> dict[Any, tuple[Revision, list[Step]]]:
    """Return the newest revision of each submission with its steps, in two queries."""
    numbers = Revision.objects.filter(submission=OuterRef("submission")).order_by("-number").values("number")
    newest = Revision.objects.filter(submission__in=rows, number=Subquery(numbers[:1])).defer("archive")
    return {
        revision.submission_id: (revision, list(revision.steps.all())) for revision in newest.prefetch_related("steps")
    }


def _entry(request: HttpRequest, row: Submission, latest: Revision, steps: list[Step]) -> dict[str, Any]:
    standing = status_of(row, latest, steps)
    return {
        "id": str(row.pk),
        "title": row.title,
        "visibility": row.visibility,
        "lab": row.lab.slug if row.lab else "",
        "state": row.state,
        "words": standing.words,
        "next": standing.next,
        "open": row.is_open,
        "created": row.created,
        "changed": row.changed,
        "url": request.build_absolute_uri(reverse("submissions:show", args=[row.pk])),
        "revision": latest.number,
    }


def _card(request: HttpRequest, row: Submission) -> dict[str, Any]:
    revisions = list(row.revisions.defer("archive").order_by("number").prefetch_related("steps"))
    latest, steps = revisions[-1], list(revisions[-1].steps.all())
    pairs = progress(row, caller_of(request).user)
    count_pairs(steps, pairs)
    columns = ("number", "created", "origin", "address", "commit", "note", "digest", "size", "plugins", "findings")
    about = ("kind", "state", "attempts", "started", "ended", "reason", "log")
    return {
        **_entry(request, row, latest, steps),
        "revisions": [
            {
                **{name: getattr(revision, name) for name in columns},
                "steps": [
                    {**{name: getattr(step, name) for name in about}, "name": status["label"], "words": status["words"]}
                    for step in (steps if revision is latest else revision.steps.all())
                    for status in (step_status(step, row),)
                ],
            }
            for revision in revisions
        ],
        "pairs": asdict(pairs) if row.state in (Submission.State.SCORING, Submission.State.DONE) else None,
    }
