"""Health checks and metrics for administrators and monitoring."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from brainscore_web.operations.health import checks, is_ready
from brainscore_web.operations.metrics import metrics

_PROXY_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def is_local_request(request: HttpRequest) -> bool:
    """Whether a request comes from a program on this machine, and not through a proxy.

    A proxy on this machine may set no header, so on a public site no request counts as local.
    """
    if settings.PUBLIC or settings.BEHIND_PROXY or any(name in request.META for name in _PROXY_HEADERS):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a socket of this machine, which a proxy may use as well
        return False


def has_metrics_token(request: HttpRequest) -> bool:
    """Whether the request has the token of ``BRAINSCORE_SITE_METRICS_TOKEN``."""
    token = str(settings.OPERATIONS["metrics_token"])
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    return bool(token) and kind.lower() == "bearer" and constant_time_compare(sent.strip(), token)


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Report that this process responds, without further checks."""
    return _no_store(JsonResponse({"state": "live"}))


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Report whether the site can answer requests; details only for this machine and administrators."""
    results = checks()
    fine = is_ready(results)
    document: dict[str, object] = {"state": "ready" if fine else "not ready"}
    if (
        is_local_request(request)
        or has_metrics_token(request)
        or (_database_responds(results) and _is_administrator(request))
    ):
        document["checks"] = [
            {
                "name": check.name,
                "state": "fine" if check.fine else "failed" if check.needed else "warning",
                "told": check.problem,
            }
            for check in results
        ]
    return _no_store(JsonResponse(document, status=200 if fine else 503))


@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """Return metrics for Prometheus, to this machine and with the token; others get 404."""
    if not (is_local_request(request) or has_metrics_token(request)):
        raise Http404("this page does not exist")
    return _no_store(HttpResponse(metrics(), content_type="text/plain; version=0.0.4; charset=utf-8"))


def _database_responds(results: object) -> bool:
    return isinstance(results, tuple) and all(
        check.fine for check in results if check.name in ("database", "migrations")
    )


def _is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_staff and request.user.is_superuser)


def _no_store(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
