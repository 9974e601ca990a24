"""Addresses of the pages."""

from django.urls import path

from brainscore_web.pages import views

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("about/", views.text, {"name": "about"}, name="about"),
    path("citation/", views.text, {"name": "citation"}, name="citation"),
    path("tutorials/", views.tutorials, name="tutorials"),
    path("tutorials/files/<path:name>", views.file, name="file"),
    path("tutorials/<slug:name>/", views.tutorial, name="tutorial"),
]
