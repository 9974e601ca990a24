"""People, and the tokens that their programs use."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.accounts"
    label = "accounts"
    verbose_name = "People"
