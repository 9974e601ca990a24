"""The site's own texts: as an administrator wrote them, else as they are shipped."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from importlib import resources

from django.urls import reverse

from brainscore_web.leaderboard.models import Visitor
from brainscore_web.pages.documents import Document, rendered
from brainscore_web.pages.models import News, Page, edits_texts

__all__ = ["WITH_ADDRESS", "address_of", "page_for", "render_text", "shipped", "shipped_names", "state_of"]

WITH_ADDRESS = ("about", "citation", "community", "faq", "sponsors")
"""Pages at addresses of their own; others are below ``/pages/``."""

_HOME = "home"
"""The beginning of the start page."""


def shipped_names() -> tuple[str, ...]:
    """Names of the pages that the site comes with."""
    return (_HOME, *WITH_ADDRESS)


def shipped(name: str) -> str | None:
    """The Markdown of a page that the site comes with; None if there is none of this name."""
    if name not in shipped_names():
        return None
    return _read(name)


def address_of(name: str) -> str:
    """Where a page is."""
    if name == _HOME:
        return reverse("pages:home")
    return reverse(f"pages:{name}") if name in WITH_ADDRESS else reverse("pages:page", args=[name])


def page_for(name: str, visitor: Visitor) -> tuple[Document, Page | None] | None:
    """A page as the visitor sees it, and its row if it was written here; None if there is none.

    Parameters
    ----------
    name : str
        Of the page.
    visitor : Visitor
        Administrators see pages that are not published.
    """
    row = Page.objects.filter(slug=name).first()
    if row is not None and (row.published or edits_texts(visitor)):
        return _kept(row.slug, row.title, row.body), row
    return (_shipped(name), None) if name in shipped_names() else None


def render_text(of: Page | News) -> Document:
    """HTML of what was written here. A heading of the first level in the text is left out: the title stands there."""
    return _kept(of.slug, of.title, of.body)


def state_of(*rows: Page | News | None) -> tuple[tuple[int, datetime] | None, ...]:
    """What differs as soon as one of them was changed."""
    return tuple((row.pk, row.changed) if row is not None else None for row in rows)


@lru_cache(maxsize=64)
def _kept(name: str, title: str, body: str) -> Document:
    made = rendered(name, body)
    return Document(name, title, made.body, made.sections)


@lru_cache(maxsize=8)
def _shipped(name: str) -> Document:
    return rendered(name, _read(name))


def _read(name: str) -> str:
    return resources.files("brainscore_web.pages").joinpath("content", f"{name}.md").read_text(encoding="utf-8")
