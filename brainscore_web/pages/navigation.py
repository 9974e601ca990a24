"""What every page has: the menu, with links for all visitors and those of the visitor's role, and the footer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.encoding import escape_uri_path, iri_to_uri
from django.utils.functional import SimpleLazyObject

from brainscore_core.domains import domains
from brainscore_web.accounts.models import owned_by
from brainscore_web.domains import domain_of
from brainscore_web.environment import email_destination
from brainscore_web.submissions.models import Submission, reviews_submissions

_OF_DOMAIN = (
    ("Leaderboard", "leaderboard:board"),
    ("Models", "cards:models"),
    ("Benchmarks", "cards:benchmarks"),
    ("Compare", "compare:page"),
)
_PUBLIC = (
    ("Competitions", "/competitions/"),
    ("Tutorials", "/tutorials/"),
    ("Submit", "/submissions/new/"),
)


class MenuLink(NamedTuple):
    """A link of the menu."""

    # text, href: what it says, and where it leads
    text: str
    href: str
    current: bool  # whether the page that is shown is there, or below
    waiting: int = 0  # how much waits there; 0: nothing, or not counted


class Navigation:
    """Middleware that adds the links of the visitor's role to requests of pages, as ``request.role_links``.

    They are determined when they are first needed. Responses that are cached by a visitor's browser depend on them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle a request."""
        if not request.path_info.startswith("/api/"):
            request.role_links = SimpleLazyObject(lambda: role_links(request))  # type: ignore[attr-defined] # for templates
        return self._get_response(request)


def public_links(request: HttpRequest) -> tuple[MenuLink, ...]:
    """Return the links that every visitor sees; the first ones lead to the domain of the page."""
    domain = domain_of(request)
    links = [*((text, reverse(name, args=[domain])) for text, name in _OF_DOMAIN), *_PUBLIC]
    # pages of one model, benchmark or competition have the singular in their addresses
    return tuple(MenuLink(text, href, request.path.startswith(href.removesuffix("s/"))) for text, href in links)


def domain_links(request: HttpRequest) -> tuple[MenuLink, ...]:
    """Return links to the same page of each domain; nothing on pages that belong to no domain or to one row of it."""
    match = request.resolver_match
    if match is None or match.view_name not in dict(_OF_DOMAIN).values():
        return ()
    current = domain_of(request)
    return tuple(
        MenuLink(domain.wording.title, reverse(match.view_name, args=[domain]), domain == current)
        for domain in domains()
    )


def role_links(request: HttpRequest) -> tuple[MenuLink, ...]:
    """Return the links of the visitor's role: of members, reviewers and administrators."""
    user = request.user
    if not user.is_authenticated:
        return ()
    links = [("My submissions", "/submissions/", 0)]
    if reviews_submissions(user):
        waiting = Submission.objects.filter(state=Submission.State.REVIEW).exclude(owned_by(user)).count()
        links.append(("Review", "/review/", waiting))
    if user.is_staff:
        links += [("Scoring", "/scoring/", 0), ("Administration", "/admin/", 0)]
    elsewhere = request.path.startswith("/submissions/new/")  # which has its own link
    return tuple(
        MenuLink(text, href, request.path.startswith(href) and not elsewhere, count) for text, href, count in links
    )


def site(request: HttpRequest) -> dict[str, Any]:
    """Return the links of the head, header and footer, and what is to be said on every page of a demonstration."""
    return {
        "domain": domain_of(request),
        "domain_links": domain_links(request),
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
