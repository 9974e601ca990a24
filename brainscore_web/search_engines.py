"""What programs of strangers ask for: robots.txt, the sitemap, security.txt, and the icon."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sitemaps import Sitemap
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from brainscore_core.domain_names import DOMAINS
from brainscore_web.competitions.models import Competition
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.pages.documents import document_names
from brainscore_web.pages.models import PAGES_WITH_OWN_ADDRESS, News, Page, address_of

_NOT_CRAWLED = (
    "/*?",  # filters, sorting and pages of lists: endless combinations
    "/accounts/",
    "/admin/",
    "/api/",
    "/following/",
    "/review/",
    "/scoring/",
    "/snapshots/*/snapshot.",
    "/snapshots/*/deposit.zip",
    "/submissions/",
    "/uploads/",
    "/competitions/*/standings.",
    "/competitions/*/frozen/",
)
_NOT_CRAWLED_OF_DOMAIN = (
    "code/",  # one for each version, linked from cards and receipts
    "compare/compare.",  # files of a comparison
    "leaderboard/*.",  # data and exports
    "leaderboard/score/",  # one for each score and view
    "receipt/",  # one for each score, linked from the cards
    "sample/",
)
_CRAWLED = ("/api/v1/docs", "/sitemap")  # longer than the rules above, which is why they count
_VALID_DAYS = 180


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Rules for crawlers: pages, but neither their filters nor files."""
    refused = [*_NOT_CRAWLED, *(f"/{domain}/{path}" for domain in DOMAINS for path in _NOT_CRAWLED_OF_DOMAIN)]
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in refused), *(f"Allow: {path}" for path in _CRAWLED)]
    return _text([*lines, "", f"Sitemap: {settings.ADDRESS}{reverse('sitemap')}"])


@require_safe
def security(request: HttpRequest) -> HttpResponse:
    """Whom to tell about a vulnerability (RFC 9116); 404 unless the site has a contact."""
    if not settings.SECURITY_CONTACT:
        raise Http404("this site has no contact")
    expires = timezone.now().replace(microsecond=0) + timedelta(days=_VALID_DAYS)
    return _text(
        [
            f"Contact: {settings.SECURITY_CONTACT}",
            f"Expires: {expires.isoformat()}",
            "Preferred-Languages: en",
            f"Canonical: {settings.ADDRESS}{request.path}",
        ]
    )


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Lead programs that do not read the icon's address in a page to the icon."""
    return redirect(static("site/favicon.ico"))


def _text(lines: Iterable[str]) -> HttpResponse:
    response = HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = "public, max-age=3600"
    return response


class _Pages(Sitemap):
    """Pages that every site has, the documentation, and texts of administrators."""

    def items(self) -> list[str]:
        of_domain = ("leaderboard:board", "cards:models", "cards:benchmarks", "compare:page")
        addresses = [reverse(name) for name in ("pages:home", "competitions:overview", "pages:news", "pages:tutorials")]
        addresses += [reverse(name, args=[domain]) for domain in DOMAINS for name in of_domain]
        texts = {*PAGES_WITH_OWN_ADDRESS, *Page.objects.filter(published=True).values_list("slug", flat=True)}
        addresses += sorted(address_of(name) for name in texts)
        addresses += [reverse("pages:tutorial", args=[name]) for name, _ in document_names()]
        return list(dict.fromkeys(addresses))

    def location(self, item: str) -> str:
        return item


class _Cards(Sitemap):
    """Cards of models and benchmarks, by domain and identifier."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def items(self) -> list[tuple[str, str]]:
        rows = VisionModel.objects.visible_to(AnonymousUser()) if self._kind == "model" else Benchmark.objects.all()
        return list(rows.order_by("identifier").values_list("domain", "identifier"))

    def location(self, item: tuple[str, str]) -> str:
        return reverse(f"cards:{self._kind}", args=item)


class _Competitions(Sitemap):
    """Published competitions."""

    def items(self) -> list[Competition]:
        return list(Competition.objects.visible_to(AnonymousUser()).order_by("pk"))


class _News(Sitemap):
    """Published news."""

    def items(self) -> list[News]:
        return list(News.objects.published())

    def lastmod(self, item: News) -> datetime:
        return item.changed


SITEMAPS: dict[str, Sitemap] = {
    "pages": _Pages(),
    "models": _Cards("model"),
    "benchmarks": _Cards("benchmark"),
    "competitions": _Competitions(),
    "news": _News(),
}
"""Sections of the sitemap, of at most 50,000 addresses a page: only what visitors without an account see."""
