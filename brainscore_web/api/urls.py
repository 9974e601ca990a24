"""URLs of the API."""

from django.urls import URLPattern, path, re_path

from brainscore_web.api import catalogue, documentation, leaderboard, questions, scores, submissions, work
from brainscore_web.api.documentation import SiteAPI
from brainscore_web.api.responses import with_response_headers

app_name = "api"

api = SiteAPI()
for part in (leaderboard, catalogue, questions, scores, submissions, work):
    api.add_router("", part.router)

urlpatterns: list[URLPattern] = [
    path("", documentation.home),
    path("docs", documentation.page, {"api": api}, name="docs"),
    path("docs/", documentation.home, name="docs-with-slash"),
    *with_response_headers(api.urls[0]),
    re_path("", documentation.not_found),
]
