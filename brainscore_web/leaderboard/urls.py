"""Addresses of this part."""

from django.urls import URLPattern

app_name = "leaderboard"
urlpatterns: list[URLPattern] = []
