"""Atom feeds of public data: news; new scores and new versions of benchmarks, also of a view of the leaderboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_web.follows.updates import Update, score_updates, version_updates
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.filters import active_filters, chosen_benchmarks
from brainscore_web.leaderboard.http import etag, public_answer, user_errors
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel, benchmarks_at_or_below
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import COVERAGE, BoardState
from brainscore_web.pages.documents import render_text, state_of
from brainscore_web.pages.models import News

_MOST = 30
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_ANYONE = AnonymousUser()


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("", text)


class _Atom(Atom1Feed):
    """Adds the base of relative links in the texts."""

    def root_attributes(self) -> dict[str, Any]:
        """Return attributes of the feed element."""
        return {**super().root_attributes(), "xml:base": str(self.feed["link"])}


class _Feed(Feed):
    """A feed without templates, whose items have a title, a text and a time."""

    feed_type = _Atom
    author_name = "Brain-Score"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return nothing, since there are no templates."""
        return {}

    def item_title(self, item: Any) -> str:
        return _clean(item.title)


class _NewsFeed(_Feed):
    title = "Brain-Score: what is new"
    subtitle = "News of models, benchmarks and the platform."

    def link(self) -> str:
        """Return the URL of the page with all news."""
        return reverse("pages:news")

    def items(self) -> list[News]:
        """Return the latest published news, also to administrators."""
        return list(News.objects.published()[:_MOST])

    def item_description(self, item: Any) -> str:
        return _clean(render_text(item).body)

    def item_pubdate(self, item: News) -> datetime:
        """Return the time of publication."""
        return item.published

    def item_updateddate(self, item: News) -> datetime:
        """Return the time of the last change, or of publication if that is later."""
        return max(item.published, item.changed)

    def item_guid(self, item: News) -> str:
        """Return an identifier that does not change with the title, the URL or the site's name (RFC 4151)."""
        return f"tag:brain-score.org,{item.created:%Y-%m-%d}:news/{item.pk}"


class _Selection(NamedTuple):
    """What a feed of updates is about: at most one of model, benchmark and filters of the leaderboard is given."""

    domain: Domain
    model: VisionModel | None
    benchmark: Benchmark | None
    state: BoardState
    address: str  # of the feed, with its query
    heading: str  # what it reports
    updates: Sequence[Update] = ()

    @property
    def text(self) -> str:
        """The selection in words."""
        row = self.model or self.benchmark
        filters = [item.text for item in active_filters(self.state)]
        return "; ".join([self.domain.name, *filters]) if row is None else row.identifier

    @property
    def path(self) -> str:
        """URL of the page that shows the same."""
        row = self.model or self.benchmark
        if row is None:
            query = self.state.query()
            return f"{reverse('leaderboard:board', args=[self.domain])}{query and '?'}{query}"
        return reverse("cards:benchmark" if self.model is None else "cards:model", args=[self.domain, row.identifier])


class _UpdatesFeed(_Feed):
    """A feed of the updates that a view has read."""

    def items(self, selection: _Selection) -> Sequence[Update]:
        """Return the updates."""
        return selection.updates

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> _Selection:
        """Return the selection that the view has read."""
        return kwargs["selection"]

    def title(self, selection: _Selection) -> str:
        """Return the title of the feed."""
        return _clean(f"Brain-Score: {selection.heading}, {selection.text}")

    def link(self, selection: _Selection) -> str:
        """Return the URL of the page that shows the same."""
        return selection.path

    def feed_url(self, selection: _Selection) -> str:
        """Return the URL of the feed."""
        return selection.address

    def item_description(self, item: Any) -> str:
        return format_html("<p>{}</p>", _clean(item.text)) if item.text else ""

    def item_link(self, item: Update) -> str:
        """Return the URL of the receipt or benchmark."""
        return item.path

    def item_pubdate(self, item: Update) -> datetime:
        """Return when it was computed, or first seen."""
        return item.time

    item_updateddate = item_pubdate

    def item_guid(self, item: Update) -> str:
        """Return an identifier that does not change with the URL or the site's name (RFC 4151)."""
        return f"tag:brain-score.org,{item.time:%Y-%m-%d}:{item.key}"


