"""Template tag for the submissions on the profile page."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Count, Q

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import Submission

register = template.Library()


@register.inclusion_tag("submissions/_profile.html")
def submissions_of(user: User) -> dict[str, Any]:
    """Count a user's submissions, and those that need an action of the user."""
    return Submission.objects.filter(owner=user).aggregate(
        count=Count("pk"),
        open=Count("pk", filter=~Q(state__in=Submission.CLOSED)),
        waiting=Count("pk", filter=Q(state=Submission.State.CHANGES)),
    )
