"""Home, tutorials and what the site says about itself; the frame of all pages."""

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.pages"
    label = "pages"
