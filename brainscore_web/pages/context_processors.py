"""Context of the base template."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

__all__ = ["site"]


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the links of the header, and whether each is the current one."""
    links = (
        ("Leaderboard", "/vision/leaderboard/"),
        ("Compare", "/vision/compare/"),
        ("Benchmarks", "/vision/benchmarks/"),
        ("Competitions", "/competitions/"),
        ("Tutorials", "/tutorials/"),
        ("About", "/about/"),
    )
    return {"head_links": [(text, href, request.path.startswith(href)) for text, href in links]}
