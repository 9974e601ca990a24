"""Health checks and metrics for administrators and monitoring."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from brainscore_web.operations.health import checks, is_ready
from brainscore_web.operations.metrics import metrics

__all__ = ["has_metrics_token", "is_local_request", "live", "numbers", "ready"]

_PROXY_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def is_local_request(request: HttpRequest) -> bool:
    """Whether a program on this machine asks, and no proxy on this machine for somebody else."""
    if any(name in request.META for name in _PROXY_HEADERS):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a socket of this machine, which a proxy may use as well
        return False


def has_metrics_token(request: HttpRequest) -> bool:
    """Whether the request has the token of ``BRAINSCORE_SITE_METRICS_TOKEN``."""
    known = str(settings.OPERATIONS["metrics_token"])
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    return bool(known) and kind.lower() == "bearer" and constant_time_compare(sent.strip(), known)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers; nothing else is looked at."""
    return _no_store(JsonResponse({"state": "live"}))


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Whether requests can be answered; why not is for this machine and for administrators."""
    found = checks()
    fine = is_ready(found)
    answer: dict[str, object] = {"state": "ready" if fine else "not ready"}
    if (
        is_local_request(request)
        or has_metrics_token(request)
        or (_database_answers(found) and _is_administrator(request))
    ):
        answer["checks"] = [
            {"name": one.name, "state": "fine" if one.fine else "failed" if one.needed else "warning", "told": one.told}
            for one in found
        ]
    return _no_store(JsonResponse(answer, status=200 if fine else 503))


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """Metrics for Prometheus, for this machine and for who has the token; for others there is nothing here."""
    if not (is_local_request(request) or has_metrics_token(request)):
        raise Http404("there is nothing here")
    return _no_store(HttpResponse(metrics(), content_type="text/plain; version=0.0.4; charset=utf-8"))


def _database_answers(found: object) -> bool:
    return isinstance(found, tuple) and all(one.fine for one in found if one.name in ("database", "migrations"))


def _is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_staff and request.user.is_superuser)


def _no_store(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
