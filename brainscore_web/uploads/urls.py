"""URLs of uploads."""

from django.urls import path, register_converter

from brainscore_web.uploads import views


class KindConverter:
    """URL converter of kinds of files."""

    regex = "csv|zip|nc"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(KindConverter, "kind_of_upload")

app_name = "uploads"
urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.new, name="new"),
    path("files/<str:bucket>/<path:key>", views.file, name="file"),
    path("<uuid:key>/", views.show, name="show"),
    path("<uuid:key>/state/", views.state, name="state"),
    path("<uuid:key>/__init__.py", views.code, name="code"),
    path("<uuid:key>/scaffold.zip", views.scaffold, name="scaffold"),
    path("<uuid:key>/check/", views.check, name="check"),
    path("<uuid:key>/withdraw/", views.take_back, name="withdraw"),
    path("<uuid:key>/<kind_of_upload:kind>/", views.receive, name="receive"),
    path("<uuid:key>/<kind_of_upload:kind>/grant/", views.grant, name="grant"),
    path("<uuid:key>/<kind_of_upload:kind>/arrived/", views.arrived, name="arrived"),
]
