"""Static files: which are collected, and how they are compressed and named."""

from datetime import datetime
from typing import ClassVar

from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.storage import CompressedManifestStaticFilesStorage

__all__ = ["CompressedStaticFilesStorage", "StaticFilesApp"]


class StaticFilesApp(StaticFilesConfig):
    """Of django-htmx only HTMX 2 itself is used; its extensions import what their own bundler would find."""

    ignore_patterns: ClassVar[list[str]] = [
        *StaticFilesConfig.ignore_patterns,
        "hx-*.js",
        "htmx-2-compat-*",
        "htmx-4*",
        "htmax*",
    ]


class CompressedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """What modules import from each other gets these names, too."""

    support_js_module_import_aggregation = True

    def get_modified_time(self, name: str) -> datetime:
        """Not known: files are copied always, as those of an earlier version of the package may be the newer ones."""
        raise NotImplementedError("what was copied is not told from what changed by its time")
