"""Home, tutorials and what the site says about itself; the frame of all pages."""

from __future__ import annotations

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """The app's name and label, and what people may export of it."""

    name = "brainscore_web.pages"
    label = "pages"

    def ready(self) -> None:
        """Let administrators export what they wrote."""
        from brainscore_web.accounts.personal_data import SECTIONS, exported_rows
        from brainscore_web.pages.models import News, Page

        SECTIONS["pages"] = (Page, lambda user: exported_rows(Page.objects.filter(by=user)))
        SECTIONS["news"] = (News, lambda user: exported_rows(News.objects.filter(by=user)))
