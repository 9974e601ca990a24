"""Two benchmarks across models, two models across benchmarks, all benchmarks with each other."""

from django.apps import AppConfig


class CompareConfig(AppConfig):
    """The app's name and label."""

    name = "brainscore_web.compare"
    label = "compare"
