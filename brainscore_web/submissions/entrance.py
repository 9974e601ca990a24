"""Who is let in to the pages of submissions, and to which."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from brainscore_web.accounts.entrance import confirmed_or, is_confirmed, me
from brainscore_web.submissions.models import Revision, Submission

__all__ = ["confirmed", "is_confirmed", "me", "own", "revision_of", "visible"]

confirmed = confirmed_or("submissions/unconfirmed.html")
"""Let in who is logged in, and has confirmed an address."""


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
