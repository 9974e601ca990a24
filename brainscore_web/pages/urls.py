"""URLs of the pages."""

from django.urls import path

from brainscore_web.pages import views
from brainscore_web.pages.views import feed

app_name = "pages"
urlpatterns = [
    path("", views.home, name="home"),
    path("about/", views.text, {"name": "about"}, name="about"),
    path("citation/", views.text, {"name": "citation"}, name="citation"),
    path("community/", views.text, {"name": "community"}, name="community"),
    path("faq/", views.text, {"name": "faq"}, name="faq"),
    path("privacy/", views.text, {"name": "privacy"}, name="privacy"),
    path("sponsors/", views.text, {"name": "sponsors"}, name="sponsors"),
    path("terms/", views.text, {"name": "terms"}, name="terms"),
    path("pages/<slug:name>/", views.text, name="page"),
    path("news/", views.news, name="news"),
    path("news/feed/", feed, name="feed"),
    path("news/<slug:slug>/", views.news_item, name="news-one"),
    path("tutorials/", views.tutorials, name="tutorials"),
    path("tutorials/files/<path:name>", views.file, name="file"),
    path("tutorials/<path:name>/", views.tutorial, name="tutorial"),
]
