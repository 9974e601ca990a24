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
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from brainscore_web.accounts.models import User
from brainscore_web.accounts.permissions import confirmed_email_required, current_user, has_confirmed_email
from brainscore_web.submissions.models import Revision, Submission, reviews_submissions

__all__ = [
    "confirmed_only",
    "current_user",
    "has_confirmed_email",
    "members_only",
    "own_submission",
    "return_address",
    "reviewed_revision",
    "reviewers",
    "reviewers_only",
    "revision_of",
    "visible_submission",
]

confirmed_only = confirmed_email_required("submissions/unconfirmed.html")
"""Let in who is logged in, and has confirmed an address."""


def visible_submission(request: HttpRequest, key: uuid.UUID) -> Submission:
    """A submission that the visitor may see."""
    return get_object_or_404(Submission.objects.visible_to(current_user(request)).select_related("owner"), pk=key)


def own_submission(request: HttpRequest, key: uuid.UUID) -> Submission:
    """A submission of the visitor's own."""
    return get_object_or_404(Submission, pk=key, owner=current_user(request))


def revision_of(submission: Submission, number: int | None = None, *, files: bool = False) -> Revision:
    """A revision, the newest if no other is asked for; its files only where they are needed."""
    rows = submission.revisions.order_by("-number")
    if not files:
        rows = rows.defer("archive")
    if number is not None:
        if not 0 < number < 2**31:
            raise Http404("there is no such revision")
        rows = rows.filter(number=number)
    found = rows.first()
    if found is None:
        raise Http404("there is no such revision")
    found.submission = submission
    return found


View = TypeVar("View", bound=Callable[..., HttpResponse])


def members_only(view: View) -> View:
    """Let in who is logged in."""
    return cast(View, never_cache(login_required(view)))


def reviewers_only(view: View) -> View:
    """Let in reviewers and administrators; for others there is nothing."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not reviews_submissions(current_user(request)):
            raise Http404("there is nothing here")
        return view(request, *args, **kwargs)

    return members_only(cast(View, wrapped))


def reviewed_revision(request: HttpRequest, key: uuid.UUID, number: int, *, reviewed: bool = True) -> Revision:
    """A revision, if the visitor may see it.

    Parameters
    ----------
    request : HttpRequest
        Whose.
    key : uuid.UUID
        Of the submission.
    number : int
        Which.
    reviewed : bool
        Whether only what needs a review is found: private models are for nobody's eyes.
    """
    submission = visible_submission(request, key)
    found = get_object_or_404(submission.revisions.select_related("by"), number=number)
    found.submission = submission
    if reviewed and not found.needs_review:
        raise Http404("nobody reviews it")
    return found


def return_address(request: HttpRequest, otherwise: str) -> str:
    """The page of this site that a form came from."""
    said = request.POST.get("back", "")
    if said.startswith("/") and url_has_allowed_host_and_scheme(said, None):
        return said
    return otherwise


def reviewers(*, but: User | None = None) -> QuerySet[User]:
    """Those who review submissions: by their group, or a permission of their own, or as administrators.

    Parameters
    ----------
    but : User, optional
        Who is left out: nobody reviews what is their own.
    """
    permission = Permission.objects.filter(codename="review_submissions", content_type__app_label="accounts")
    may = Q(is_superuser=True) | Q(groups__permissions__in=permission) | Q(user_permissions__in=permission)
    found = User.objects.filter(pk__in=User.objects.filter(may).values("pk"), is_active=True).order_by("pk")
    return found if but is None else found.exclude(pk=but.pk)
