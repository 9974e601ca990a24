"""The path from which published plugins import banks of Gabor filters."""

from brainscore_vision.stimuli.gabor_bank import GaborBank, GaborFilters

__all__ = ["GaborBank", "GaborFilters"]
