"""Answers to those who watch over the site."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from brainscore_web.operations.askers import asks_from_here, has_token
from brainscore_web.operations.health import checks, is_ready
from brainscore_web.operations.measured import metrics

__all__ = ["live", "numbers", "ready"]


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers; nothing else is looked at."""
    return _not_kept(JsonResponse({"state": "live"}))


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Whether requests can be answered; why not is for this machine and for administrators."""
    found = checks()
    fine = is_ready(found)
    answer: dict[str, object] = {"state": "ready" if fine else "not ready"}
    if asks_from_here(request) or has_token(request) or (_database_answers(found) and _is_administrator(request)):
        answer["checks"] = [
            {"name": one.name, "state": "fine" if one.fine else "failed" if one.needed else "warning", "told": one.told}
            for one in found
        ]
    return _not_kept(JsonResponse(answer, status=200 if fine else 503))


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """Metrics for Prometheus, for this machine and for who has the token; for others there is nothing here."""
    if not (asks_from_here(request) or has_token(request)):
        raise Http404("there is nothing here")
    return _not_kept(HttpResponse(metrics(), content_type="text/plain; version=0.0.4; charset=utf-8"))


def _database_answers(found: object) -> bool:
    return isinstance(found, tuple) and all(one.fine for one in found if one.name in ("database", "migrations"))


def _is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_staff and request.user.is_superuser)


def _not_kept(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
