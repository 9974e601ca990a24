"""Pages that say something rather than compute it."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.http import answer, conditional
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.pages.documents import document, document_names, page_for, picture, render_text, state_of
from brainscore_web.pages.front_page import front_of
from brainscore_web.pages.models import News, address_of

__all__ = ["file", "home", "news", "news_item", "text", "tutorial", "tutorials"]

_NEWS_AT_HOME = 3
_NEWS_A_PAGE = 20


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, who leads, and what to do next."""
    snapshot = snapshot_for(request.user)
    found = page_for("home", request.user)
    assert found is not None  # it is shipped
    welcome, written = found
    news = tuple(News.objects.published()[:_NEWS_AT_HOME])

    def make() -> HttpResponse:
        front = front_of(board_for(snapshot, BoardState()))
        return render(request, "pages/home.html", {"front": front, "welcome": welcome, "news": news})

    state = state_of(written, *news)
    return answer(request, conditional(snapshot, "home", state, only_snapshot=True), make)


@require_safe
def text(request: HttpRequest, name: str) -> HttpResponse:
    """One of the site's own texts: as written here, else as shipped."""
    if request.path != address_of(name):
        return redirect(address_of(name))
    found = page_for(name, request.user)
    if found is None:
        raise Http404(f"there is no page {name!r}")
    document, written = found
    context = {"document": document, "written": written, "hidden": written is not None and not written.published}
    return _own(request, render(request, "pages/text.html", context))


@require_safe
def news(request: HttpRequest) -> HttpResponse:
    """All news, newest first."""
    pages = Paginator(News.objects.visible_to(request.user), _NEWS_A_PAGE)
    shown = pages.get_page(request.GET.get("page"))
    return _own(request, render(request, "pages/news.html", {"shown": shown, "now": timezone.now()}))


@require_safe
def news_item(request: HttpRequest, slug: str) -> HttpResponse:
    """One of the news; drafts are there for administrators alone."""
    found = News.objects.visible_to(request.user).filter(slug=slug).first()
    if found is None:
        raise Http404(f"there is no news {slug!r}")
    context = {"one": found, "document": render_text(found), "now": timezone.now()}
    return _own(request, render(request, "pages/one_news.html", context))


def _own(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Keep caches from sharing a page that only some visitors may see."""
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(response, ["Cookie"])
    return response


@require_safe
def tutorials(request: HttpRequest) -> HttpResponse:
    """The start of the documentation, and all its pages."""
    return render(request, "pages/tutorials.html", {"document": document("index"), "names": document_names()})


@require_safe
def tutorial(request: HttpRequest, name: str) -> HttpResponse:
    """A page of the documentation."""
    found = document(name)
    if found is None:
        raise Http404(f"there is no tutorial {name!r}")
    return render(request, "pages/text.html", {"document": found, "in_tutorials": True})


@require_safe
def file(request: HttpRequest, name: str) -> FileResponse:
    """A picture or schema that a page of the documentation uses."""
    found = picture(name)
    if found is None:
        raise Http404("there is no such file")
    path, kind = found
    answer = FileResponse(path.open("rb"), content_type=kind)
    answer["Cache-Control"] = "public, max-age=3600"
    return answer
