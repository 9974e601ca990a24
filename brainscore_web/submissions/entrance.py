"""Who is let in to the pages of submissions, and to which."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, cast

from allauth.account.models import EmailAddress
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Revision, Submission

__all__ = ["confirmed", "is_confirmed", "me", "own", "revision_of", "visible"]

View = TypeVar("View", bound=Callable[..., HttpResponse])


def confirmed(view: View) -> View:
    """Let in who is logged in, and has confirmed an address."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not is_confirmed(me(request)):
            return render(request, "submissions/unconfirmed.html", status=403)
        return view(request, *args, **kwargs)

    return cast(View, never_cache(login_required(wrapped)))


def is_confirmed(user: User) -> bool:
    """Whether a person has confirmed an address."""
    return EmailAddress.objects.filter(user=user, verified=True).exists()


def me(request: HttpRequest) -> User:
    """Who is logged in."""
    assert isinstance(request.user, User)  # these views are for who is logged in
    return request.user


def visible(request: HttpRequest, key: uuid.UUID) -> Submission:
    """A submission that the visitor may see."""
    return get_object_or_404(Submission.objects.visible_to(me(request)).select_related("owner"), pk=key)


def own(request: HttpRequest, key: uuid.UUID) -> Submission:
    """A submission of the visitor's own."""
    return get_object_or_404(Submission, pk=key, owner=me(request))


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
