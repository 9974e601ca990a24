"""Competitions, past and present."""

from django.apps import AppConfig


class CompetitionsConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.competitions"
    label = "competitions"
