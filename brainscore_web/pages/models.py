"""Tables of the texts that administrators write: pages and news."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from brainscore_web.leaderboard.models import Visitor

if TYPE_CHECKING:
    from django.db.models import QuerySet


def edits_texts(visitor: Visitor) -> bool:
    """Whether the visitor may see unpublished texts: administrators with permission to change them."""
    return bool(visitor.is_active and visitor.is_staff and visitor.has_perm("pages.change_news"))


class Page(models.Model):
    """A page that an administrator wrote; it replaces an included page of the same name."""

    slug = models.SlugField(
        "name",
        max_length=60,
        unique=True,
        help_text="Part of its URL, such as 'about', or 'imprint' for /pages/imprint/.",
    )
    title = models.CharField(max_length=200)
    body = models.TextField("text", blank=True, help_text="Markdown. HTML is shown as text.")
    published = models.BooleanField(default=True, help_text="Otherwise other visitors see the included page, if any.")
    changed = models.DateTimeField(auto_now=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        """By name."""

        ordering = ("slug",)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return its URL."""
        return address_of(self.slug)


class NewsQuerySet(models.QuerySet["News"]):
    """Queries of news."""

    def visible_to(self, visitor: Visitor) -> QuerySet[News]:
        """Return published news; all news for administrators."""
        return self if edits_texts(visitor) else self.published()

    def published(self, now: datetime | None = None) -> QuerySet[News]:
        """Return the news that all visitors see: no drafts, and nothing before its publication."""
        return self.filter(draft=False, published__lte=now or timezone.now())


class News(models.Model):
    """A news item."""

    slug = models.SlugField("name", max_length=100, unique=True, help_text="Part of its URL.")
    title = models.CharField(max_length=200)
    body = models.TextField("text", help_text="Markdown. HTML is shown as text.")
    published = models.DateTimeField(default=timezone.now, help_text="When it becomes visible.")
    draft = models.BooleanField(default=True, help_text="Visible to administrators only.")
    created = models.DateTimeField(default=timezone.now, editable=False)
    changed = models.DateTimeField(auto_now=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )

    objects = NewsQuerySet.as_manager()

    class Meta:
        """Newest first."""

        ordering = ("-published", "-pk")
        verbose_name_plural = "news"
        indexes = (models.Index(fields=["draft", "-published"]),)

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return its URL."""
        return reverse("pages:news-one", args=[self.slug])


PAGES_WITH_OWN_ADDRESS = ("about", "citation", "community", "faq", "privacy", "sponsors", "terms")
"""Pages with URLs of their own; those of others start with ``/pages/``."""


HOME = "home"
"""Name of the text on the home page."""


def address_of(name: str) -> str:
    """Return the URL of a page."""
    if name == HOME:
        return reverse("pages:home")
    return reverse(f"pages:{name}") if name in PAGES_WITH_OWN_ADDRESS else reverse("pages:page", args=[name])
