"""Who may see submissions and their reviews: decorators and look-ups for views."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Permission
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import confirmed_email_required, current_user
from brainscore_web.accounts.models import Lab, User, owned_by
from brainscore_web.submissions.models import Revision, Submission, reviews_submissions

confirmed_only = confirmed_email_required("submissions/unconfirmed.html")
"""Allow only logged-in users with a confirmed e-mail address."""


def visible_submission(request: HttpRequest, key: uuid.UUID) -> Submission:
    """Return a submission that the visitor may see, or raise 404."""
    rows = Submission.objects.visible_to(current_user(request)).select_related("owner", "lab")
    return get_object_or_404(rows, pk=key)


def own_submission(request: HttpRequest, key: uuid.UUID) -> Submission:
    """Return a submission of the visitor, or raise 404."""
    return get_object_or_404(Submission, owned_by(current_user(request)), pk=key)


def revision_of(submission: Submission, number: int | None = None, *, files: bool = False) -> Revision:
    """Return a revision, by default the newest; its files are loaded only if requested."""
    rows = submission.revisions.order_by("-number")
    if not files:
        rows = rows.defer("archive")
    if number is not None:
        if not 0 < number < 2**31:
            raise Http404("this revision does not exist")
        rows = rows.filter(number=number)
    revision = rows.first()
    if revision is None:
        raise Http404("this revision does not exist")
    revision.submission = submission
    return revision


View = TypeVar("View", bound=Callable[..., HttpResponse])


def members_only(view: View) -> View:
    """Allow only logged-in users."""
    return cast(View, never_cache(login_required(view)))


def reviewers_only(view: View) -> View:
    """Allow only reviewers and administrators; others get 404."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not reviews_submissions(current_user(request)):
            raise Http404("this page does not exist")
        return view(request, *args, **kwargs)

    return members_only(cast(View, wrapped))


def reviewed_revision(request: HttpRequest, key: uuid.UUID, number: int, *, reviewed: bool = True) -> Revision:
    """Return a revision, or raise 404 if the visitor may not see it."""
    submission = visible_submission(request, key)
    revision = get_object_or_404(submission.revisions.select_related("by"), number=number)
    revision.submission = submission
    if reviewed and not revision.needs_review:
        raise Http404("this revision needs no review")
    return revision


def recipients(submission: Submission) -> list[User]:
    """The submitter, and the members of the lab that want e-mails about submissions of others."""
    members = User.objects.filter(memberships__lab=submission.lab_id, memberships__receives_mail=True, is_active=True)
    others = members.exclude(pk=submission.owner_id).order_by("pk") if submission.lab_id else ()
    return [user for user in (submission.owner, *others) if user is not None]


def lab_named(user: User, slug: str) -> Lab:
    """Return a lab of a user; UserError if the user is not a member of such a lab."""
    labs = Lab.objects.filter(memberships__user=user)
    lab = labs.filter(slug=slug).first()
    if lab is None:
        names = ", ".join(labs.values_list("slug", flat=True)) or "none"
        raise UserError(f"you are not a member of a lab {slug[:60]!r}", remedy=f"name one of yours: {names}")
    return lab


def reviewers(*, but: User | None = None) -> QuerySet[User]:
    """Users who may review submissions: by their group, their own permission, or as administrators."""
    permission = Permission.objects.filter(codename="review_submissions", content_type__app_label="accounts")
    may = Q(is_superuser=True) | Q(groups__permissions__in=permission) | Q(user_permissions__in=permission)
    users = User.objects.filter(pk__in=User.objects.filter(may).values("pk"), is_active=True).order_by("pk")
    return users if but is None else users.exclude(pk=but.pk)
