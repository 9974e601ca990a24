"""Views of the search: a page that works without scripts, and suggestions while a visitor types."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from brainscore_web.accounts.callers import Usage, client_of
from brainscore_web.search.index import SOURCES
from brainscore_web.search.results import LONGEST, search

_PER_GROUP = 6
_PER_PAGE = 30
_SUGGESTIONS_PER_GROUP = 4
_MOST_PAGES = 400
_requests = Usage("suggestions", step=10)


@require_safe
@cache_control(private=True, no_cache=True)  # results depend on what a visitor may see
@vary_on_cookie
def page(request: HttpRequest) -> HttpResponse:
    """Results of a search: the best ones of each kind, or all of one kind, page by page."""
    text, kind = _text(request), request.GET.get("kind", "")
    kind = kind if kind in SOURCES else ""
    number = request.GET.get("page", "1")
    number_of_page = min(int(number), _MOST_PAGES) if re.fullmatch("[1-9][0-9]{0,8}", number) else 1
    most = _PER_PAGE if kind else _PER_GROUP
    results = search(text, request.user, most=most, kind=kind, start=(number_of_page - 1) * most if kind else 0)
    pages = -(-results.groups[0].total // most) if kind and results.groups else 1
    context = {
        "text": text,
        "kind": kind,
        "kind_title": SOURCES[kind].title if kind else "",
        "results": results,
        "page": number_of_page,
        "pages": pages,
        "longest": LONGEST,
    }
    return render(request, "search/results.html", context)


@require_safe
@cache_control(private=True, no_cache=True)  # results depend on what a visitor may see
@vary_on_cookie
def suggestions(request: HttpRequest) -> HttpResponse:
    """The best results as JSON, for the search box of all pages."""
    known = request.user.is_authenticated
    if _requests.add(client_of(request.user, request.META)) > settings.API_RATES["known" if known else "anonymous"]:
        wait = str(_requests.seconds_left())
        content = {"message": "too many requests", "remedy": f"try again in {wait} s, or open the page of results"}
        return JsonResponse(content, status=429, headers={"Retry-After": wait})
    text = _text(request)
    results = search(text, request.user, most=_SUGGESTIONS_PER_GROUP)
    groups = [
        {
            "title": group.title,
            "results": [
                {"title": of.entry.title, "identifier": of.entry.identifier, "address": of.entry.address}
                for of in group.results
            ],
        }
        for group in results.groups
    ]
    everything = f"{reverse('search:page')}?{urlencode({'q': text})}"
    total = sum(group.total for group in results.groups)
    return JsonResponse({"groups": groups, "similar": results.similar, "total": total, "all": everything})


def _text(request: HttpRequest) -> str:
    return request.GET.get("q", "")[:LONGEST].strip()
