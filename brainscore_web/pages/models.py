"""The tables of the site's own texts: pages that administrators write, and news."""

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

__all__ = ["PAGES_WITH_OWN_ADDRESS", "News", "Page", "address_of", "edits_texts"]


def edits_texts(visitor: Visitor) -> bool:
    """Whether the visitor may see texts that are not published: administrators who may change them."""
    return bool(visitor.is_active and visitor.is_staff and visitor.has_perm("pages.change_news"))


class Page(models.Model):
    """A page that an administrator wrote; in place of the one that is shipped, where there is one of its name."""

    slug = models.SlugField(
        "name",
        max_length=60,
        unique=True,
        help_text="In its address, such as 'about', or 'privacy' for /pages/privacy/.",
    )
    title = models.CharField(max_length=200)
    body = models.TextField("text", blank=True, help_text="Markdown. HTML in it is shown, not used.")
    published = models.BooleanField(
        default=True, help_text="Otherwise others see the shipped page, or none where there is none."
    )
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
        """Where it is."""
        return address_of(self.slug)


class NewsQuerySet(models.QuerySet["News"]):
    """Queries of news."""

    def visible_to(self, visitor: Visitor) -> QuerySet[News]:
        """What is published; administrators see all."""
        return self if edits_texts(visitor) else self.published()

    def published(self, now: datetime | None = None) -> QuerySet[News]:
        """What everybody sees: no drafts, and nothing before its time."""
        return self.filter(draft=False, published__lte=now or timezone.now())


class News(models.Model):
    """Something new."""

    slug = models.SlugField("name", max_length=100, unique=True, help_text="In its address.")
    title = models.CharField(max_length=200)
    body = models.TextField("text", help_text="Markdown. HTML in it is shown, not used.")
    published = models.DateTimeField(default=timezone.now, help_text="Nobody sees it before.")
    draft = models.BooleanField(default=True, help_text="Others do not see it.")
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
        """Where it is."""
        return reverse("pages:news-one", args=[self.slug])


PAGES_WITH_OWN_ADDRESS = ("about", "citation", "community", "faq", "sponsors")
"""Pages at addresses of their own; others are below ``/pages/``."""


HOME = "home"
"""The beginning of the start page."""


def address_of(name: str) -> str:
    """Where a page is."""
    if name == HOME:
        return reverse("pages:home")
    return reverse(f"pages:{name}") if name in PAGES_WITH_OWN_ADDRESS else reverse("pages:page", args=[name])
