"""The menu of every page: links for all visitors, and those of the visitor's role."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.utils.functional import SimpleLazyObject

from brainscore_web.submissions.models import Submission, reviews_submissions

_PUBLIC = (
    ("Leaderboard", "/vision/leaderboard/"),
    ("Models", "/vision/models/"),
    ("Benchmarks", "/vision/benchmarks/"),
    ("Compare", "/vision/compare/"),
    ("Competitions", "/competitions/"),
    ("Tutorials", "/tutorials/"),
    ("Submit", "/submissions/new/"),
)


class MenuLink(NamedTuple):
    """A link of the menu.

    Attributes
    ----------
    text, href : str
        What it says, and where it leads.
    current : bool
        Whether the page that is shown is there, or below.
    waiting : int
        How much waits there; 0: nothing, or not counted.
    """

    text: str
    href: str
    current: bool
    waiting: int = 0


class Navigation:
    """Middleware that adds the links of the visitor's role to requests of pages, as ``request.role_links``.

    They are determined when they are first needed. Responses that are cached by a visitor's browser depend on them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle a request."""
        if not request.path_info.startswith("/api/"):
            request.role_links = SimpleLazyObject(lambda: role_links(request))  # type: ignore[attr-defined]
        return self._get_response(request)


def public_links(request: HttpRequest) -> tuple[MenuLink, ...]:
    """Return the links that every visitor sees."""
    return tuple(MenuLink(text, href, request.path.startswith(href)) for text, href in _PUBLIC)


def role_links(request: HttpRequest) -> tuple[MenuLink, ...]:
    """Return the links of the visitor's role: of members, reviewers and administrators."""
    user = request.user
    if not user.is_authenticated:
        return ()
    links = [("My submissions", "/submissions/", 0)]
    if reviews_submissions(user):
        waiting = Submission.objects.filter(state=Submission.State.REVIEW).exclude(owner=user).count()
        links.append(("Review", "/review/", waiting))
    if user.is_staff:
        links += [("Scoring", "/scoring/", 0), ("Administration", "/admin/", 0)]
    elsewhere = request.path.startswith("/submissions/new/")  # which has its own link
    return tuple(
        MenuLink(text, href, request.path.startswith(href) and not elsewhere, count) for text, href, count in links
    )