def _score_updates(selection: _Selection) -> list[Update]:
    """Return the newest public scores."""
    scores = Score.objects.visible_to(_ANYONE).filter(model__domain=selection.domain.name)
    if selection.model is not None:
        scores = scores.filter(model=selection.model)
    if selection.benchmark is not None:
        scores = scores.filter(benchmark__in=benchmarks_at_or_below([selection.benchmark.pk]))
    if selection.state != BoardState():
        scores = scores.filter(pk__in=_newest_scores(selection))
    return score_updates(scores, _MOST)


def _newest_scores(selection: _Selection) -> list[int]:
    """Return the keys of the newest scores that a view of the leaderboard shows."""
    board = board_for(snapshot_for(_ANYONE, selection.domain.name), selection.state)
    positions = [position for position, node in enumerate(board.nodes) if node.column >= 0]
    columns = [board.nodes[position].column for position in positions]
    scores = board.snapshot.score[np.ix_(board.rows, np.array(columns, dtype=np.intp))]
    shown = np.isfinite(board.values[:, positions]) & (scores >= 0)
    return np.unique(scores[shown])[::-1][:_MOST].tolist()


def _version_updates(selection: _Selection) -> list[Update]:
    """Return the newest benchmarks and their newest versions."""
    versions = BenchmarkVersion.objects.filter(benchmark__domain=selection.domain.name)
    if selection.benchmark is not None:
        versions = versions.filter(benchmark__in=benchmarks_at_or_below([selection.benchmark.pk]))
    if selection.state != BoardState():
        snapshot = snapshot_for(_ANYONE, selection.domain.name)
        chosen = [snapshot.benchmarks[column].identifier for column in chosen_benchmarks(snapshot, selection.state)]
        versions = versions.filter(benchmark__identifier__in=chosen)
    return version_updates(versions, _MOST)


_news, _feed = _NewsFeed(), _UpdatesFeed()


@require_safe
def news(request: HttpRequest) -> HttpResponse:
    """The news."""
    tag = etag("news", state_of(*News.objects.published()[:_MOST]), request.get_host())
    return public_answer(request, tag, lambda: _news(request))


@require_safe
def scores(request: HttpRequest, domain: Domain) -> HttpResponse:
    """New scores of a domain, of ``model``, on ``benchmark``, which may be a mean, or of a view of the leaderboard."""
    return _updates(request, domain, "new scores", _score_updates, "model", "benchmark")


@require_safe
def benchmarks(request: HttpRequest, domain: Domain) -> HttpResponse:
    """New benchmarks and versions of a domain, of ``benchmark`` (or a mean), or of a view of the leaderboard."""
    return _updates(request, domain, "new benchmarks and versions", _version_updates, "benchmark")


@user_errors
def _updates(
    request: HttpRequest,
    domain: Domain,
    heading: str,
    updates_of: Callable[[_Selection], list[Update]],
    *names: str,
) -> HttpResponse:
    if len(request.GET) > 1 and not set(names).isdisjoint(request.GET):
        raise Http404(f"this feed can be limited by one of: {', '.join(names)}")
    selection = _Selection(
        domain,
        model=_row(VisionModel.objects.visible_to(_ANYONE), request, domain, "model"),
        benchmark=_row(Benchmark.objects.all(), request, domain, "benchmark"),
        state=_filters(request, names),
        address=request.get_full_path(),
        heading=heading,
    )
    tag = etag(heading, selection.path, request.build_absolute_uri(), updates := updates_of(selection))
    return public_answer(request, tag, lambda: _feed(request, selection=selection._replace(updates=updates)))


def _filters(request: HttpRequest, names: Sequence[str]) -> BoardState:
    """Return the filters of a view of the leaderboard, without its order and what it shows."""
    state = BoardState.from_query(request.GET, ignoring=names)
    if state.mine:
        raise UserError("feeds contain public scores only", remedy="choose models by name instead of mine=1")
    return replace(state.content, sort="rank", values="ceiled", over="all", coverage=COVERAGE, unscored=False, at=None)


def _row(rows: Any, request: HttpRequest, domain: Domain, name: str) -> Any:
    """Return the row that a parameter names; None without the parameter."""
    identifier = request.GET.get(name)
    if identifier is None:
        return None
    row = rows.filter(domain=domain.name, identifier=identifier).first()
    if row is None:
        raise Http404(f"there is no {name} {identifier[:80]!r}")
    return row
