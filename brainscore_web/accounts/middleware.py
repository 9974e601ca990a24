"""Cache headers of account pages."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import reverse


class NoStore:
    """Forbid browsers and proxies to store account pages, so that later users of the same machine cannot see them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._below = reverse("accounts:home")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Add the header to responses of account pages."""
        response = self._get_response(request)
        if request.path.startswith(self._below):
            response["Cache-Control"] = "no-store, private"
        return response
