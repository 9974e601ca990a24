"""The API, version 1."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.api"
    label = "api"
