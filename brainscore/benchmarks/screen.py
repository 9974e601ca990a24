"""Stimuli as they appear on a model's screen."""

from brainscore_core.domains import domain

__all__ = ["place_on_screen"]

place_on_screen = domain().feature("place_on_screen")
