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

__all__ = ["feed"]

_MOST = 30
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class _Atom(Atom1Feed):
    """Says what links within texts are relative to."""

    def root_attributes(self) -> dict[str, Any]:
        """Of the feed's element."""
        return {**super().root_attributes(), "xml:base": str(self.feed["link"])}


class _NewsFeed(Feed):
    feed_type = _Atom
    title = "Brain-Score: what is new"
    subtitle = "News of models, benchmarks and the platform."
    author_name = "Brain-Score"

    def link(self) -> str:
        """The page of all news."""
        return reverse("pages:news")

    def items(self) -> list[News]:
        """The newest; no drafts, whoever asks."""
        return list(News.objects.published()[:_MOST])

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Nothing: there are no templates."""
        return {}

    def item_title(self, item: Any) -> str:
        return _NOT_IN_XML.sub("", item.title)

    def item_description(self, item: Any) -> str:
        return _NOT_IN_XML.sub("", render_text(item).body)

    def item_pubdate(self, item: News) -> datetime:
        """When it was first seen."""
        return item.published

    def item_updateddate(self, item: News) -> datetime:
        """When it was last changed, which may have been before it was published."""
        return max(item.published, item.changed)

    def item_guid(self, item: News) -> str:
        """A name that stays when the title, the address or the site's name change (RFC 4151)."""
        return f"tag:brain-score.org,{item.created:%Y-%m-%d}:news/{item.pk}"


_answer = _NewsFeed()


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """The newest news."""
    answer = _answer(request)
    answer["Cache-Control"] = "public, max-age=300"
    return answer
