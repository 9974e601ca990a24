"""Pages that say something rather than compute it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

__all__ = ["home"]


def home(request: HttpRequest) -> HttpResponse:
    """What this is, and what is new."""
    return render(request, "pages/home.html")
