"""The page that describes the operations, made on the server: no script, nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from brainscore_web.api._described import described
from brainscore_web.api._problems import problem

__all__ = ["home", "nothing_here", "page"]


def home(request: HttpRequest) -> HttpResponse:
    """Go to the page."""
    return redirect("api:docs")


def page(request: HttpRequest, api: NinjaAPI) -> HttpResponse:
    """Show all operations."""
    schema: dict[str, Any] = api.get_openapi_schema()
    root = request.build_absolute_uri("/").rstrip("/")
    return render(request, "api/documentation.html", {"api": described(schema), "root_of_site": root})


@csrf_exempt
def nothing_here(request: HttpRequest, **_: Any) -> HttpResponse:
    """Answer an address that no operation has, as JSON."""
    return problem(404, f"there is nothing at {request.path}", "see /api/v1/docs")
