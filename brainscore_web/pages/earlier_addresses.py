"""Permanent redirects from addresses of the earlier site, www.brain-score.org, that papers and pages cite."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import re_path
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from brainscore_web.leaderboard.models import Benchmark, VisionModel

_PRESENT = {
    "profile": "accounts:profile",
    "vision": "leaderboard:board",
    "leaderboard": "leaderboard:board",
    "compare": "compare:page",
    "competition": "competitions:overview",
    "signup": "account_signup",
}
_DOCUMENTS = {"release2.0": "coming_from_2", "brain_model": "concepts"}


@require_safe
def card(request: HttpRequest, kind: str, identifier: str) -> HttpResponse:
    """Lead to a card; the earlier site's numbers, which are not known here, lead to the list."""
    rows = VisionModel.objects.visible_to(AnonymousUser()) if kind == "model" else Benchmark.objects.all()
    if identifier.isdecimal() and not rows.filter(identifier=identifier).exists():
        return redirect(f"cards:{kind}s", permanent=True)
    return redirect(f"cards:{kind}", identifier, permanent=True)


urlpatterns = [
    re_path(r"^(?P<kind>model|benchmark)/vision/(?P<identifier>.+?)/?$", card, name="earlier-card"),
    *(
        re_path(rf"^{name}/?$", RedirectView.as_view(pattern_name=present, permanent=True), name=f"earlier-{name}")
        for name, present in _PRESENT.items()
    ),
    *(
        re_path(
            rf"^{name.replace('.', '[.]')}/?$",
            RedirectView.as_view(url=f"/tutorials/{document}/", permanent=True),
            name=f"earlier-{name}",
        )
        for name, document in _DOCUMENTS.items()
    ),
]
