"""What is said to browsers about pages of accounts."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

__all__ = ["NoStore"]


class NoStore:
    """Pages of accounts are kept by no browser and no proxy: whoever comes next at the same machine sees none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        self._below = reverse("accounts:home")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer."""
        response = self._get_response(request)
        if request.path.startswith(self._below):
            response["Cache-Control"] = "no-store, private"
        return response
