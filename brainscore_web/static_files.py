"""Static files: which are collected, and how they are compressed and named."""

from datetime import datetime
from typing import ClassVar

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesApp(StaticFilesConfig):
    """Collects only HTMX 2 itself of django-htmx; its extensions have imports that need a bundler."""

    ignore_patterns: ClassVar[list[str]] = [
        *StaticFilesConfig.ignore_patterns,
        "hx-*.js",
        "htmx-2-compat-*",
        "htmx-4*",
        "htmax*",
    ]


class CompressedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Static files with hashed names, also in imports between JavaScript modules."""

    support_js_module_import_aggregation = True

    def get_modified_time(self, name: str) -> datetime:
        """Not available, so that files are always copied: files of earlier versions may have later times."""
        raise NotImplementedError("modification times do not show which files have changed")
