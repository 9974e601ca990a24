"""Stimuli and measurements: their types, files and checks.

Import from the modules: :mod:`assemblies`, :mod:`stimuli`, :mod:`packaging`, :mod:`fetch`, :mod:`s3`, :mod:`transform`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.fetch import get_assembly, get_stimulus_set

__all__ = ["get_assembly", "get_stimulus_set"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # imported lazily: they have heavy dependencies
        from brainscore_core.supported_data_standards.brainio import fetch

        return getattr(fetch, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
