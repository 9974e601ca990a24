"""Competitions, past and present."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from brainscore_web.competitions.programme import COMPETITIONS
from brainscore_web.leaderboard.models import Benchmark, VisionModel

__all__ = ["overview"]


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """All competitions on one page."""
    entries = {
        name for one in COMPETITIONS for track in one.tracks for entry in track.winners for name in entry.benchmarks
    }
    models = {name for one in COMPETITIONS for name in one.models}
    known = set(Benchmark.objects.filter(identifier__in=entries).values_list("identifier", flat=True))
    known |= set(
        VisionModel.objects.visible_to(request.user).filter(identifier__in=models).values_list("identifier", flat=True)
    )
    return render(request, "competitions/overview.html", {"competitions": COMPETITIONS, "known": known})
