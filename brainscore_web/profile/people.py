"""Public pages of contributors."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from brainscore_web.accounts.models import Lab, User
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel

_PAGE_SIZE = 50


@require_safe
def person(request: HttpRequest, key: int) -> HttpResponse:
    """Show a contributor who has chosen to have a public page."""
    shown = get_object_or_404(User, pk=key, public_page=True, is_active=True)
    confirmed = SocialAccount.objects.filter(user=shown, provider="orcid", uid=shown.orcid).exists()
    labs = Lab.objects.filter(memberships__user=shown)
    context = {"person": shown, "labs": labs, "confirmed": confirmed, **contributions(request, Q(owner=shown))}
    return render(request, "people/person.html", context)


def contributions(request: HttpRequest, of: Q) -> dict[str, Any]:
    """Return the requested pages of public models and of benchmarks."""
    models = VisionModel.objects.filter(of, visibility=Visibility.PUBLIC).order_by("identifier")
    benchmarks = Benchmark.objects.filter(of, is_mean=False).order_by("identifier")
    return {
        "models": Paginator(models, _PAGE_SIZE).get_page(request.GET.get("models", "1")),
        "benchmarks": Paginator(benchmarks, _PAGE_SIZE).get_page(request.GET.get("benchmarks", "1")),
    }
