"""Pages that say something rather than compute it."""

from __future__ import annotations

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.http import answer, conditional
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.pages.documents import document, document_names, picture, text_of
from brainscore_web.pages.front import front_of

__all__ = ["file", "home", "text", "tutorial", "tutorials"]


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, who leads, and what to do next."""
    snapshot = snapshot_for(request.user)

    def make() -> HttpResponse:
        return render(request, "pages/home.html", {"front": front_of(board_for(snapshot, BoardState()))})

    return answer(request, conditional(snapshot, "home", only_snapshot=True), make)


@require_safe
def text(request: HttpRequest, name: str) -> HttpResponse:
    """One of the site's own texts."""
    return render(request, "pages/text.html", {"document": text_of(name)})


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
