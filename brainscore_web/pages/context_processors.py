"""What the frame of every page needs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

__all__ = ["site"]


def site(request: HttpRequest) -> dict[str, Any]:
    """Links of the head line, with the one that is open."""
    links = (
        ("Leaderboard", "/vision/leaderboard/"),
        ("Compare", "/vision/compare/"),
        ("Benchmarks", "/vision/benchmarks/"),
        ("Competitions", "/competitions/"),
        ("Tutorials", "/tutorials/"),
        ("About", "/about/"),
    )
    return {"head_links": [(text, href, request.path.startswith(href)) for text, href in links]}
