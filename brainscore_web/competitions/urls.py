"""Addresses of competitions."""

from django.urls import path

from brainscore_web.competitions import views

app_name = "competitions"
urlpatterns = [path("", views.overview, name="overview")]
