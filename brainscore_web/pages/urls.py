"""Addresses of the pages."""

from django.urls import path

from brainscore_web.pages import views

app_name = "pages"
urlpatterns = [path("", views.home, name="home")]
