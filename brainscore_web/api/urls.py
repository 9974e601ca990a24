"""Addresses of the programming interface."""

from django.urls import URLPattern

app_name = "api"
urlpatterns: list[URLPattern] = []
