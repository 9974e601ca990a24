"""Modules that moved: their earlier paths work for one more release, with a ``DeprecationWarning``."""

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "brainscore.web": "brainscore.client",
    "brainscore_web.charts": "brainscore_core.figures",
    "brainscore_core.scoring.aggregates": "brainscore_core.results.aggregates",
    "brainscore_core.scoring.comparison": "brainscore_core.statistics.comparison",
    "brainscore_core.scoring.engine": "brainscore_core.runner",
    "brainscore_core.scoring.plan": "brainscore_core.runner.plan",
    "brainscore_core.scoring.subjects": "brainscore_core.isolation",
    "brainscore_core.scoring.subjects.cage": "brainscore_core.isolation.sandbox",
    "brainscore_vision._isolated": "brainscore_vision.model_sources.isolation",
    "brainscore_vision._scorer": "brainscore_vision.scoring.pairs",
    "brainscore_vision.model_helpers.activations.callables": "brainscore_vision.model_helpers.static_features",
    **{
        f"brainscore_vision.model_helpers.activations.{library}": (
            "brainscore_vision.model_helpers.activations.pretrained_models"
        )
        for library in ("huggingface", "timm_models", "torchvision_models")
    },
    "brainscore_vision.submitting": "brainscore_vision.submission",
}
"""Earlier and present path of each module that the documentation of version 0.1 or a queued task names."""


class _Alias:
    """Loads the module from its present path.

    Without the base class of loaders, whose import takes longer than the rest of this package.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._module = importlib.import_module(self._path)
        self._spec = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it by the alias's


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        present = MOVED.get(fullname)
        if present is None:
            return None
        warnings.warn(
            f"{fullname} moved to {present}; the earlier path will be removed", DeprecationWarning, stacklevel=2
        )
        return ModuleSpec(fullname, _Alias(present))  # type: ignore[arg-type] # it needs no base class


def install() -> None:
    """Make the earlier paths importable; further calls change nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # first, as an update may have left an empty folder


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module in which names changed: the earlier ones work, with a warning.

    Examples
    --------
    >>> lookup = renamed("math", {"square_root": "sqrt"})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     lookup("square_root")(4)
    2.0
    """

    def lookup(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(
            f"{module}.{name} is called {names[name]}; the earlier name will be removed",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(module), names[name])

    return lookup
