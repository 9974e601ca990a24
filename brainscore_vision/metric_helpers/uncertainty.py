"""Published import path of names of ``brainscore_core.metric_helpers.uncertainty``."""

from brainscore_core.metric_helpers.uncertainty import (
    attach_each,
    attach_influence,
    attach_interval,
    attach_neuroid_interval,
    clipped,
    note_undefined,
    over_splits,
)

__all__ = [
    "attach_each",
    "attach_influence",
    "attach_interval",
    "attach_neuroid_interval",
    "clipped",
    "note_undefined",
    "over_splits",
]
