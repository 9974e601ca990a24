"""Context of the base template."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.encoding import escape_uri_path, iri_to_uri

from brainscore_web.environment import email_destination
from brainscore_web.pages.navigation import public_links


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the links of the head, header and footer, and what is to be said on every page of a demonstration."""
    return {
        "head_links": public_links(request),
        "role_links": getattr(request, "role_links", ()),
        "demonstration": settings.DEMONSTRATION,
        "site_address": settings.ADDRESS,
        "canonical": settings.ADDRESS + iri_to_uri(escape_uri_path(request.path)),  # without filters
        "email_destination": email_destination(settings.EMAIL_BACKEND),
        "contact": settings.CONTACT,
        "repository": settings.REPOSITORY,
        "issues": settings.ISSUES,
    }
