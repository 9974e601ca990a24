"""Brain-Score measures how well a model predicts brains and behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import brainscore_core  # noqa: F401 - so that earlier paths of modules work

if TYPE_CHECKING:
    from brainscore.runs import run
    from brainscore_vision import score
    from brainscore_vision.assessment.multiverse import multiverse
    from brainscore_vision.data_sources import get_assembly, get_stimulus_set
    from brainscore_vision.model_sources.unregistered import wrap_model

__all__ = ["__version__", "get_assembly", "get_stimulus_set", "multiverse", "run", "score", "wrap_model"]


def __getattr__(name: str) -> Any:
    if name == "score":
        from brainscore_vision import score

        return score
    if name == "run":
        from brainscore.runs import run

        return run
    if name == "multiverse":
        from brainscore_vision.assessment.multiverse import multiverse

        return multiverse
    if name == "wrap_model":
        from brainscore_vision.model_sources.unregistered import wrap_model

        return wrap_model
    if name in ("get_assembly", "get_stimulus_set"):
        from brainscore_vision import data_sources

        return getattr(data_sources, name)
    if name == "__version__":
        import importlib.metadata

        try:
            return importlib.metadata.version("brainscore")
        except importlib.metadata.PackageNotFoundError:
            return "unknown (not installed)"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
