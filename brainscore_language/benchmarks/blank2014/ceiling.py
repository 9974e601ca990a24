"""Published import path of extrapolated ceilings."""

from brainscore_language.benchmark_helpers.extrapolation import (
    ExtrapolationCeiling,
    HoldoutSubjectCeiling,
    NoOverlapException,
    v,
)

__all__ = ["ExtrapolationCeiling", "HoldoutSubjectCeiling", "NoOverlapException", "v"]
