"""Views of the home page, news, tutorials and texts about the site."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from brainscore_core.domain_names import DOMAINS
from brainscore_core.numerics.means import ASSUMPTION
from brainscore_web.leaderboard.http import answer, conditional
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.pages.documents import (
    chapters,
    document,
    document_names,
    moved_to,
    page_for,
    picture,
    render_text,
    state_of,
)
from brainscore_web.pages.home import front_of, recent_plugins, recent_scores
from brainscore_web.pages.models import News, address_of
from brainscore_web.pages.style import COLOURS, example_figure

_NEWS_AT_HOME = 3
_NEWS_PER_PAGE = 20
_not_shared = cache_control(private=True, no_cache=True)  # some pages are shown to some visitors only
_OPERATORS = "operators/"
"""Folder of the documentation's pages for those who run a site."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Home page: a welcome text, the highest-ranked models, news, recent scores and published plugins."""
    snapshots = [snapshot_for(request.user, name) for name in DOMAINS]
    page = page_for("home", request.user)
    assert page is not None  # included in the package
    welcome, written = page
    news = tuple(News.objects.published()[:_NEWS_AT_HOME])
    scores = recent_scores(request.user, snapshots[0])
    plugins = recent_plugins(snapshots)

    def make() -> HttpResponse:
        fronts = [front_of(snapshot) for snapshot in snapshots]
        fronts = [front for front in fronts if front["models"]] or fronts[:1]
        context = {
            "fronts": fronts,
            "totals": {name: sum(front[name] for front in fronts) for name in ("models", "benchmarks", "scores")},
            "welcome": welcome,
            "news": news,
            "scores": scores,
            "plugins": plugins,
            "assumption": ASSUMPTION,
            "domains": list(DOMAINS),
        }
        return render(request, "pages/home.html", context)

    first, *others = snapshots
    parts = (state_of(written, *news), *(snapshot.digest for snapshot in others))
    recent = ([score.row.pk for score in scores], [(plugin.title, plugin.published) for plugin in plugins])
    return answer(request, conditional(first, "home", *parts, recent), make)


@require_safe
@_not_shared
@vary_on_cookie
def text(request: HttpRequest, name: str) -> HttpResponse:
    """A text about the site: as edited by administrators, otherwise as included in the package."""
    if request.path != address_of(name):
        return redirect(address_of(name))
    page = page_for(name, request.user)
    if page is None:
        raise Http404(f"there is no page {name!r}")
    document, written = page
    context = {"document": document, "written": written, "hidden": written is not None and not written.published}
    return render(request, "pages/text.html", context)


@require_safe
@_not_shared
@vary_on_cookie
def news(request: HttpRequest) -> HttpResponse:
    """All news, newest first."""
    pages = Paginator(News.objects.visible_to(request.user), _NEWS_PER_PAGE)
    shown = pages.get_page(request.GET.get("page"))
    return render(request, "pages/news.html", {"shown": shown, "now": timezone.now()})


@require_safe
@_not_shared
@vary_on_cookie
def news_item(request: HttpRequest, slug: str) -> HttpResponse:
    """A news item; only administrators see drafts."""
    item = News.objects.visible_to(request.user).filter(slug=slug).first()
    if item is None:
        raise Http404(f"there is no news {slug!r}")
    context = {"item": item, "document": render_text(item), "now": timezone.now()}
    return render(request, "pages/news_item.html", context)


@require_safe
def style(request: HttpRequest) -> HttpResponse:
    """Every component of the pages, for those who write pages."""
    return render(request, "pages/style.html", {"figure": example_figure(), "colours": COLOURS})


@require_safe
def tutorials(request: HttpRequest) -> HttpResponse:
    """Three paths through the documentation, the manual of operators, and all other pages by chapter."""
    manual = [(name, title) for name, title in document_names() if name.startswith(_OPERATORS)]
    others = [chapter for chapter in chapters() if not chapter.pages[0][0].startswith(_OPERATORS)]
    return render(request, "pages/tutorials.html", {"manual": manual, "chapters": others})


@require_safe
def tutorial(request: HttpRequest, name: str) -> HttpResponse:
    """A page of the documentation, also under its earlier address."""
    page = document(name)
    if page is None:
        if (present := moved_to(name)) is not None:
            return redirect("pages:tutorial", present, permanent=True)
        raise Http404(f"there is no tutorial {name!r}")
    context = {"document": page, "chapters": chapters(), "manual": name.startswith(_OPERATORS)}
    return render(request, "pages/tutorial.html", context)


@require_safe
def file(request: HttpRequest, name: str) -> FileResponse:
    """A picture or schema that a page of the documentation uses."""
    source = picture(name)
    if source is None:
        raise Http404("the file does not exist")
    path, kind = source
    response = FileResponse(path.open("rb"), content_type=kind)
    response["Cache-Control"] = "public, max-age=3600"
    return response


@require_safe
def earlier_card(request: HttpRequest, kind: str, domain: str, identifier: str) -> HttpResponse:
    """Lead to a card; the earlier site's numbers, which are not known here, lead to the list."""
    rows = VisionModel.objects.visible_to(AnonymousUser()) if kind == "model" else Benchmark.objects.all()
    if identifier.isdecimal() and not rows.filter(identifier=identifier).exists():
        return redirect(f"cards:{kind}s", domain, permanent=True)
    return redirect(f"cards:{kind}", domain, identifier, permanent=True)
