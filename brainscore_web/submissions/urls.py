"""URLs of submissions, for submitters, and of the code of published plugins."""

from django.urls import path, re_path

from brainscore_web.submissions import published_views, views

app_name = "submissions"
urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.new, name="new"),
    path("<uuid:key>/", views.show, name="show"),
    path("<uuid:key>/progress/", views.progress, name="progress"),
    path("<uuid:key>/revise/", views.revise, name="revise"),
    path("<uuid:key>/withdraw/", views.withdraw, name="withdraw"),
    path("<uuid:key>/cancel/", views.cancel, name="cancel"),
    path("<uuid:key>/visibility/", views.visibility, name="visibility"),
    path("<uuid:key>/retry/<slug:step>/", views.retry, name="retry"),
    path("<uuid:key>/<int:number>/code/", views.code, name="code"),
    path("<uuid:key>/<int:number>/changes/", views.changes, name="changes"),
    path("<uuid:key>/<int:number>/archive.zip", views.archive, name="archive"),
]

_VERSION = r"^(?P<kind>models|benchmarks|data|metrics)/(?P<name>[^/]{1,200})/(?P<sha256>[0-9a-f]{64})"

published = [
    path("<str:kind>/<str:name>/", published_views.newest, name="newest"),
    re_path(rf"{_VERSION}/$", published_views.show, name="show"),
    re_path(rf"{_VERSION}\.zip$", published_views.archive, name="archive"),
]
"""URLs of published code, in the namespace `published`; versions are named by the hash that receipts have."""
