"""Tags for the pairs of a submission, ``{% jobs_of submission %}``, and for the worker that computed a receipt."""

from __future__ import annotations

from typing import Any

from django import template

from brainscore_web.scoring import tables
from brainscore_web.scoring.models import RemoteResult
from brainscore_web.submissions.models import Submission

register = template.Library()


@register.inclusion_tag("scoring/_jobs.html", takes_context=True)
def jobs_of(context: dict[str, Any], submission: Submission) -> dict[str, Any]:
    """Show a submission's pairs, filtered by state; the table is updated while pairs are open."""
    request = context["request"]
    return {**tables.jobs_of(request, submission), "request": request, "csrf_token": context.get("csrf_token", "")}


@register.simple_tag
def remote_result_of(receipt: str) -> RemoteResult | None:
    """Return who uploaded a receipt; None if the site itself computed it."""
    return RemoteResult.objects.select_related("worker").filter(receipt=receipt).first()
