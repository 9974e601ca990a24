"""What a score is worth: controls and other assessments of benchmarks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_vision.assessment.controls import Control, Controls, Difference, score_controls

__all__ = ["Control", "Controls", "Difference", "score_controls"]

_MODULES = {
    "controls": ("Control", "Controls", "Difference", "score_controls"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
