"""News for feed readers: Atom 1.0 (RFC 4287)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from brainscore_web.pages.documents import render_text
from brainscore_web.pages.models import News

_MOST = 30
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class _Atom(Atom1Feed):
    """Adds the base of relative links in the texts."""

    def root_attributes(self) -> dict[str, Any]:
        """Return attributes of the feed element."""
        return {**super().root_attributes(), "xml:base": str(self.feed["link"])}


class _NewsFeed(Feed):
    feed_type = _Atom
    title = "Brain-Score: what is new"
    subtitle = "News of models, benchmarks and the platform."
    author_name = "Brain-Score"

    def link(self) -> str:
        """Return the URL of the page with all news."""
        return reverse("pages:news")

    def items(self) -> list[News]:
        """Return the latest published news, also to administrators."""
        return list(News.objects.published()[:_MOST])

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return nothing, since there are no templates."""
        return {}

    def item_title(self, item: Any) -> str:
        return _NOT_IN_XML.sub("", item.title)

    def item_description(self, item: Any) -> str:
        return _NOT_IN_XML.sub("", render_text(item).body)

    def item_pubdate(self, item: News) -> datetime:
        """Return the time of publication."""
        return item.published

    def item_updateddate(self, item: News) -> datetime:
        """Return the time of the last change, or of publication if that is later."""
        return max(item.published, item.changed)

    def item_guid(self, item: News) -> str:
        """Return an identifier that does not change with the title, the URL or the site's name (RFC 4151)."""
        return f"tag:brain-score.org,{item.created:%Y-%m-%d}:news/{item.pk}"


_feed = _NewsFeed()


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """Return the feed."""
    response = _feed(request)
    response["Cache-Control"] = "public, max-age=300"
    return response
