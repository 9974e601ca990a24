"""Who comes in: reviewers, and to comments also who submitted."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache

from brainscore_web.accounts.entrance import me
from brainscore_web.submissions.entrance import visible as submission_of
from brainscore_web.submissions.models import Revision, reviews_submissions

__all__ = ["back_to", "me", "members", "reviewers_only", "revision_of", "submission_of"]

View = TypeVar("View", bound=Callable[..., HttpResponse])


def members(view: View) -> View:
    """Let in who is logged in."""
    return cast(View, never_cache(login_required(view)))


def reviewers_only(view: View) -> View:
    """Let in reviewers and administrators; for others there is nothing."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not reviews_submissions(me(request)):
            raise Http404("there is nothing here")
        return view(request, *args, **kwargs)

    return members(cast(View, wrapped))


def revision_of(request: HttpRequest, key: uuid.UUID, number: int, *, reviewed: bool = True) -> Revision:
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
    submission = submission_of(request, key)
    found = get_object_or_404(submission.revisions.select_related("by"), number=number)
    found.submission = submission
    if reviewed and not found.needs_review:
        raise Http404("nobody reviews it")
    return found


def back_to(request: HttpRequest, otherwise: str) -> str:
    """The page of this site that a form came from."""
    said = request.POST.get("back", "")
    if said.startswith("/") and url_has_allowed_host_and_scheme(said, None):
        return said
    return otherwise
