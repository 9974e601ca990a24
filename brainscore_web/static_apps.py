"""The app that gathers files for browsers, without those that nobody asks for."""

from typing import ClassVar

from django.contrib.staticfiles.apps import StaticFilesConfig

__all__ = ["GatheredFiles"]


class GatheredFiles(StaticFilesConfig):
    """Of django-htmx only HTMX 2 itself is used; its extensions import what their own bundler would find."""

    ignore_patterns: ClassVar[list[str]] = [
        *StaticFilesConfig.ignore_patterns,
        "hx-*.js",
        "htmx-2-compat-*",
        "htmx-4*",
        "htmax*",
    ]
