"""Home page, tutorials, texts about the site, news, and the base template of all pages."""

from __future__ import annotations

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """The app's name and label, and its part of the data export."""

    name = "brainscore_web.pages"
    label = "pages"

    def ready(self) -> None:
        """Register the checks, and add the texts that a user wrote to the data export."""
        from brainscore_web.accounts.personal_data import SECTIONS, exported_rows
        from brainscore_web.pages import checks  # noqa: F401 # registers the checks
        from brainscore_web.pages.models import News, Page

        SECTIONS["pages"] = (Page, lambda user: exported_rows(Page.objects.filter(by=user)))
        SECTIONS["news"] = (News, lambda user: exported_rows(News.objects.filter(by=user)))
