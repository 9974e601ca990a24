"""URLs of the site; each app has its own."""

from django.contrib import admin
from django.contrib.sitemaps import views as sitemaps
from django.urls import include, path
from django.views.generic import RedirectView

from brainscore_web import search_engines
from brainscore_web.competitions.views import of_year
from brainscore_web.search_engines import SITEMAPS
from brainscore_web.submissions.urls import published

urlpatterns = [
    path("", include("brainscore_web.pages.urls")),
    path("", include("brainscore_web.operations.urls")),
    path("vision/leaderboard/", include("brainscore_web.leaderboard.urls")),
    path("vision/", include("brainscore_web.leaderboard.cards.urls")),
    path("vision/code/", include((published, "published"))),
    path("vision/compare/", include("brainscore_web.compare.urls")),
    path("competitions/", include("brainscore_web.competitions.urls")),
    path("competition<int:year>/", of_year, name="competition-of-year"),
    path("api/v1/", include("brainscore_web.api.urls")),
    path("uploads/", include("brainscore_web.uploads.urls")),
    path("submissions/", include("brainscore_web.submissions.urls")),
    path("review/", include("brainscore_web.submissions.review.urls")),
    path("scoring/", include("brainscore_web.scoring.urls")),
    path("accounts/", include("brainscore_web.profile.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account_change_password")),
    path("admin/", admin.site.urls),
    path("robots.txt", search_engines.robots, name="robots"),
    path("sitemap.xml", sitemaps.index, {"sitemaps": SITEMAPS, "sitemap_url_name": "sitemap-section"}, name="sitemap"),
    path("sitemap-<slug:section>.xml", sitemaps.sitemap, {"sitemaps": SITEMAPS}, name="sitemap-section"),
    path(".well-known/security.txt", search_engines.security, name="security"),
    path("favicon.ico", search_engines.icon, name="icon"),
    path("", include("brainscore_web.pages.earlier_addresses")),
]
