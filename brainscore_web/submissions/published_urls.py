"""URLs of the code of published plugins; versions are named by the hash that receipts have."""

from django.urls import path, re_path

from brainscore_web.submissions import published_views as views

_VERSION = r"^(?P<kind>models|benchmarks|data|metrics)/(?P<name>[^/]{1,200})/(?P<sha256>[0-9a-f]{64})"

app_name = "published"
urlpatterns = [
    path("<str:kind>/<str:name>/", views.newest, name="newest"),
    re_path(rf"{_VERSION}/$", views.show, name="show"),
    re_path(rf"{_VERSION}\.zip$", views.archive, name="archive"),
]
